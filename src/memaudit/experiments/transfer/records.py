"""A file of annotated conversations, built into packages one record at a time."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.core.package import SUPERSESSION, Package
from memaudit.natural.annotations import build
from memaudit.natural.build_plan import Job, Plan, plan


@dataclass(frozen=True)
class Records:
    """The records of a file, without holding more than one of them."""

    plan: Plan

    @cached_property
    def questions(self) -> dict[str, tuple[str, ...]]:
        """By record, the ids of its questions, in the order of the file."""
        return {
            one.conversation.id: tuple(question.id for question in one.conversation.questions)
            for one in self.plan.loaded()
        }

    @property
    def asked(self) -> dict[str, tuple[str, ...]]:
        """The records that ask anything."""
        return {name: ids for name, ids in self.questions.items() if ids}

    @property
    def left_out(self) -> dict[str, str]:
        """The records that ask nothing, and that this is why."""
        return {
            name: f"{name!r} has no question" for name, ids in self.questions.items() if not ids
        }

    def packages(self, names: set[str]) -> Iterator[Package]:
        """The packages of these records, as labels alone say what is required."""
        for one in self.plan.loaded():
            if one.conversation.id in names:
                yield labelled(build(one, self.plan.recipe).package)

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the packages."""
        job = self.plan.job
        return {
            "file": job.path.name,
            "sha256": self.plan.sha256,
            "format": self.plan.recipe.format,
            "cost_rule": self.plan.recipe.cost_rule,
            "subset": self.plan.subset.sha256 if self.plan.subset else None,
            "records": hashlib.sha256(repr(list(self.questions)).encode()).hexdigest(),
        }


def open_records(
    path: Path,
    format: str | None = None,
    subset: Path | None = None,
    conversations: tuple[str, ...] = (),
    cost_rule: str = "words",
) -> Records:
    """The records of a file; one that asks nothing at all is an error."""
    found = Records(plan(Job(path, format, subset, conversations, cost_rule)))
    if not found.asked:
        raise MemAuditError(f"{path.name}: has no question, so there is nothing to compare")
    return found


def labelled(package: Package) -> Package:
    """The package with queries that require labelled turns only.

    A build adds that an update ended the value before. No label says so, and hardly any raw turn
    does: requiring it would make raw stores fail by construction.
    """
    made = {unit.id for unit in package.units if unit.kind == SUPERSESSION}
    return package.replace(
        queries=tuple(
            query.model_copy(
                update={"required": tuple(id for id in query.required if id not in made)}
            )
            for query in package.queries
        )
    )
