"""What the files of a diagnosis say, as typed models: a summary or row of another form is refused.

Pages and figures read the data itself; what they rely on is said here, once.
"""

from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from memaudit.core.exact import exact
from memaudit.downstream.examine import WHY
from memaudit.downstream.measures import ABOUT
from memaudit.downstream.outcomes import LOST_BY, Layer, Outcome

LARGEST = 1e60
"""Of a number: sums of such numbers stay finite."""
MOST = 10**12
"""Of a count; no one asks more questions."""


def _share(text: str) -> str:
    if not 0 <= exact(text) <= 1:
        raise ValueError("is not a share between 0 and 1")
    return text


def _number(value: int | float | str) -> int | float | str:
    exact(value)
    return value


def _known_remarks(names: list[str]) -> list[str]:
    if unknown := [name for name in names if name not in WHY]:
        raise ValueError(f"{unknown[0][:40]!r} is no remark that this version knows")
    return names


Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
WithinOne = Annotated[float, Field(ge=0, le=1)]
Words = Annotated[float, Field(ge=0, le=LARGEST)]
Count = Annotated[int, Field(ge=0, le=MOST)]
Exact = Annotated[int | float | str, AfterValidator(_number)]
Shares = Annotated[str, AfterValidator(_share)]
Texts = dict[str, str]


class Stated(BaseModel):
    """Read as it is; later versions may write more, and what is not known is left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, allow_inf_nan=False)


class Reading(Stated):
    """How stores were read."""

    retriever: str
    k: Count
    reader: str


class Source(Stated):
    """The file of conversations behind a transfer."""

    file: str


class DiagnosisSpec(Reading):
    """What was diagnosed: packages, or the records of a file."""

    budget: Exact | str
    rules: Texts
    packages: dict[str, str] | None = None
    source: Source | None = None
    about_stores: Texts = {}
    peeking_writers: list[str] = []
    note: str | None = None
    evidence: str | None = None
    judge: str | None = None
    coverage_is_an_estimate: bool = False
    left_out: Texts = {}

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not self.packages and self.source is None:
            raise ValueError("it names neither packages nor a source")
        if {"packages", "source"} & {
            name for name in self.model_fields_set if getattr(self, name) is None
        }:
            raise ValueError("its packages or its source are nothing")
        return self


class Mean(Stated):
    """A mean with its interval, where there is one."""

    n: Count
    mean: Number | None
    ci_low: Number | None
    ci_high: Number | None

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.ci_low is None) != (self.ci_high is None):
            raise ValueError("an interval has two ends")
        return self


class Measured(Mean):
    """The mean of a measure, and where it is undefined."""

    undefined: Count


class ShareMean(Mean):
    """A mean of shares."""

    mean: WithinOne | None
    ci_low: WithinOne | None
    ci_high: WithinOne | None


class Lost(Stated):
    """Questions by outcome, and by the layer that lost them."""

    questions: Annotated[Count, Field(ge=1)]
    outcomes: dict[str, Count]
    answered: Shares
    losses: dict[str, Shares]
    measures: dict[str, Measured]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for name, wanted, found in (
            ("outcomes", set(Outcome), self.outcomes),
            ("losses", set(LOST_BY), self.losses),
            ("measures", set(ABOUT), self.measures),
        ):
            if missing := sorted(wanted - set(found)):
                raise ValueError(f"its {name} lack {str(missing[0])!r}")
        return self


class Depth(Stated):
    """One point of a curve: the first so many memories."""

    first: Count
    words: Words
    evidence_recall: ShareMean
    evidence_coverage: ShareMean

    @model_validator(mode="after")
    def _alike(self) -> Self:
        if (self.evidence_recall.mean is None) != (self.evidence_coverage.mean is None):
            raise ValueError("recall and coverage are defined for the same questions")
        return self


class StoreSummary(Lost):
    """One store."""

    store: str
    why: dict[str, Count]
    kinds: dict[str, Lost]
    curve: list[Depth]


class Difference(Stated):
    """Two stores on one measure."""

    measure: str
    first: str
    second: str
    n: Count
    mean_difference: Number | None
    ci_low: Number | None
    ci_high: Number | None
    p: WithinOne | None
    p_holm: WithinOne | None

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.ci_low is None) != (self.ci_high is None):
            raise ValueError("an interval has two ends")
        return self


class DiagnosisSummary(Stated):
    """Everything but the rows; all stores have the same questions."""

    spec: DiagnosisSpec
    questions: Annotated[Count, Field(ge=1)]
    packages: Count
    clusters: str
    summaries: Annotated[list[StoreSummary], Field(min_length=1)]
    differences: list[Difference]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        stores = {one.store for one in self.summaries}
        if len(stores) < len(self.summaries):
            raise ValueError("two of its stores have the same name")
        for one in self.summaries:
            if one.questions != self.questions:
                raise ValueError(f"{one.store[:40]!r} has another number of questions")
            if one.kinds.keys() != self.summaries[0].kinds.keys():
                raise ValueError(f"{one.store[:40]!r} has other kinds of questions")
        if any({one.first, one.second} - stores for one in self.differences):
            raise ValueError("it compares a store that it does not have")
        return self

    @property
    def rows(self) -> int:
        """How many rows it is of."""
        return self.questions * len(self.summaries)


class Link(Stated):
    """A memory that covers a unit."""

    id: str
    covers: Exact
    kept: bool
    rank: Count | None


class Chain(Stated):
    """What became of a required unit."""

    unit: str
    says: str
    supports: bool
    stage: str
    needs: Exact
    written: Exact
    kept: Exact
    retrieved: Exact
    memories: list[Link]


class DiagnosisRow(Stated):
    """One question at one store."""

    package: str
    store: str
    query: str
    question: str
    gold: str | None
    abstention: bool
    outcome: Annotated[Outcome, Field(strict=False)]
    layer: Annotated[Layer, Field(strict=False)]
    why: Annotated[list[str], AfterValidator(_known_remarks)]
    reply: str
    answer: str
    used: list[str]
    retrieved: list[str]
    evidence: list[Chain]
    texts: Texts

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.outcome is Outcome.RIGHT) != (self.layer is Layer.NONE):
            raise ValueError("its outcome and its layer do not fit together")
        named = {*self.retrieved, *(link.id for one in self.evidence for link in one.memories)}
        if missing := sorted(named - self.texts.keys()):
            raise ValueError(f"the text of memory {missing[0][:40]!r} is missing")
        return self
