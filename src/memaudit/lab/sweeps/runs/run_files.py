"""The files of a run of `memaudit run`: its manifest, run.json, and its rows, rows.jsonl.

Nothing here is larger than what was read: seeds stay ranges until rows are compared with them.
"""

from collections.abc import Mapping
from math import prod
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.io.file_model import LARGEST, StrictFileModel, WithinOne
from memaudit.lab.sweeps.runs.spec import parse_seed_ranges

LONGEST_NAME = 2000
CLOSE = 1e-9
"""What rounding changes in a number of a row, and more than enclosures of responses do."""


def _not_negative(number: int | float | str) -> int | float | str:
    if exact(number) < 0:
        raise ValueError("is negative")
    return number


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("names one of them twice")
    return names


def _seeds(text: str) -> str:
    try:
        if not parse_seed_ranges(f"{text},"):
            raise ValueError("names no seed")
    except MemAuditError as error:
        raise ValueError(str(error)) from None
    return text


Names = Annotated[
    list[Annotated[str, Field(max_length=LONGEST_NAME)]],
    Field(min_length=1),
    AfterValidator(_distinct),
]
Cost = Annotated[int | float | str, AfterValidator(_not_negative)]
CostText = Annotated[str, AfterValidator(_not_negative)]
Number = Annotated[float, Field(ge=0, le=LARGEST)]
KindCount = Annotated[int | float, Field(ge=0, le=LARGEST)]


class RunManifestSpec(StrictFileModel):
    """What was run; seeds as text such as 0-499,900."""

    distributions: Names
    seeds: Annotated[str, AfterValidator(_seeds)]
    budgets: Annotated[list[CostText], Field(min_length=1), AfterValidator(_distinct)]
    writers: Names
    seconds: Annotated[float, Field(gt=0)] | None = None
    contents: str = ""

    @property
    def rows(self) -> int:
        """How many rows a finished run has, counted without listing the seeds."""
        seeds = sum(map(len, parse_seed_ranges(f"{self.seeds},")))
        return seeds * prod(map(len, (self.distributions, self.budgets, self.writers)))


class RunManifest(StrictFileModel):
    """The manifest of a run."""

    spec: RunManifestSpec
    spec_digest: str
    budgets: dict[str, CostText]
    rows: int
    versions: dict[str, str]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if set(self.budgets) != set(self.spec.budgets):
            raise ValueError("its budgets are not those of its spec")
        if "memaudit" not in self.versions:
            raise ValueError("its versions do not name that of memaudit")
        if self.rows != self.spec.rows:
            raise ValueError(f"it says {self.rows} rows, its spec gives {self.spec.rows}")
        return self


class RunRow(StrictFileModel):
    """One writer's store for one package and budget. `value` is None where the writer failed."""

    distribution: str
    seed: int
    package: str = ""
    digest: str
    budget: Cost
    writer: str
    peeks: bool
    value: Number | None
    optimum: Number
    ratio: WithinOne | None
    undefined: str = ""
    cost: Cost | None
    store: Annotated[tuple[str, ...], Field(strict=False)]
    kinds: Mapping[str, KindCount]
    unit_values: dict[str, Number]
    invalidation: Number | None
    current: Number | None
    stale: Number | None
    certificate: str | None
    version: str = ""
    failed: str = ""
    budget_as_given: str = ""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not self.failed and (self.value is None or self.cost is None):
            raise ValueError("a store without a value or a cost says why it failed")
        if len(set(self.store)) < len(self.store):
            raise ValueError("the store names a memory twice")
        return self

    @model_validator(mode="after")
    def _ratio_is_its_quotient(self) -> Self:
        """A checksum shows damage, not who wrote a row: what follows from it is computed again."""
        if self.failed or self.undefined or self.value is None:
            if self.ratio is not None:
                raise ValueError("it has a ratio where there is none")
        elif self.ratio is None or self.certificate is None:
            raise ValueError("it has no ratio or no certificate, and does not say why")
        elif self.optimum:  # 0 is a positive number that was rounded
            # Both numbers are rounded in the ninth place.
            tolerance = CLOSE * (2 + 2 / self.optimum)
            if abs(self.ratio - self.value / self.optimum) > tolerance:
                raise ValueError("its ratio is not its value divided by its optimum")
        return self

    def to_json(self) -> dict[str, Any]:
        """The JSON form, without empty remarks."""
        data = {name: getattr(self, name) for name in type(self).model_fields}
        for name in ("undefined", "failed", "budget_as_given"):
            if not data[name]:
                del data[name]
        return data


def is_run_row(row: Mapping[str, Any]) -> bool:
    """Whether a row of a journal, checksum included, is one that a run would write."""
    try:
        # The journal checks its checksum by itself.
        RunRow.model_validate({name: value for name, value in row.items() if name != "crc"})
    except ValidationError:
        return False
    return True
