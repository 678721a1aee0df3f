"""The files that `memaudit score --json` writes: one package, or several in one run."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from memaudit.kernel.exact import Exact
from memaudit.kernel.io.file_model import FileModel, WithinOne, validated
from memaudit.kernel.losses import LOSS_STEPS

FORMAT = "memaudit-scores"
VERSION = 2

MOST_DIGITS = 4000
_SHARE = re.compile(r"([0-9]+)(?:/([0-9]+))?")
BY_FILE = ("labels", "published calls")
"""Judges that are named after their file."""


def _share(text: Any) -> Fraction:
    """A share as the diagnosis writes it: digits, of any number Python reads, and no exponent."""
    if not isinstance(text, str) or len(text) > MOST_DIGITS:
        raise ValueError("expected a share as text, such as '1/3'")
    parts = _SHARE.fullmatch(text)
    if parts is None:
        raise ValueError(f"{text[:40]!r} is not a share such as '1/3'")
    # Not Fraction(text), which reads exponents: 1e999999999 would fill the memory.
    denominator = int(parts[2] or "1")
    if not denominator:
        raise ValueError("divides by zero")
    return Fraction(int(parts[1]), denominator)


Share = Annotated[Fraction, BeforeValidator(_share), Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=10**15)]
Between = tuple[float, float]


class OptimumRow(FileModel):
    """OPT of the common union. The digest is that of the union."""

    value: float
    exact: str | None = None
    certified: bool
    bound: float
    digest: str
    assumed_share: float = 0


class RatioRow(FileModel):
    """A ratio to an optimum other than that of the score, or why there is none.

    `between` is where the ratio lies if the optimum is not certified. The digest is of the package
    behind the optimum.
    """

    value: float | None
    undefined: str | None = None
    between: Between | None = None
    optimum: float
    certified: bool
    bound: float
    digest: str
    assumed_share: float = 0


class KeptRow(FileModel):
    """What is kept of a store within the budget, over OPT of the common union.

    Over OPT of the package alone the ratio may be above 1.
    """

    memories: Count
    cost: Exact
    value: float
    exact: str | None = None
    assumed_share: float = 0
    ratio: WithinOne | None
    package_ratio: float | None = None
    union_ratio: WithinOne | None = None
    between: Between | None = None


class WrittenRow(FileModel):
    """The whole store, whatever it costs."""

    memories: Count
    cost: Exact
    value: float
    exact: str | None = None
    assumed_share: float = 0
    duplicates: Count = 0
    duplicate_cost: Exact = Fraction(0)


class LossRow(FileModel):
    """One step from OPT down. Of its units and queries the largest are listed."""

    share: Share
    value: float = 0
    units: tuple[tuple[str, float], ...] = ()
    more_units: Count = 0
    queries: tuple[str, ...] = ()
    more_queries: Count = 0


class LossDiagnosis(FileModel):
    """From OPT down to what is kept, in shares that sum to 1."""

    optimum: float = 0
    stages: dict[str, float] = Field(default_factory=dict)
    kept: Share
    losses: dict[str, LossRow]
    advice: str = ""
    exact: bool = True

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        if set(self.losses) != set(LOSS_STEPS):
            raise ValueError(f"losses are {', '.join(LOSS_STEPS)}")
        # Exactly: shares are written as fractions, so a sum that misses 1 was edited or is damaged.
        if self.kept + sum(loss.share for loss in self.losses.values()) != 1:
            raise ValueError("kept and the losses do not sum to 1")
        return self


class NoLossDiagnosis(FileModel):
    """Why there is no diagnosis."""

    undefined: str
    message: str = ""


class UnitQuery(FileModel):
    """A query that needs a unit."""

    id: str
    text: str = ""


class LostUnitRow(FileModel):
    """What a unit lost at a step; negative where it gained."""

    unit: str
    kind: str = ""
    text: str = ""
    weight: float | None = None
    lost: float
    step: str
    asked_by: tuple[UnitQuery, ...] = ()


class ScoreCell(FileModel):
    """How much of a unit a memory covers, and by whose judgement."""

    id: str
    text: str = ""
    cost: Exact | None = None
    unit: str
    value: Exact
    provenance: str = ""
    rationale: str = ""


class UnitKindRow(FileModel):
    """Units of one kind."""

    units: Count = 0
    weight: float = 0
    value: float = 0
    share: float | None = None
    kept: float | None = None
    lost: dict[str, float] | None = None
    gained: dict[str, float] | None = None


class ScoreRow(FileModel):
    """One store at one budget. `lost_units` is None where the file was made without cells."""

    store: str = Field(min_length=1)
    budget: Exact
    asked: str
    score: WithinOne | None
    interval: Between | None = None
    """Around the score, by the error of an offline judge."""
    chance: WithinOne | None = None
    """What the store scores against conversations it is not about."""
    unrelated: bool = False
    between: Between | None = None
    undefined: str | None = None
    kept_by: str
    optimum: OptimumRow
    kept: KeptRow
    written: WrittenRow
    package_ratio: RatioRow
    union_ratio: RatioRow
    random_cut: WithinOne | None = None
    """The mean score if memories were taken in random order."""
    best_subset: KeptRow
    policies: dict[str, KeptRow] = Field(default_factory=dict)
    unit_kinds: dict[str, UnitKindRow] = Field(default_factory=dict)
    diagnosis: LossDiagnosis | NoLossDiagnosis
    lost_units: tuple[LostUnitRow, ...] | None = None

    @property
    def fits(self) -> bool:
        """Whether nothing had to be cut."""
        return self.written.cost <= self.budget

    @property
    def loss_diagnosis(self) -> LossDiagnosis | None:
        return self.diagnosis if isinstance(self.diagnosis, LossDiagnosis) else None

    @property
    def why_no_diagnosis(self) -> str:
        if isinstance(self.diagnosis, LossDiagnosis):
            return ""
        return self.diagnosis.message or self.diagnosis.undefined


class CompleteRow(FileModel):
    """What a whole store is worth, over OPT of the common union without a budget."""

    value: WithinOne | None
    interval: Between | None = None
    between: Between | None = None
    undefined: str | None = None


class LeanRow(FileModel):
    """The least budget that is worth as much as a whole store, over what the store costs."""

    value: WithinOne | None
    interval: Between | None = None
    between: Between | None = None
    undefined: str | None = None
    least_cost: tuple[Exact, Exact] | None = None
    """Its lowest and highest value; equal where it is known."""


class VerdictRow(FileModel):
    """One store as it stands, without a budget."""

    store: str
    memories: Count
    cost: Exact
    measure: str
    complete: CompleteRow
    lean: LeanRow


class StoreRow(FileModel):
    """What the score of a store does not see."""

    name: str
    digest: str = ""
    warnings: tuple[str, ...] = ()
    unread_rows: Count = 0
    undecided_cells: Count = 0
    left_out: dict[str, Count] = Field(default_factory=dict)
    without_salience: dict[str, Count] = Field(default_factory=dict)
    mixed_users: tuple[str, ...] = ()


def _this_version(version: Any) -> Any:
    if version != VERSION:
        raise ValueError(
            f"version {version!r} of the format is not read, this program writes {VERSION}; score "
            "the stores again"
        )
    return version


class EscalationRow(FileModel):
    """What another judge was asked after the offline judge."""

    judge: str
    goal: str
    asked: Count
    pairs: Count
    rounds: Count
    settled: bool
    certain: bool = False
    """Whether no other answer could change a score."""
    optimum: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """By budget, where OPT of the common union lies whatever the other answers would be."""


class ScoreFile(FileModel):
    """All stores of one package."""

    format: Literal["memaudit-scores"]
    version: Annotated[int, BeforeValidator(_this_version)]
    package: str
    digest: str
    union_digest: str
    judge: str
    coverage_is_an_estimate: bool
    package_cells: str
    judge_digest: str | None = None
    """Of the file of an offline judge."""
    draws: Count = 0
    escalation: EscalationRow | None = None
    cost_rule: str
    group_cap: Count
    undecided_cells: Count = 0
    stores: tuple[StoreRow, ...] = ()
    verdicts: tuple[VerdictRow, ...] = ()
    """Empty in files of 0.2.0 and before."""
    scores: tuple[ScoreRow, ...]
    cells: dict[str, tuple[ScoreCell, ...]] = Field(default_factory=dict)

    @property
    def judge_kind(self) -> str:
        """What has to agree between files: the judge, or its kind if it is named after a file."""
        return next((kind for kind in BY_FILE if self.judge.startswith(f"{kind} ")), self.judge)


class NotScored(FileModel):
    """A package of a run, or one store of it, that has no scores."""

    package: str
    store: str | None = None
    reason: str


class MeanRow(FileModel):
    """A mean over packages with its interval."""

    n: Count = 0
    mean: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


class StoreStanding(FileModel):
    """One store at one budget over all packages."""

    store: str
    budget: str
    score: MeanRow = MeanRow()
    best_subset: MeanRow = MeanRow()
    shares: dict[str, Share] | None = None


class ScoreSummary(FileModel):
    """Means over the packages of a run."""

    standings: tuple[StoreStanding, ...] = ()


class ScoreRun(FileModel):
    """The scores of one command: a file per package, what was not scored, and means."""

    packages: tuple[ScoreFile, ...]
    not_scored: tuple[NotScored, ...] = ()
    summary: ScoreSummary = ScoreSummary()


def read_score_run(data: Mapping[str, Any], place: str) -> ScoreRun:
    """A score file of either shape: one package, or several under `packages`."""
    if isinstance(data.get("packages"), list):
        return validated(ScoreRun, data, place)
    return ScoreRun(packages=(validated(ScoreFile, data, place),))
