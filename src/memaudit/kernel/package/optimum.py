"""The best store a solver found, and its proof."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from memaudit.kernel.errors import InvalidCertificate
from memaudit.kernel.exact import plain
from memaudit.kernel.package.provenance import is_estimate
from memaudit.kernel.words.text import counted

Status = Literal["certified", "bound"]
CERTIFICATE_FORMAT = "memaudit-certificate"
CERTIFICATE_VERSION = 1
COARSE = 1024
MOST_DIGITS = 4300
"""The limit of Python itself: sums of many fractions are long."""
LARGEST_NUMBER = 10**300

_NUMBER = re.compile(r"-?[0-9]+(/0*[1-9][0-9]*|\.[0-9]+)?")

Block = tuple[tuple[int, ...], tuple[int, ...]]
Layout = tuple[Block, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """A proof that no feasible store is worth more than `value`; `memaudit.verify` checks it.

    `value * scale` is whole. `proof` is a flat list of integers, a program for the checker, and
    `layouts` are the ways of splitting the units into blocks that it refers to (kernel/checker.py).
    """

    package: str
    budget: Fraction
    group_cap: int
    value: Fraction
    scale: int
    store: tuple[str, ...]
    proof: tuple[int, ...]
    layouts: tuple[Layout, ...] = ()
    fineness: int = COARSE
    """Prices and the price of the budget are whole numbers of 1/fineness."""

    def __repr__(self) -> str:
        return (
            f"Certificate(package {self.package[:8]}, budget {plain(self.budget)}, value "
            f"{plain(self.value)}, {len(self.proof):,} words of proof)"
        )

    def to_json(self) -> dict[str, Any]:
        """The versioned JSON form; programs before `fineness` can read certificates without it."""
        fine = {} if self.fineness == COARSE else {"fineness": self.fineness}
        return {
            "format": CERTIFICATE_FORMAT,
            "version": CERTIFICATE_VERSION,
            "package": self.package,
            "budget": str(self.budget),
            "group_cap": self.group_cap,
            "value": str(self.value),
            "scale": self.scale,
            **fine,
            "store": list(self.store),
            "layouts": [[[list(u), list(g)] for u, g in layout] for layout in self.layouts],
            "proof": list(self.proof),
        }

    @classmethod
    def from_json(cls, data: Any) -> "Certificate":
        """Read the JSON form; anything else is refused with a reason."""
        if not isinstance(data, dict) or data.get("format") != CERTIFICATE_FORMAT:
            raise InvalidCertificate(f"not a certificate: format is not {CERTIFICATE_FORMAT!r}")
        if data.get("version") != CERTIFICATE_VERSION:
            version = data.get("version")
            small = isinstance(version, int) and abs(version) < 10**9
            shown = version if small else _kind(version)
            raise InvalidCertificate(f"certificate version {shown} is not {CERTIFICATE_VERSION}")
        try:
            return cls(
                package=_text(data["package"]),
                budget=_number(data["budget"]),
                group_cap=_whole(data["group_cap"]),
                value=_number(data["value"]),
                scale=_whole(data["scale"]),
                fineness=_whole(data.get("fineness", COARSE)),
                store=tuple(_text(id) for id in _list(data["store"])),
                proof=_wholes(data["proof"]),
                layouts=tuple(
                    tuple(_block(block) for block in _list(layout))
                    for layout in _list(data["layouts"])
                ),
            )
        except KeyError as error:
            raise InvalidCertificate(f"malformed certificate: field {error} is missing") from None
        except ValueError as error:
            raise InvalidCertificate(f"malformed certificate: {error}") from None


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected text, found {_kind(value)}")
    return value


def _number(value: Any) -> Fraction:
    text = _text(value)
    # Before anything converts it: that takes time quadratic in the number of digits.
    if any(len(part) > MOST_DIGITS for part in text.split("/")):
        raise ValueError(f"number has more than {MOST_DIGITS} digits")
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not an exact number such as '3' or '7/2'")
    number = Fraction(text)
    if abs(number) >= LARGEST_NUMBER:
        raise ValueError("number is out of range")
    return number


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"expected a whole number, found {_kind(value)}")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"expected a list, found {_kind(value)}")
    return value


def _wholes(values: Any) -> tuple[int, ...]:
    return tuple(_whole(value) for value in _list(values))


def _block(value: Any) -> Block:
    if len(_list(value)) != 2:
        raise ValueError("a block is a list of units and a list of groups")
    return _wholes(value[0]), _wholes(value[1])


@dataclass(frozen=True, slots=True, repr=False)
class Optimum:
    """The best store found for one package and budget, with a valid upper bound.

    `certified` means an independent check of the certificate passed: `value` is OPT, or OPT lies
    between `value` and `value_high` where some h is irrational. Otherwise OPT lies between
    `value` and `bound`.
    """

    package: str
    digest: str
    budget: Fraction
    group_cap: int
    value: Fraction
    store: tuple[str, ...]
    cost: Fraction
    bound: Fraction
    status: Status
    solver: str
    certificate: Certificate | None = None
    value_high: Fraction | None = None
    note: str = ""
    assumed: Fraction = Fraction(0)
    """The share of the value that rests on assumed cells."""
    statistics: Mapping[str, int | float | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Both are claims about OPT, from below and from above; if they cross, one of them is wrong.
        if self.bound < self.value:
            raise ValueError(f"bound {self.bound} is below the value {self.value}")
        if self.status == "certified" and self.certificate is None:
            raise ValueError("a certified optimum carries its certificate")

    def __repr__(self) -> str:
        kept = counted(len(self.store), "candidate")
        value = f"{float(self.value):g}"
        if not self.certified:
            value = f"{value} to {float(self.bound):g}"
        return (
            f"Optimum({self.package!r} at {plain(self.budget)}: {value}, {self.status}, {kept} of "
            f"cost {plain(self.cost)})"
        )

    def __float__(self) -> float:
        return float(self.value)

    @property
    def certified(self) -> bool:
        return self.status == "certified"

    @property
    def gap(self) -> Fraction:
        """How much better a store could still be."""
        return self.bound - self.value

    def to_json(self) -> dict[str, Any]:
        """The form `--json` prints."""
        return {
            "package": self.package,
            "digest": self.digest,
            "budget": plain(self.budget),
            "group_cap": self.group_cap,
            "value": float(self.value),
            "value_exact": str(self.value),
            "value_high": str(self.value_high) if self.value_high is not None else None,
            "store": list(self.store),
            "cost": plain(self.cost),
            "solver": self.solver,
            "certified": self.certified,
            "status": self.status,
            "bound": float(self.bound),
            "gap": float(self.gap),
            "assumed_share": float(self.assumed),
            "estimate": is_estimate([self.assumed]),
            "note": self.note,
            "statistics": dict(self.statistics),
        }
