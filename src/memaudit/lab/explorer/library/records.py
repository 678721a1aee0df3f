"""Results of a library as pages show them: score files, diagnoses, and audits of labels."""

import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
from memaudit.lab.labels.agreement import audit_agreement
from memaudit.lab.labels.annotate.labelling import (
    DATABASE,
    LabelDatabase,
    frame_digest,
    ids_with_parts,
)
from memaudit.lab.labels.frame import Frame, FrameCell, LabelSet
from memaudit.lab.labels.frame_files import CELL_LINES, CELLS, KEY, PUBLISHED, read_label_sets
from memaudit.lab.labels.label_audit_page import LabelAudit
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


NO_LABELS = frozenset({CELLS, CELL_LINES, PUBLISHED, KEY})
SUFFIXES = (".csv", ".jsonl")
PATIENCE = 1.0


@dataclass(frozen=True, slots=True)
class FrameLabels:
    """Label sets and their files. `unfinished` annotators are still labelling. `left_out` are files
    without labels of this frame, with the reason."""

    sets: tuple[LabelSet, ...]
    files: tuple[tuple[str, str, int], ...]
    """Annotator, file and number of labels, one per set."""
    unfinished: tuple[tuple[str, int], ...]
    """Annotator and the number of cells labelled so far."""
    left_out: tuple[tuple[str, str], ...]
    is_unsure: bool = False
    """Whether a database cannot be read. Somebody may be labelling."""


def label_files(folder: Path) -> list[Path]:
    """Files that may contain labels."""
    with suppress(OSError):
        return sorted(
            path
            for path in folder.iterdir()
            if (path.suffix.lower() in SUFFIXES and path.name not in NO_LABELS)
            or path.name in (DATABASE, f"{DATABASE}-wal")
        )
    return []


def labels_stamp(folder: Path) -> tuple[int, ...]:
    """A value that changes when a label does."""
    stamp: list[int] = []
    for path in label_files(folder):
        with suppress(OSError):
            status = path.stat()
            stamp += (zlib.crc32(os.fsencode(path.name)), status.st_mtime_ns, status.st_size)
    return tuple(stamp)


def frame_labels(folder: Path, frame: Frame) -> FrameLabels:
    """Every label set of the folder. A set in a file is not read from the database as well."""
    sets: list[LabelSet] = []
    files: list[tuple[str, str, int]] = []
    left_out: list[tuple[str, str]] = []
    unfinished: list[tuple[str, int]] = []
    for path in label_files(folder):
        if path.name.startswith(DATABASE):
            continue
        try:
            label_sets = read_label_sets(path, frame)
        except MemAuditError as error:
            left_out.append((path.name, str(error)))
            continue
        sets += label_sets
        files += (
            (label_set.annotator, path.name, len(label_set.labels)) for label_set in label_sets
        )
    known = {label_set.annotator for label_set in sets}
    is_unsure = False
    try:
        for label_set in _saved(folder / DATABASE, frame):
            if len(label_set.labels) < len(frame.cells):
                unfinished.append((label_set.annotator, len(label_set.labels)))
            elif label_set.annotator in known:
                left_out.append((DATABASE, f"{label_set.annotator!r} is also in a file"))
            else:
                sets.append(label_set)
                files.append((label_set.annotator, DATABASE, len(label_set.labels)))
    except MemAuditError as error:
        left_out.append((DATABASE, str(error)))
        is_unsure = True
    return FrameLabels(tuple(sets), tuple(files), tuple(unfinished), tuple(left_out), is_unsure)


def _saved(database: Path, frame: Frame) -> Iterator[LabelSet]:
    """Saved labels of annotators. A copy is read, since opening a database may write to it."""
    if not database.is_file():
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / DATABASE
        try:
            shutil.copyfile(database, copy)
            log = Path(f"{database}-wal")
            if log.is_file():  # else everything is in the file itself
                shutil.copyfile(log, f"{copy}-wal")
        except OSError as error:
            raise MemAuditError(f"cannot be read: {error.strerror or error}") from None
        try:
            yield from _decided(copy, frame.cells)
        except MemAuditError as error:
            raise MemAuditError(str(error).replace(str(copy), DATABASE)) from None


def _decided(copy: Path, cells: Sequence[FrameCell]) -> Iterator[LabelSet]:
    saved = LabelDatabase(copy, frame_digest(cells), len(cells), must_exist=True, patience=PATIENCE)
    try:
        with_parts = ids_with_parts(cells)
        yield from [saved.label_set(name, with_parts) for name in saved.annotators()]
    finally:
        saved.close()


DRAWS = 500
"""Bootstrap draws while a page is made; `memaudit audit agreement` makes 20 times as many."""

FEWEST = 2
"""Label sets needed before a frame is shown, since annotators must not see the key."""


@dataclass(frozen=True, slots=True)
class LabelledFrame:
    """A frame and its labels. `audit` is None while it is too early to show anything, and if the
    labels cannot be compared, for which `problem` gives the reason."""

    cells: int
    labels: FrameLabels
    audit: LabelAudit | None
    problem: str = ""

    @property
    def is_early(self) -> bool:
        """Whether somebody may still have to label blind."""
        labels = self.labels
        return len(labels.sets) < FEWEST or bool(labels.unfinished) or labels.is_unsure


def labelled_frame(folder: Path, frame: Frame) -> LabelledFrame:
    """The labels of a frame compared, once there are enough of them and nobody is labelling."""
    labels = frame_labels(folder, frame)
    early = LabelledFrame(len(frame.cells), labels, None)
    if early.is_early:
        return early
    models = [label_set for label_set in labels.sets if label_set.is_model]
    people = [label_set for label_set in labels.sets if not label_set.is_model]
    try:
        agreement = audit_agreement(frame, people, models, DRAWS)
    except MemAuditError as error:
        return replace(early, problem=str(error))
    note = f"intervals use {DRAWS:,} draws; memaudit audit agreement uses more"
    noted = agreement.model_copy(update={"notes": (note, *agreement.notes)})
    return replace(early, audit=LabelAudit(noted))
