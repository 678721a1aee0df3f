"""What is reproduced, and by which program: a folder holds one such thing only."""

from dataclasses import dataclass

from pydantic import JsonValue

from memaudit.core.errors import MemAuditError
from memaudit.experiments.artifact.program import source_digest, versions
from memaudit.experiments.audit_solvers import ROWS
from memaudit.experiments.reproduce_controlled import SEEDS
from memaudit.natural.example import natural_set


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
        if self.packages > len(natural_set()):
            raise MemAuditError(
                f"--packages {self.packages}: the natural set has {len(natural_set())}"
            )

    def to_json(self) -> dict[str, int]:
        """The JSON form."""
        return {"seeds": self.seeds, "rows": self.rows, "packages": self.packages}

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
