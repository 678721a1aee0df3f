"""Rows of the solver audit and of the sensitivity part by themselves: shapes, and what adds up."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from memaudit.core.exact import Exact
from memaudit.io.strict_json import first_fault
from memaudit.solvers.registry import SOLVERS

Count = Annotated[int, Field(ge=0, le=1000, strict=True)]
"""Of budgets of one package."""

Amount = Annotated[Exact, Field(ge=0)]


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DifferenceShape(_Shape):
    """Where a backend found something else."""

    package: str
    budget: Count
    solver: str
    value: Exact
    expected: Exact


class TallyShape(_Shape):
    """One backend on one package."""

    rows: Count
    matches: Count
    max_difference: Amount
    certified: Count
    refused: Count
    differing: list[DifferenceShape]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        gaps = [abs(one.value - one.expected) for one in self.differing]
        if self.matches + len(gaps) != self.rows or self.certified > self.rows:
            raise ValueError("matches and differences are not all rows")
        if max(gaps, default=0) != self.max_difference:
            raise ValueError("the largest difference is not among the differences")
        return self


class SolverRow(_Shape):
    """A package at its budgets by every backend."""

    distribution: str
    seed: int
    budgets: list[int]
    solvers: dict[str, TallyShape]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if sorted(self.solvers) != sorted(SOLVERS):
            raise ValueError("the backends are others")
        for tally in self.solvers.values():
            if tally.rows + tally.refused != len(self.budgets):
                raise ValueError("budgets that were solved and refused are not all")
        return self


class VariantRow(_Shape):
    """An optimum under other constraints."""

    place: int
    package: str
    digest: str
    budget: int
    cost_rule: str
    group_cap: int
    optimum: Amount
    cost: Amount
    store: list[str]
    certificate: str | None


def misshapen(shape: type[SolverRow] | type[VariantRow], row: Mapping[str, Any]) -> str:
    """What is wrong with a row, or an empty text."""
    try:
        shape.model_validate(row)
    except ValidationError as error:
        return first_fault(error)
    return ""
