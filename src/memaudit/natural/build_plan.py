"""A whole dataset built into a folder of packages: resumable, each package all or nothing."""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NoReturn

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.datasets.irregularities import LoadedConversation
from memaudit.datasets.json_records import dataset_hash
from memaudit.datasets.registry import guess_format, iter_conversations
from memaudit.datasets.subset import Subset, apply_subset, read_subset
from memaudit.io.atomic import clear
from memaudit.io.packages import examine, write_package
from memaudit.natural.annotations import Built, Recipe, build
from memaudit.natural.label_files import NO_LABELS, Labels

RESERVED = frozenset({"manifest", "manifest.json", "failures.jsonl"})
"""Names that a build's own files have, in either form."""

LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Job:
    """What is built from what."""

    path: Path
    format: str | None = None
    subset: Path | None = None
    conversations: tuple[str, ...] = ()
    cost_rule: str = "words"
    labels: Labels = NO_LABELS


@dataclass(frozen=True, slots=True)
class Plan:
    """A job with what its files say."""

    job: Job
    recipe: Recipe
    sha256: str
    subset: Subset | None

    def loaded(self) -> Iterator[LoadedConversation]:
        """The conversations that are wanted; one that is not there is an error."""
        found: set[str] = set()
        wanted = set(self.job.conversations)
        conversations = (
            iter_conversations(self.job.path, self.recipe.format)
            if self.subset is None
            else apply_subset(self.subset, self.job.path)
        )
        for one in conversations:
            if not wanted or one.conversation.id in wanted:
                found.add(one.conversation.id)
                yield one
        if missing := sorted(wanted - found):
            raise MemAuditError(f"{self.job.path.name}: has no conversation {missing[0]!r}")

    def built(self) -> Iterator[Built]:
        """One package after the other."""
        return (build(one, self.recipe) for one in self.loaded())


def plan(job: Job) -> Plan:
    """Read what has to be known before the first package."""
    subset = None if job.subset is None else read_subset(job.subset)
    format = subset.dataset_format if subset is not None else job.format or guess_format(job.path)
    if subset is not None and job.format not in (None, format):
        raise MemAuditError(f"the subset is of format {format!r}, not {job.format!r}")
    made = Plan(job, Recipe(format, job.cost_rule, job.labels), dataset_hash(job.path), subset)
    row = job.labels.homeless
    if row is not None and _more_than_one(made):
        raise row.wrong(
            "names no conversation, and more than one is built; add the field 'conversation' or "
            "choose one with --conversation"
        )
    return made


def _more_than_one(made: Plan) -> bool:
    return len(list(islice(made.loaded(), 2))) > 1


def file_name(package: str, form: str) -> str:
    """A name any file system takes; a changed one ends in a piece of its hash, so none meet."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", package)[:LONGEST_NAME].lstrip(".")
    looks_like_a_file = form != "json" and plain.lower().endswith(".json")
    if plain != package or plain in RESERVED or looks_like_a_file:
        plain = f"{plain}-{hashlib.sha256(package.encode()).hexdigest()[:8]}"
    return f"{plain}.json" if form == "json" else plain


def refuse_an_empty_build(path: Path, out: Path) -> NoReturn:
    """Where a file holds nothing to build, nothing is left behind."""
    with suppress(OSError):  # whatever else the folder holds, stays
        out.rmdir()
    raise MemAuditError(f"{path}: holds no conversation; nothing was built")


def store(package: Package, path: Path) -> bool:
    """Write a package unless the very same one is there; whether it was written."""
    if os.path.lexists(path):
        there, problems = examine(path)
        if not problems and len(there) == 1 and digest(there[0]) == digest(package):
            clear(path)
            return False
    write_package(package, path)
    return True
