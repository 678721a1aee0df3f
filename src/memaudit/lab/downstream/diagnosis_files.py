"""The files of a diagnosis or a transfer: summary.json and rows.jsonl, and the names they use.

Pages and figures use the data itself; what they rely on is checked here, once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from memaudit.kernel.exact import Exact, exact
from memaudit.kernel.io.file_model import (
    LARGEST,
    Count,
    ExactText,
    StrictFileModel,
    WithinOne,
)
from memaudit.kernel.package.unit_parts import by_statement, named_part

WORDS = "words"
"""The grader of this version: a rule that compares words. In 0.1 a model could grade."""
Verdict = Literal["right", "stale", "wrong", "abstained", "unclear"]


class Outcome(StrEnum):
    """What became of a question."""

    RIGHT = "answered_right"
    NEVER_WRITTEN = "evidence_never_written"
    PRUNED = "written_but_pruned"
    NOT_RETRIEVED = "kept_not_retrieved"
    ABSTAINED = "retrieved_but_abstained"
    WRONG = "retrieved_but_wrong"
    UNSUPPORTED = "answered_without_support"
    STALE = "stale_answer"
    UNCERTAIN = "uncertain"


class Layer(StrEnum):
    """Who lost the answer. The last two are columns of their own: no layer can be blamed."""

    NONE = "answered"
    WRITE = "write"
    RETRIEVAL = "retrieval"
    READER = "reader"
    LUCK = "unsupported"
    UNCERTAIN = "uncertain"


LOST_BY = {
    Layer.WRITE: "lost by write",
    Layer.RETRIEVAL: "lost by retrieval",
    Layer.READER: "lost by reader",
    Layer.LUCK: "right without support",
    Layer.UNCERTAIN: "no layer can be blamed",
}
"""Layers in words."""


MEASURES = {
    "answered": "1 where the outcome is answered_right",
    "right": "1 where the words are right, supported or not",
    "evidence_recall": "share of the required units that the k memories cover in full; undefined "
    "where none is required",
    "evidence_coverage": "the same with units covered in part counted in part: the mean share of a "
    "required unit that the k memories cover",
    "answer_in_evidence": "1 where a retrieved memory that covers any of a required unit holds the "
    "gold answer, by answer-v4; undefined where none is required, without a gold answer, or where "
    "abstaining is right",
    "stale_retrieval": "1 where a retrieved memory covers a stale unit of the question and nothing "
    "that supports its answer; undefined where it has no stale unit",
    "stale_answer": "1 where the answer is taken from what no longer holds; undefined where the "
    "question has no stale unit",
    "words_retrieved": "words of the retrieved memories",
    "exact_match": "1 where the answer is the gold answer, or abstains where that is right; "
    "undefined without a gold answer or a reply",
    "token_f1": "token F1 with the gold answer, likewise",
    "words_kept": "words of everything the store keeps",
}
"""Every measure, in the order of tables."""

COMPARED = (
    "answered",
    "evidence_recall",
    "evidence_coverage",
    "answer_in_evidence",
    "token_f1",
    "words_retrieved",
)
"""Measures whose paired differences are shown; the summary has all of them."""

REMARKS = {
    "question_without_evidence": "the package names no evidence for it",
    "no_evidence_needed": "nothing is known about it: the right answer is to abstain",
    "empty_store": "the store holds no memory at all",
    "nothing_kept": "no memory fits the budget",
    "retriever_returned_nothing": "memories are kept, and the retriever found none",
    "partly_written": "some of a required unit was written, not all of it",
    "partly_retrieved": "some of a required unit was retrieved, not all of it",
    "partly_supported": "one required unit was retrieved in full, another was not",
    "coverage_undecided": "the judge of coverage gave no answer about a required unit",
    "answered_anyway": "the reader answered without the evidence",
    "abstained": "the reader abstained",
    "abstained_in_the_dark": "right to abstain, without the evidence that says so",
    "empty_answer": "the reader said it answers, and the answer is blank",
    "unparseable_reply": "the reply is not of the form asked for",
    "refused": "the model declined",
    "no_reply": "the server gave no reply",
    "no_gold_answer": "the package holds no answer to compare with",
    "answer_cannot_be_scored": "the answer is partly the gold answer: words cannot tell",
    "grader_unclear": "the grader cannot tell whether the answer is right",
    "not_graded": "the grader's reply is not of the form asked for, or it declined",
    "grader_no_reply": "the server gave no reply to the grader",
    "cites_unknown_memory": "the reader names a memory it was not shown",
    "quote_not_verbatim": "the reader quotes what its memory does not say",
}
"""Remarks that a row can carry; all are counted."""


def _share(text: str) -> str:
    if not 0 <= exact(text) <= 1:
        raise ValueError("is not a share between 0 and 1")
    return text


def _known_remarks(names: list[str]) -> list[str]:
    if unknown := [name for name in names if name not in REMARKS]:
        raise ValueError(f"{unknown[0][:40]!r} is not a remark that this version knows")
    return names


Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Words = Annotated[float, Field(ge=0, le=LARGEST)]
ShareText = Annotated[str, AfterValidator(_share)]
Texts = dict[str, str]


class ReadingSpec(StrictFileModel):
    """How stores were read."""

    retriever: str
    k: Count
    reader: str
    grader: str = WORDS


class TransferSource(StrictFileModel):
    """The file of conversations behind a transfer."""

    file: str


class DiagnosisSpec(ReadingSpec):
    """What was diagnosed: packages, or the records of a file."""

    budget: ExactText | str
    rules: Texts
    packages: dict[str, str] | None = None
    source: TransferSource | None = None
    about_stores: Texts = Field(default_factory=dict)
    peeking_writers: list[str] = Field(default_factory=list)
    kept_by: dict[str, dict[str, Count]] = Field(default_factory=dict)
    """By store, why it fits the budget in how many packages."""
    note: str | None = None
    evidence: str | None = None
    judge: str | None = None
    coverage_is_an_estimate: bool = False
    left_out: Texts = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_packages_or_source(self) -> Self:
        if not self.packages and self.source is None:
            raise ValueError("it names neither packages nor a source")
        if {"packages", "source"} & {
            name for name in self.model_fields_set if getattr(self, name) is None
        }:
            raise ValueError("its packages or its source are nothing")
        return self


class WithInterval(StrictFileModel):
    """A number with an interval, where there is one."""

    ci_low: Number | None
    ci_high: Number | None

    @model_validator(mode="after")
    def _interval_has_two_ends(self) -> Self:
        if (self.ci_low is None) != (self.ci_high is None):
            raise ValueError("an interval has two ends")
        return self


class QuestionMean(WithInterval):
    """A mean over questions."""

    n: Count
    mean: Number | None


class MeasureMean(QuestionMean):
    """The mean of a measure, and where it is undefined."""

    undefined: Count


class ShareMean(QuestionMean):
    """A mean of shares."""

    mean: WithinOne | None
    ci_low: WithinOne | None
    ci_high: WithinOne | None


class OutcomeCounts(StrictFileModel):
    """Questions by outcome, and by the layer that lost them."""

    questions: Annotated[Count, Field(ge=1)]
    outcomes: dict[str, Count]
    answered: ShareText
    losses: dict[str, ShareText]
    measures: dict[str, MeasureMean]

    @property
    def shares(self) -> dict[str, Fraction]:
        """The share of questions that were answered, and what each layer lost; the sum is 1."""
        shares = {Layer.NONE.value: self.answered, **self.losses}
        return {name: exact(share) for name, share in shares.items()}

    @property
    def layers(self) -> dict[str, int]:
        """Questions by the layer that lost them, the answered ones first."""
        return {layer.value: int(self.shares[layer] * self.questions) for layer in Layer}

    @property
    def by_outcome(self) -> list[int]:
        """Questions by outcome, in the order of outcomes."""
        return [self.outcomes[outcome] for outcome in Outcome]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for name, wanted, names in (
            ("outcomes", set(Outcome), self.outcomes),
            ("losses", set(LOST_BY), self.losses),
            ("measures", set(MEASURES), self.measures),
        ):
            if missing := sorted(wanted - set(names)):
                raise ValueError(f"its {name} lack {str(missing[0])!r}")
        return self


class CurvePoint(StrictFileModel):
    """One point of a curve: the first memories, up to a number."""

    first: Count
    words: Words
    evidence_recall: ShareMean
    evidence_coverage: ShareMean

    @model_validator(mode="after")
    def _defined_alike(self) -> Self:
        if (self.evidence_recall.mean is None) != (self.evidence_coverage.mean is None):
            raise ValueError("recall and coverage are defined for the same questions")
        return self


class StoreSummary(OutcomeCounts):
    """One store."""

    store: str
    why: dict[str, Count]
    kinds: dict[str, OutcomeCounts]
    curve: list[CurvePoint]


class StoreDifference(WithInterval):
    """Two stores on one measure."""

    measure: str
    first: str
    second: str
    n: Count
    mean_difference: Number | None
    p: WithinOne | None
    p_holm: WithinOne | None


class DiagnosisSummary(StrictFileModel):
    """Everything but the rows. All stores have the same questions."""

    spec: DiagnosisSpec
    questions: Annotated[Count, Field(ge=1)]
    packages: Count
    clusters: str
    about: Texts = Field(default_factory=dict)
    summaries: Annotated[list[StoreSummary], Field(min_length=1)]
    differences: list[StoreDifference]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        stores = {summary.store for summary in self.summaries}
        if len(stores) < len(self.summaries):
            raise ValueError("two of its stores have the same name")
        for summary in self.summaries:
            if summary.questions != self.questions:
                raise ValueError(f"{summary.store[:40]!r} has another number of questions")
            if summary.kinds.keys() != self.summaries[0].kinds.keys():
                raise ValueError(f"{summary.store[:40]!r} has other kinds of questions")
        if any({pair.first, pair.second} - stores for pair in self.differences):
            raise ValueError("it compares a store that it does not have")
        return self

    @property
    def rows(self) -> int:
        """How many rows the folder has."""
        return self.questions * len(self.summaries)


class CoveringMemory(StrictFileModel):
    """A memory that covers a unit: how much, whether it was kept, and its rank if retrieved."""

    id: str
    covers: Exact
    kept: bool
    rank: Count | None


class UnitFate(StrictFileModel):
    """What became of a required unit: of `needs`, how much was left at each stage."""

    unit: str
    says: str
    supports: bool
    stage: str
    needs: Exact
    written: Exact
    kept: Exact
    retrieved: Exact
    memories: list[CoveringMemory]


@dataclass(frozen=True, slots=True)
class StatementFate:
    """What became of a required unit, or of the required parts of a statement, as people read it.

    `names` are those of the parts, in the order of `units`; empty for a plain unit.
    """

    id: str
    says: str
    units: tuple[UnitFate, ...]
    names: tuple[str, ...] = ()

    @property
    def supports(self) -> bool:
        return self.units[0].supports

    @property
    def stages(self) -> tuple[tuple[str, str], ...]:
        """Every stage that it got to, with the names of the parts that did."""
        stages: dict[str, list[str]] = {}
        for place, unit in enumerate(self.units):
            stages.setdefault(unit.stage, []).extend(self.names[place : place + 1])
        return tuple((stage, ", ".join(names)) for stage, names in stages.items())

    @property
    def amounts(self) -> tuple[Fraction, ...]:
        """Needed, written, kept and retrieved: coverage of a plain unit, else the number of parts
        that were so in full."""
        if not self.names:
            (unit,) = self.units
            return unit.needs, unit.written, unit.kept, unit.retrieved
        return (
            Fraction(len(self.units)),
            Fraction(sum(unit.written >= unit.needs for unit in self.units)),
            Fraction(sum(unit.kept >= unit.needs for unit in self.units)),
            Fraction(sum(unit.retrieved >= unit.needs for unit in self.units)),
        )

    @property
    def memories(self) -> tuple[tuple[CoveringMemory, str], ...]:
        """Every memory that covers some of it, with the names of the parts that it covers."""
        found: dict[str, tuple[CoveringMemory, list[str]]] = {}
        for place, unit in enumerate(self.units):
            for memory in unit.memories:
                covered = found.setdefault(memory.id, (memory, []))[1]
                covered.extend(self.names[place : place + 1])
        return tuple((memory, ", ".join(names)) for memory, names in found.values())


def statement_fates(evidence: Iterable[UnitFate]) -> list[StatementFate]:
    """The required units of a row, with the parts of a statement together."""
    fates = []
    named = [(unit, named_part(unit.unit, unit.says)) for unit in evidence]
    for own in by_statement(named, lambda row: row[1] and (row[1].statement, row[0].supports)):
        units = tuple(unit for unit, _ in own)
        parts = tuple(part for _, part in own if part is not None)
        if parts:
            names = tuple(part.name for part in parts)
            fates.append(StatementFate(parts[0].statement, parts[0].text, units, names))
        else:
            fates.append(StatementFate(units[0].unit, units[0].says, units))
    return fates


class AnswerGrades(StrictFileModel):
    """The verdicts on an answer that a model graded; it gave none where `model` is None."""

    words: Verdict
    model: Verdict | None
    reason: str

    @property
    def text(self) -> str:
        reason = f" ({self.reason})" if self.reason else ""
        return f"{self.model or 'not decided'} by the model{reason}, {self.words} by words"


class DiagnosisRow(StrictFileModel):
    """One question at one store."""

    package: str
    store: str
    query: str
    kind: str = ""
    question: str
    gold: str | None
    abstention: bool
    outcome: Annotated[Outcome, Field(strict=False)]
    layer: Annotated[Layer, Field(strict=False)]
    grades: AnswerGrades | None = None
    why: Annotated[list[str], AfterValidator(_known_remarks)]
    reply: str
    answer: str
    used: list[str]
    retrieved: list[str]
    evidence: list[UnitFate]
    texts: Texts

    @property
    def statements(self) -> list[StatementFate]:
        """Its evidence, with the parts of a statement together."""
        return statement_fates(self.evidence)

    @property
    def failed(self) -> bool:
        return self.outcome is not Outcome.RIGHT

    @property
    def right(self) -> str:
        """The right answer in words."""
        return "to say that it is not known" if self.abstention else self.gold or "not given"

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.outcome is Outcome.RIGHT) != (self.layer is Layer.NONE):
            raise ValueError("its outcome and its layer do not fit together")
        named = {
            *self.retrieved,
            *(memory.id for unit in self.evidence for memory in unit.memories),
        }
        if missing := sorted(named - self.texts.keys()):
            raise ValueError(f"the text of memory {missing[0][:40]!r} is missing")
        return self
