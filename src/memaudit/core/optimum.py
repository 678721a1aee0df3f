"""What a solver found, and how far it is proven."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from memaudit.core.exact import plain

Status = Literal["certified", "bound"]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof that no feasible store is worth more than `value`; `memaudit.verify` checks it.

    `proof` is a flat list of integers, a program for the checker (docs in checker.py).
    """

    package: str
    budget: Fraction
    group_cap: int
    value: Fraction
    store: tuple[str, ...]
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    proof: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The versioned JSON form."""
        return {
            "format": "memaudit-certificate",
            "version": 1,
            "package": self.package,
            "budget": plain(self.budget),
            "group_cap": self.group_cap,
            "value": plain(self.value),
            "store": list(self.store),
            "blocks": [[list(units), list(layers)] for units, layers in self.blocks],
            "proof": list(self.proof),
        }


@dataclass(frozen=True, slots=True)
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
    statistics: Mapping[str, int | float | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.bound < self.value:
            raise ValueError(f"bound {self.bound} is below the value {self.value}")
        if self.status == "certified" and self.certificate is None:
            raise ValueError("a certified optimum carries its certificate")

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
            "note": self.note,
            "statistics": dict(self.statistics),
        }
