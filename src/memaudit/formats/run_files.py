"""What the files of a run say, as typed models: a manifest or a row of another form is refused.

Nothing here is larger than what was read: seeds stay ranges until rows are held against them.
"""

from math import prod
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.experiments.spec import named_seeds

LARGEST = 1e60
"""Of a number in a row: sums of such numbers stay finite."""
LONGEST_NAME = 2000


def _cost(number: int | float | str) -> int | float | str:
    if exact(number) < 0:
        raise ValueError("is negative")
    return number


def _several(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("names one of them twice")
    return names


def _seeds(text: str) -> str:
    try:
        if not named_seeds(f"{text},"):
            raise ValueError("names no seed")
    except MemAuditError as error:
        raise ValueError(str(error)) from None
    return text


Name = Annotated[str, Field(max_length=LONGEST_NAME)]
Names = Annotated[list[Name], Field(min_length=1), AfterValidator(_several)]
Cost = Annotated[int | float | str, AfterValidator(_cost)]
CostText = Annotated[str, AfterValidator(_cost)]
Number = Annotated[float, Field(ge=0, le=LARGEST)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Stated(BaseModel):
    # Later versions may write more: what is not known is left alone.
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, allow_inf_nan=False)


class StatedSpec(_Stated):
    """What was run; seeds as text such as 0-499,900."""

    distributions: Names
    seeds: Annotated[str, AfterValidator(_seeds)]
    budgets: Annotated[list[CostText], Field(min_length=1), AfterValidator(_several)]
    writers: Names
    seconds: Annotated[float, Field(gt=0)] | None = None

    @property
    def rows(self) -> int:
        """How many rows a finished run has; no seed is written out for it."""
        seeds = sum(map(len, named_seeds(f"{self.seeds},")))
        return seeds * prod(map(len, (self.distributions, self.budgets, self.writers)))


class StatedRun(_Stated):
    """The manifest of a run; its parts fit together."""

    spec: StatedSpec
    spec_digest: str
    budgets: dict[str, CostText]
    rows: int
    versions: dict[str, str]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if set(self.budgets) != set(self.spec.budgets):
            raise ValueError("its budgets are not those of its spec")
        if "memaudit" not in self.versions:
            raise ValueError("its versions do not name that of memaudit")
        if self.rows != self.spec.rows:
            raise ValueError(f"it says {self.rows} rows, its spec gives {self.spec.rows}")
        return self


class StatedRow(_Stated):
    """A row of a run, as far as anything reads it."""

    distribution: str
    seed: int
    digest: str
    budget: Cost
    writer: str
    peeks: bool
    value: Number | None
    optimum: Number
    ratio: Share | None
    undefined: str = ""
    cost: Cost | None
    store: list[str]
    kinds: dict[str, Number]
    unit_values: dict[str, Number]
    invalidation: Number | None
    current: Number | None
    stale: Number | None
    certificate: str | None
    failed: str = ""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.failed and (self.value is None or self.cost is None):
            raise ValueError("a store without a value or a cost says why it failed")
        if len(set(self.store)) < len(self.store):
            raise ValueError("the store names a memory twice")
        return self
