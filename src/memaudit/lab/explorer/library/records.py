"""Results of a library as pages show them: score files and diagnoses."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.io.score_file import ScoreFile, ScoreRow, ScoreRun, read_score_run
from memaudit.kernel.score.result import budget_text
from memaudit.lab.downstream.diagnosis_files import DiagnosisRow, DiagnosisSummary
from memaudit.lab.downstream.run import FORMAT, SUMMARY, WHAT
from memaudit.lab.explorer.addresses import slug
from memaudit.lab.explorer.library.entries import read_object
from memaudit.workspace.journal import read_journal
from memaudit.workspace.run_folder import ROWS, read_spec


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A score with its package's file, its name in addresses and its place in the list."""

    slug: str
    place: int
    file: ScoreFile
    score: ScoreRow

    @property
    def store_digest(self) -> str:
        """The digest of the store, where the file says it."""
        digests = (store.digest for store in self.file.stores if store.name == self.score.store)
        return next(digests, "")

    @property
    def at(self) -> str:
        """The budget as it was asked for, with the cost it means."""
        return budget_text(self.score.asked, self.score.budget)


@dataclass(frozen=True, slots=True)
class ScoreLines:
    """A score file, and its lines in order and by name."""

    run: ScoreRun
    lines: tuple[ScoreLine, ...]
    by_slug: Mapping[str, ScoreLine]

    @property
    def budgets(self) -> tuple[Fraction, ...]:
        return tuple(sorted({line.score.budget for line in self.lines}))


def read_score_lines(data: Mapping[str, Any], place: str) -> ScoreLines:
    """The content of a score file."""
    run = read_score_run(data, place)
    lines: dict[str, ScoreLine] = {}
    for file in run.packages:
        for score in file.scores:
            key = (file.package, score.store, score.asked)
            name = slug(" ".join(key), *key)
            while name in lines:  # the same line twice in a file
                name = slug(name, *key)
            lines[name] = ScoreLine(name, len(lines), file, score)
    return ScoreLines(run, tuple(lines.values()), lines)


@dataclass(frozen=True, slots=True)
class DiagnosedQuestion:
    """A question and its row at every store."""

    slug: str
    rows: tuple[DiagnosisRow, ...]

    @property
    def first(self) -> DiagnosisRow:
        return self.rows[0]

    def at(self, store: str) -> DiagnosisRow | None:
        return next((row for row in self.rows if row.store == store), None)


@dataclass(frozen=True)
class DiagnosisFolder:
    """A diagnosis. `summary` is None while it is not finished; `damage` says why rows are missing
    after the last one, if the file is damaged there."""

    spec: Mapping[str, Any]
    rows: tuple[DiagnosisRow, ...]
    summary: DiagnosisSummary | None
    damage: str = ""

    @cached_property
    def stores(self) -> tuple[str, ...]:
        """The stores, in the order of the spec."""
        listed = self.spec.get("stores")
        names = [str(name) for name in listed] if isinstance(listed, list) else []
        present = dict.fromkeys(row.store for row in self.rows)
        return tuple(dict.fromkeys([*(name for name in names if name in present), *present]))

    @cached_property
    def questions(self) -> Mapping[str, DiagnosedQuestion]:
        """Questions by their names in addresses, in the order of the rows."""
        groups: dict[tuple[str, str], list[DiagnosisRow]] = {}
        for row in self.rows:
            groups.setdefault((row.package, row.query), []).append(row)
        return {
            name: DiagnosedQuestion(name, tuple(rows))
            for (package, query), rows in groups.items()
            for name in [slug(query, package)]
        }

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """The position of each question in the list."""
        return {name: place for place, name in enumerate(self.questions)}

    @cached_property
    def packages(self) -> int:
        """How many packages the rows are about."""
        return len({row.package for row in self.rows})

    def digest_of(self, package: str) -> str:
        """The digest of a package, if the spec names it."""
        listed = self.spec.get("packages")
        digest = listed.get(package) if isinstance(listed, dict) else None
        return digest if isinstance(digest, str) else ""

    def setting(self, name: str) -> str:
        """A setting as text; empty if the spec has none."""
        value = self.spec.get(name)
        return str(value) if isinstance(value, str | int | float) else ""


def read_diagnosis_folder(folder: Path, place: str) -> DiagnosisFolder:
    """The diagnosis of a folder. A row of another form is a one-line error."""
    spec = read_spec(folder, FORMAT, WHAT)
    lines, damage = _lines(folder / ROWS)
    rows = tuple(
        validated(DiagnosisRow, data, f"{place}/{ROWS}, line {number}")
        for number, data in enumerate(lines, start=1)
    )
    summary = None
    if (folder / SUMMARY).exists():
        data = read_object(folder / SUMMARY)
        summary = validated(DiagnosisSummary, data, f"{place}/{SUMMARY}")
    return DiagnosisFolder(spec, rows, summary, damage)


def _lines(path: Path) -> tuple[list[dict[str, Any]], str]:
    """The rows of a journal up to one that is damaged, or half written while it is read."""
    rows: list[dict[str, Any]] = []
    try:
        rows.extend(read_journal(path))
    except MemAuditError as error:
        return rows, str(error)
    return rows, ""
