"""A first look at what somebody has: which file is the transcript, which is the store."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from memaudit.building.statements import with_statements
from memaudit.conversations.chat import Chat
from memaudit.conversations.registry import seen_format
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.foreign_json import json_lines
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.result import ScoreResult
from memaudit.kernel.words.text import counted
from memaudit.linting.findings import LintReport
from memaudit.linting.lint import lint_target
from memaudit.stores.registry import open_store, parse_argument

ROUGH = (
    "units are sentences that state something, found by rules: about half of them are what a "
    "person would ask about, and three in ten of those are missed"
)


FIRST_ROWS = 20
"""Rows of a file that are looked at to tell a chat from memories."""


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What was understood of the files, and the package made of the transcript."""

    store: ExportedStore | None
    package: Package | None
    rough: bool
    """Whether units were found by rules, not by questions of the transcript."""
    lines: tuple[str, ...]

    @property
    def next_steps(self) -> list[str]:
        """What to do next."""
        steps = []
        if self.store is None:
            steps.append("give the store as well: memaudit quick TRANSCRIPT STORE")
        if self.package is None:
            steps.append("give the transcript as well, to see what was lost or never said")
        elif self.rough:
            steps.append(
                "add questions with evidence to the transcript, or label units (memaudit build "
                "--help), for a score that means something"
            )
        if self.store is not None and self.package is not None:
            steps.append("judge by a model: memaudit score PACKAGE STORE --judge model:NAME")
        return steps


def first_look(paths: Sequence[Path]) -> FirstLook:
    """Each path is a transcript or a store; one of each at most."""
    if not 1 <= len(paths) <= 2:
        raise MemAuditError("give a transcript, a store, or both")
    for path in paths:
        if not path.exists():
            raise MemAuditError(f"{path}: does not exist (check the path)")
    formats = {path: _transcript_format(path) for path in paths}
    # A JSONL file with `text` is a chat and a list of memories; next to a chat with speakers it is
    # the memories.
    if all(formats.values()) and len(formats) > 1:  # texts that nobody says may be memories
        for path in [path for path in paths if not _has_speakers(path)][-1:]:
            formats[path] = None
    talks = [path for path in paths if formats[path]]
    others = [path for path in paths if not formats[path]]
    if len(talks) > 1:
        raise MemAuditError(
            f"{talks[0]} and {talks[1]} are both transcripts; one of them should be a store"
        )
    if len(others) > 1:
        raise MemAuditError(
            f"neither {others[0]} nor {others[1]} is a transcript that can be read "
            "(memaudit package inspect FILE says why); compare two stores with memaudit diff"
        )
    store = open_store(parse_argument(str(others[0]))) if others else None
    lines = []
    package, rough = None, False
    if talks:
        empty = store or ExportedStore.model_validate(
            {"name": "none", "origin": {"system": "", "format": ""}, "memories": ()}
        )
        package = lint_target(talks[0], empty)
        rough = not any(package.weights.values())
        if rough:
            package = with_statements(package)
        turns = counted(sum(bool(turn.text) for turn in package.experiences), "turn")
        lines.append(
            f"transcript: {talks[0].name}, read as {formats[talks[0]]}: {turns}, "
            f"{counted(len(package.units), 'unit')}"
        )
        if rough:
            lines.append(ROUGH)
    if store is not None:
        lines.append(
            f"store: {others[0].name}, read as {store.origin.format}: "
            f"{counted(len(store.active), 'active memory', 'active memories')}"
        )
        lines += [f"store: {warning}" for warning in store.warnings]
    return FirstLook(store, package, rough, tuple(lines))


def _transcript_format(path: Path) -> str | None:
    """The dataset format of a file, or None for what is read as a store."""
    return seen_format(path) if path.is_file() else None


def verdict(look: FirstLook, scores: ScoreResult | None, report: LintReport | None) -> str:
    """The first look in one line."""
    said = []
    if scores is not None:
        mark = ", an ESTIMATE" if look.rough or scores.is_estimate else ""
        said.append(f"the store {scores.verdict().sentence}{mark}")
    if report is not None:
        found = [f"{number:,} {rule}" for rule, number in report.counts.items() if number]
        said.append(f"lint finds {', '.join(found) or 'nothing'}")
    return "; ".join(said)


def _has_speakers(path: Path) -> bool:
    """Whether a file that could be a chat says who speaks, or has rows of other kinds."""
    if seen_format(path) != Chat.name:
        return True
    rows = (row for _, row in islice(json_lines(path), FIRST_ROWS))
    return any(not row.keys() & {"text"} or row.keys() & {"speaker", "role"} for row in rows)
