"""h: how covering a unit more turns into value. Concave, nondecreasing, h(0) = 0 (paper, eq. 2)."""

from bisect import bisect_left
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import pairwise
from math import isqrt, lcm
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import ConfigDict, Field, model_validator

from memaudit.kernel.exact import Enclosure, Exact, ExactModel

MOST_POINTS = 256
"""Of a piecewise h: more would take long to make whole."""

PRECISION_BITS, SMALL_BITS = 32, 11
"""Irrational values are enclosed between neighbouring multiples of 2**-PRECISION_BITS, and of a
finer grid below a coverage of 2**-SMALL_BITS, so that small values are known as well as large."""


def _bits(z: Fraction) -> int:
    """How fine the grid is at a coverage: the finer grid has all points of the coarser one."""
    below_one = (z.denominator // z.numerator).bit_length() if z else 0
    return PRECISION_BITS + max(0, below_one - SMALL_BITS)


class _Response(ExactModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    is_rational: ClassVar[bool] = True
    """Whether every value at a rational point is rational and computed exactly."""

    @property
    def saturates_at(self) -> Fraction | None:
        """The coverage beyond which nothing is gained, or None."""
        return None

    def at(self, z: Fraction) -> Enclosure:  # noqa: ARG002 - the shapes below use it
        """h(z), exactly or between neighbouring points of the grid at z."""
        raise TypeError(f"{type(self).__name__} declares no h")

    def grain(self, step: Fraction) -> int:
        """A number that makes h whole at every multiple of `step` (after rounding to the grid)."""
        # The grid is finest at the smallest coverage above 0, which is one step.
        return 1 << _bits(step)

    def up_to(self, most: Fraction) -> Self:  # noqa: ARG002 - the shapes below use it
        """The same h, flat from this coverage on: h(min(most, z))."""
        raise TypeError(f"{type(self).__name__} declares no h")


class Capped(_Response):
    """min(cap, z); the default min(1, z) is cap 1."""

    shape: Literal["capped"] = "capped"
    cap: Exact = Fraction(1)

    @model_validator(mode="after")
    def _positive(self) -> Self:
        if self.cap <= 0:
            raise ValueError("cap must be positive")
        return self

    @property
    def saturates_at(self) -> Fraction | None:
        return self.cap

    def at(self, z: Fraction) -> Enclosure:
        value = min(self.cap, z)
        return Enclosure(value, value)

    def grain(self, step: Fraction) -> int:
        return lcm(step.denominator, self.cap.denominator)

    def up_to(self, most: Fraction) -> Self:
        return self.model_copy(update={"cap": min(self.cap, most)})


class Piecewise(_Response):
    """Straight lines through (0, 0) and the given points, flat after the last one."""

    shape: Literal["piecewise"] = "piecewise"
    points: tuple[tuple[Exact, Exact], ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _concave(self) -> Self:
        if len(self.points) > MOST_POINTS:
            raise ValueError(f"at most {MOST_POINTS} points are read")
        corners = ((Fraction(0), Fraction(0)), *self.points)
        if any(right[0] <= left[0] for left, right in pairwise(corners)):
            raise ValueError("points must have increasing coverage, starting above 0")
        # Concave and nondecreasing are what certificates rest on: a unit's gain is then never
        # larger after other candidates than before them, so bounds by single gains hold.
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(corners)]
        if any(slope < 0 for slope in slopes):
            raise ValueError("points must not decrease")
        if any(later > earlier for earlier, later in pairwise(slopes)):
            raise ValueError("points must be concave: slopes must not grow")
        return self

    @property
    def saturates_at(self) -> Fraction | None:
        return self.points[-1][0]

    def at(self, z: Fraction) -> Enclosure:
        place = bisect_left(self.points, z, key=lambda point: point[0])
        if place == len(self.points):
            return Enclosure(self.points[-1][1], self.points[-1][1])
        x0, y0 = self.points[place - 1] if place else (Fraction(0), Fraction(0))
        x1, y1 = self.points[place]
        value = y0 + (y1 - y0) * (z - x0) / (x1 - x0)
        return Enclosure(value, value)

    def grain(self, step: Fraction) -> int:
        common, x0, y0 = 1, Fraction(0), Fraction(0)
        for x1, y1 in self.points:
            slope = (y1 - y0) / (x1 - x0)
            common = lcm(common, (slope * step).denominator, (y0 - slope * x0).denominator)
            x0, y0 = x1, y1
        return lcm(common, y0.denominator)

    def up_to(self, most: Fraction) -> Self:
        if most >= self.points[-1][0]:
            return self
        before = tuple(point for point in self.points if point[0] < most)
        return self.model_copy(update={"points": (*before, (most, self.at(most).low))})


def _between(low: Decimal, high: Decimal, z: Fraction) -> Enclosure:
    grid = 1 << _bits(z)
    lower, upper = Fraction(low) * grid, Fraction(high) * grid
    floor = lower.numerator // lower.denominator
    ceiling = -((-upper.numerator) // upper.denominator)
    return Enclosure(Fraction(max(0, floor), grid), Fraction(ceiling, grid))


def _contexts(z: Fraction) -> tuple[Context, Context]:
    """Rounding down and up, with digits to spare for 1 + z."""
    digits = 50 + (z.denominator // z.numerator).bit_length() // 3
    return Context(prec=digits, rounding=ROUND_FLOOR), Context(prec=digits, rounding=ROUND_CEILING)


def _quotient(z: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(z.numerator), Decimal(z.denominator))


class _Smooth(_Response):
    """An irrational h; flat from `cap` on, where one is given."""

    is_rational: ClassVar[bool] = False
    cap: Exact | None = None

    @model_validator(mode="after")
    def _positive(self) -> Self:
        if self.cap is not None and self.cap <= 0:
            raise ValueError("cap must be positive")
        return self

    @property
    def saturates_at(self) -> Fraction | None:
        return self.cap

    def at(self, z: Fraction) -> Enclosure:
        return self._curve(z if self.cap is None else min(self.cap, z))

    def grain(self, step: Fraction) -> int:
        return super().grain(step if self.cap is None else min(self.cap, step))

    def _curve(self, z: Fraction) -> Enclosure:
        raise NotImplementedError

    def up_to(self, most: Fraction) -> Self:
        return self.model_copy(update={"cap": most if self.cap is None else min(self.cap, most)})


class Sqrt(_Smooth):
    """The square root of the coverage."""

    shape: Literal["sqrt"] = "sqrt"

    def _curve(self, z: Fraction) -> Enclosure:
        grid = 1 << _bits(z)
        floor = isqrt(z.numerator * grid * grid // z.denominator)
        ceiling = floor if Fraction(floor, grid) ** 2 == z else floor + 1
        return Enclosure(Fraction(floor, grid), Fraction(ceiling, grid))


class Log1p(_Smooth):
    """The natural logarithm of 1 + coverage."""

    shape: Literal["log1p"] = "log1p"

    def _curve(self, z: Fraction) -> Enclosure:
        if z == 0:
            return Enclosure(z, z)
        # Context.ln is correctly rounded to nearest, so one step outwards encloses the truth.
        down, up = _contexts(z)
        low = _quotient(z + 1, down).ln(down).next_minus(down)
        high = _quotient(z + 1, up).ln(up).next_plus(up)
        return _between(low, high, z)


class Saturating(_Smooth):
    """1 - exp(-z): every further mention helps, ever less."""

    shape: Literal["saturating"] = "saturating"

    def _curve(self, z: Fraction) -> Enclosure:
        if z == 0:
            return Enclosure(z, z)
        # exp falls as its argument falls: the upper z gives the lower exp, hence the higher h.
        down, up = _contexts(z)
        low_exp = _quotient(z, up).copy_negate().exp(down).next_minus(down)
        high_exp = _quotient(z, down).copy_negate().exp(up).next_plus(up)
        return _between(down.subtract(Decimal(1), high_exp), up.subtract(Decimal(1), low_exp), z)


Response = Annotated[Capped | Piecewise | Sqrt | Log1p | Saturating, Field(discriminator="shape")]
SHAPES: tuple[str, ...] = tuple(
    kind.model_fields["shape"].default for kind in get_args(get_args(Response)[0])
)
CLIPPED = Capped()
