"""Finished diagnoses and transfers, read from their folders and shown as a page."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.io.strict_json import read_object
from memaudit.kernel.score.judge import judged_how
from memaudit.lab.downstream.diagnosis_files import (
    LOST_BY,
    MEASURES,
    REMARKS,
    WORDS,
    AnswerGrades,
    DiagnosisRow,
    DiagnosisSummary,
    Layer,
    Outcome,
    StatementFate,
    UnitFate,
    statement_fates,
)
from memaudit.lab.downstream.run import FORMAT, SUMMARY
from memaudit.lab.sweeps.writers.registry import WRITERS
from memaudit.show.encoding import looks
from memaudit.show.page_charts import CurvePlot, Member, curve_plot
from memaudit.show.page_kit import environment, one_file
from memaudit.workspace.journal import read_journal
from memaudit.workspace.run_folder import ROWS, SPEC

AGAIN = "run the same command again"


@dataclass(frozen=True, slots=True)
class DownstreamFolder:
    """A finished folder: its summary and its rows."""

    path: Path
    summary: dict[str, Any]
    rows: list[dict[str, Any]]

    @property
    def name(self) -> str:
        return self.path.resolve().name or "diagnosis"

    @property
    def is_transfer(self) -> bool:
        """Whether its packages come from a file of conversations."""
        return "source" in self.summary["spec"]


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
    wanted = validated(DiagnosisSummary, data, str(path), AGAIN).rows
    rows = list(read_journal(folder / ROWS))
    for number, row in enumerate(rows, start=1):
        validated(DiagnosisRow, row, f"{folder / ROWS}, line {number}", AGAIN)
    if len(rows) != wanted:
        raise MemAuditError(f"{folder / ROWS} contains {len(rows)} of {wanted} rows; {AGAIN}")
    return DownstreamFolder(folder, data, rows)


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
        data=folder.summary,
    )


EACH = 2
"""Failures shown per store and outcome."""

DiagnosisRowData = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """A question that was not answered correctly, with its remarks as text."""

    row: DiagnosisRowData
    why: tuple[str, ...]

    @property
    def outcome(self) -> str:
        return str(self.row["outcome"]).replace("_", " ")

    @property
    def lost(self) -> str:
        """The layer that lost it, as text."""
        return LOST_BY[Layer(self.row["layer"])]

    @property
    def right(self) -> str:
        """The correct answer as text."""
        if self.row["abstention"]:
            return "to say that it is not known"
        return self.row["gold"] or "not given"

    @property
    def answer(self) -> str:
        """The answer, or what the reply was instead."""
        return self.row["answer"] or str(self.row["reply"]).replace("_", " ")

    @property
    def statements(self) -> list[StatementFate]:
        """Its evidence, with the parts of a statement together."""
        return statement_fates(map(UnitFate.model_validate, self.row["evidence"]))

    @property
    def graded(self) -> str:
        """Both verdicts on the answer; empty where no model graded it."""
        grades = self.row.get("grades")
        return AnswerGrades.model_validate(grades).text if grades else ""


@dataclass(frozen=True, slots=True)
class ShownFailures:
    """Failures by store, and how many there are in all."""

    stores: tuple[tuple[Member, tuple[ShownFailure, ...]], ...]
    total: int
    rows: int

    @property
    def shown(self) -> int:
        return sum(len(failures) for _, failures in self.stores)


def failures(rows: Sequence[DiagnosisRowData], members: Mapping[str, Member]) -> ShownFailures:
    """The first failures of every store and outcome, in the order of outcomes."""
    failed = [row for row in rows if row["outcome"] != Outcome.RIGHT]
    groups: dict[tuple[str, str], list[DiagnosisRowData]] = defaultdict(list)
    for row in failed:
        groups[row["store"], row["outcome"]].append(row)
    return ShownFailures(
        tuple(
            (
                member,
                tuple(
                    ShownFailure(row, tuple(REMARKS[why] for why in row["why"]))
                    for outcome in Outcome
                    for row in groups[name, outcome.value][:EACH]
                ),
            )
            for name, member in members.items()
        ),
        len(failed),
        len(rows),
    )


COMPARED = (
    "answered",
    "evidence_recall",
    "evidence_coverage",
    "answer_in_evidence",
    "token_f1",
    "words_retrieved",
)
"""Measures whose paired differences are shown; the summary has all of them."""
BY_KIND = ("words_retrieved", "evidence_recall", "token_f1", "answered")

OUTCOMES = tuple(outcome.value.replace("_", " ") for outcome in Outcome)
LAYERS = tuple(layer.value for layer in Layer)


@dataclass(frozen=True, slots=True)
class StoreView:
    """One store: its questions by outcome and by layer, in the order of OUTCOMES and LAYERS."""

    member: Member
    questions: int
    outcomes: tuple[int, ...]
    layers: tuple[int, ...]

    @property
    def answered(self) -> float:
        return self.layers[0] / self.questions


@dataclass(frozen=True, slots=True)
class KindView:
    """One kind of question, one row per store: means, then questions by layer."""

    name: str
    questions: int
    rows: tuple[tuple[Member, tuple[float | None, ...], tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """Everything the page shows of a diagnosis or a transfer."""

    title: str
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    clusters: str
    stores: tuple[StoreView, ...]
    measures: tuple[tuple[str, str, tuple[dict[str, Any], ...]], ...]
    kinds: tuple[KindView, ...]
    differences: tuple[tuple[Member, Member, dict[str, Any]], ...]
    remarks: tuple[tuple[str, tuple[int, ...]], ...]
    plot: CurvePlot | None
    failures: ShownFailures
    rules: dict[str, str]
    grading: dict[str, Any] | None
    """How the word rules and a model agree, where one graded."""

    @property
    def outcomes(self) -> tuple[str, ...]:
        return OUTCOMES

    @property
    def layers(self) -> tuple[str, ...]:
        return LAYERS


def open_view(path: Path) -> DiagnosisView:
    """The view of a diagnosis or a transfer in a folder."""
    return view_of(open_folder(path))


def view_of(folder: DownstreamFolder) -> DiagnosisView:
    summary, spec = folder.summary, folder.summary["spec"]
    stores = summary["summaries"]
    members = _members(spec, [store["store"] for store in stores])
    return DiagnosisView(
        title=_title(folder),
        facts=tuple(_facts(folder)),
        notes=tuple(_notes(spec)),
        clusters=summary["clusters"],
        stores=tuple(_store(members[store["store"]], store) for store in stores),
        measures=tuple(
            (name.replace("_", " "), about, tuple(store["measures"][name] for store in stores))
            for name, about in MEASURES.items()
        ),
        kinds=tuple(_kind(kind, stores, members) for kind in stores[0]["kinds"]),
        differences=tuple(
            (members[row["first"]], members[row["second"]], row)
            for row in summary["differences"]
            if row["measure"] in COMPARED and row["mean_difference"] is not None
        ),
        remarks=tuple(
            (name.replace("_", " "), tuple(store["why"].get(name, 0) for store in stores))
            for name in sorted({why for store in stores for why in store["why"]})
        ),
        plot=curve_plot([(members[store["store"]], store["curve"]) for store in stores]),
        failures=failures(folder.rows, members),
        rules=spec["rules"],
        grading=summary.get("grading"),
    )


def _members(spec: dict[str, Any], names: Sequence[str]) -> dict[str, Member]:
    about, peeking = spec.get("about_stores", {}), set(spec.get("peeking_writers", ()))
    members, look = {}, looks(names)
    for name in names:
        known = WRITERS.get(name)
        members[name] = Member(
            name,
            known.label if known else name,
            about.get(name) or (known.about if known else "an exported store"),
            "reference" if name in peeking else "deployable",
            replace(look[name], hollow=name in peeking),
        )
    return members


def _title(folder: DownstreamFolder) -> str:
    if folder.is_transfer:
        return f"Transfer: {folder.summary['spec']['source']['file']}"
    names = list(folder.summary["spec"]["packages"])
    return f"Diagnosis: {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _facts(folder: DownstreamFolder) -> Iterator[tuple[str, str]]:
    summary, spec = folder.summary, folder.summary["spec"]
    yield "Questions", f"{summary['questions']:,}"
    yield "Records" if folder.is_transfer else "Packages", f"{summary['packages']:,}"
    yield "Budget", str(spec["budget"])
    yield "Retriever", f"{spec['retriever']}, k = {spec['k']}"
    yield "Reader", str(spec["reader"])
    if spec.get("grader", WORDS) != WORDS:
        yield "Grader", str(spec["grader"])


def _notes(spec: dict[str, Any]) -> Iterator[str]:
    for name in ("note", "evidence"):
        if spec.get(name):
            yield str(spec[name])
    if spec.get("judge"):
        mark = judged_how(str(spec["judge"]), bool(spec.get("coverage_is_an_estimate")))
        yield f"coverage of exported memories: judge {spec['judge']}, {mark}"
    for why in spec.get("left_out", {}).values():
        yield f"left out: {why}"


def _layers(store: dict[str, Any]) -> tuple[int, ...]:
    shares = {Layer.NONE.value: store["answered"], **store["losses"]}
    return tuple(int(exact(shares[layer]) * store["questions"]) for layer in LAYERS)


def _store(member: Member, store: dict[str, Any]) -> StoreView:
    counts = tuple(store["outcomes"][outcome] for outcome in Outcome)
    return StoreView(member, store["questions"], counts, _layers(store))


def _kind(name: str, stores: Sequence[dict[str, Any]], members: dict[str, Member]) -> KindView:
    rows = []
    for store in stores:
        kind = store["kinds"][name]
        means = tuple(kind["measures"][measure]["mean"] for measure in BY_KIND)
        rows.append((members[store["store"]], means, _layers(kind)))
    return KindView(name or "-", stores[0]["kinds"][name]["questions"], tuple(rows))
