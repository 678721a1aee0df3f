"""Finished diagnoses and transfers, read from their folders and shown as a page."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.io.strict_json import read_object
from memaudit.kernel.score.judge import judged_how
from memaudit.lab.downstream.diagnosis_files import (
    COMPARED,
    LOST_BY,
    MEASURES,
    REMARKS,
    WORDS,
    DiagnosisRow,
    DiagnosisSpec,
    DiagnosisSummary,
    Layer,
    Outcome,
    StoreDifference,
)
from memaudit.lab.downstream.run import FORMAT, SUMMARY
from memaudit.lab.sweeps.writers.registry import WRITERS
from memaudit.show.encoding import looks
from memaudit.show.page_charts import Member
from memaudit.show.page_kit import environment, one_file
from memaudit.workspace.journal import read_journal
from memaudit.workspace.run_folder import ROWS, SPEC

AGAIN = "run the same command again"


@dataclass(frozen=True, slots=True)
class DownstreamFolder:
    """A finished folder."""

    path: Path
    summary: DiagnosisSummary
    rows: list[DiagnosisRow]
    data: dict[str, Any]
    """The summary as the file has it."""

    @property
    def name(self) -> str:
        return self.path.resolve().name or "diagnosis"


def is_downstream(folder: Path) -> bool:
    """Whether a folder is of a diagnosis or a transfer."""
    with suppress(MemAuditError):
        return read_object(folder / SPEC, "").get("format") == FORMAT
    return False


def open_folder(folder: Path) -> DownstreamFolder:
    """Read a finished run; one that is not finished is refused."""
    if not is_downstream(folder):
        raise MemAuditError(f"{folder} is not a diagnosis; memaudit diagnose makes one")
    path = folder / SUMMARY
    if not path.exists():
        raise MemAuditError(f"{folder} is not finished; {AGAIN}")
    data = read_object(path, AGAIN)
    if data.get("format") != FORMAT:
        raise MemAuditError(f"{path} is not a summary of a diagnosis; {AGAIN}")
    summary = validated(DiagnosisSummary, data, str(path), AGAIN)
    rows = [
        validated(DiagnosisRow, row, f"{folder / ROWS}, line {number}", AGAIN)
        for number, row in enumerate(read_journal(folder / ROWS), start=1)
    ]
    if len(rows) != summary.rows:
        raise MemAuditError(f"{folder / ROWS} contains {len(rows)} of {summary.rows} rows; {AGAIN}")
    return DownstreamFolder(folder, summary, rows, data)


TITLE = "Who lost the answer?"


def write_downstream(folder: Path, out: Path) -> None:
    """Build the page of a folder and write it, all or nothing."""
    write_file(out, build_downstream(open_folder(folder)))


def build_downstream(folder: DownstreamFolder) -> str:
    """The page of a diagnosis or a transfer."""
    return one_file(
        environment("memaudit.lab.downstream"),
        "diagnosis_page.html",
        title=TITLE,
        diagnosis=view_of(folder),
        data=folder.data,
    )


EACH = 2
"""Failures shown per store and outcome."""
BY_KIND = ("words_retrieved", "evidence_recall", "token_f1", "answered")


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """What the page shows of a diagnosis or a transfer beside its summary."""

    title: str
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    summary: DiagnosisSummary
    members: Mapping[str, Member]
    failures: tuple[tuple[Member, tuple[DiagnosisRow, ...]], ...]
    """The first failures of every store and outcome, in the order of outcomes."""
    failed: int

    by_kind = BY_KIND
    outcomes = tuple(outcome.value.replace("_", " ") for outcome in Outcome)
    layers = tuple(layer.value for layer in Layer)
    lost_by = LOST_BY
    measures = MEASURES
    why = REMARKS

    @property
    def shown(self) -> int:
        return sum(len(rows) for _, rows in self.failures)

    @property
    def differences(self) -> list[StoreDifference]:
        """Those of the main measures; the summary has all of them."""
        return [
            row
            for row in self.summary.differences
            if row.measure in COMPARED and row.mean_difference is not None
        ]

    @property
    def remarks(self) -> list[str]:
        return sorted({why for store in self.summary.summaries for why in store.why})


def open_view(path: Path) -> DiagnosisView:
    """The view of a diagnosis or a transfer in a folder."""
    return view_of(open_folder(path))


def view_of(folder: DownstreamFolder) -> DiagnosisView:
    summary = folder.summary
    members = _members(summary.spec, [store.store for store in summary.summaries])
    failed = [row for row in folder.rows if row.failed]
    return DiagnosisView(
        title=_title(summary.spec),
        facts=tuple(_facts(summary)),
        notes=tuple(_notes(summary.spec)),
        summary=summary,
        members=members,
        failures=tuple(_first_failures(failed, members)),
        failed=len(failed),
    )


def _first_failures(
    failed: Sequence[DiagnosisRow], members: Mapping[str, Member]
) -> Iterator[tuple[Member, tuple[DiagnosisRow, ...]]]:
    groups: dict[tuple[str, Outcome], list[DiagnosisRow]] = defaultdict(list)
    for row in failed:
        groups[row.store, row.outcome].append(row)
    for name, member in members.items():
        yield member, tuple(row for outcome in Outcome for row in groups[name, outcome][:EACH])


def _members(spec: DiagnosisSpec, names: Sequence[str]) -> dict[str, Member]:
    members, look = {}, looks(names)
    for name in names:
        known, peeks = WRITERS.get(name), name in spec.peeking_writers
        members[name] = Member(
            name,
            known.label if known else name,
            spec.about_stores.get(name) or (known.about if known else "an exported store"),
            "reference" if peeks else "deployable",
            replace(look[name], hollow=peeks),
        )
    return members


def _title(spec: DiagnosisSpec) -> str:
    if spec.source is not None:
        return f"Transfer: {spec.source.file}"
    names = list(spec.packages or ())
    return f"Diagnosis: {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _facts(summary: DiagnosisSummary) -> Iterator[tuple[str, str]]:
    spec = summary.spec
    yield "Questions", f"{summary.questions:,}"
    yield "Packages" if spec.source is None else "Records", f"{summary.packages:,}"
    yield "Budget", str(spec.budget)
    yield "Retriever", f"{spec.retriever}, k = {spec.k}"
    yield "Reader", spec.reader
    if spec.grader != WORDS:
        yield "Grader", spec.grader


def _notes(spec: DiagnosisSpec) -> Iterator[str]:
    yield from filter(None, (spec.note, spec.evidence))
    if spec.judge:
        mark = judged_how(spec.judge, spec.coverage_is_an_estimate)
        yield f"coverage of exported memories: judge {spec.judge}, {mark}"
    for why in spec.left_out.values():
        yield f"left out: {why}"
