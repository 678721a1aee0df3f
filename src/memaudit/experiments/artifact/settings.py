"""What is reproduced, and by which program: a folder holds one such thing only."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from pydantic import JsonValue

from memaudit.core.errors import MemAuditError
from memaudit.experiments.artifact.program import source_digest, versions
from memaudit.experiments.audit_solvers import ROWS
from memaudit.experiments.reproduce_controlled import SEEDS
from memaudit.natural.named_packages import natural_set

MOST = {"seeds": 100_000, "rows": 1_000_000}
"""Larger numbers are a slip or an attack: nobody waits for what they ask for."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Seeds of the controlled runs, rows of the solver audit, packages of the natural set.

    With the defaults every number stands beside the one the paper prints; fewer are a quick look.
    """

    seeds: int = SEEDS
    rows: int = ROWS
    packages: int = 26

    def __post_init__(self) -> None:
        for name in ("seeds", "rows", "packages"):
            if getattr(self, name) < 1:
                raise MemAuditError(f"--{name} {getattr(self, name)} makes no sense; use 1 or more")
        for name, most in MOST.items():
            if getattr(self, name) > most:
                raise MemAuditError(f"--{name} asks for too many; use {most:,} or fewer")
        if self.packages > len(natural_set()):
            raise MemAuditError(
                f"--packages {self.packages}: the natural set has {len(natural_set())}"
            )

    def to_json(self) -> dict[str, int]:
        """The JSON form."""
        return {"seeds": self.seeds, "rows": self.rows, "packages": self.packages}

    @property
    def remark(self) -> str:
        """What to expect of numbers that were made with other settings than the paper's."""
        return remark_on(self.to_json())

    @property
    def options(self) -> str:
        """As on the command line."""
        return f"--seeds {self.seeds} --rows {self.rows} --packages {self.packages}"

    def identity(self) -> dict[str, JsonValue]:
        """What a run that goes on must have in common with the one that was begun."""
        return {
            "settings": dict(self.to_json()),
            "memaudit": versions()["memaudit"],
            "source": source_digest(),
        }


def remark_on(given: Mapping[str, int]) -> str:
    """What to expect with these settings; an empty text if they are the defaults."""
    usual = {one.name: one.default for one in fields(Settings)}
    other = " ".join(f"--{name} {value}" for name, value in given.items() if value != usual[name])
    if not other:
        return ""
    return f"made with {other}, the paper's numbers need the defaults; differences are expected"
