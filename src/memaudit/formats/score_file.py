"""The files that `memaudit score --json` writes: one package, or several in one run."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from memaudit.core.exact import Exact
from memaudit.formats.file_model import FileModel, WithinOne, validated

FORMAT = "memaudit-scores"
VERSION = 1

MOST_DIGITS = 4000
_SHARE = re.compile(r"([0-9]+)(?:/([0-9]+))?")
BY_FILE = ("labels", "published calls")
"""Judges that are named after their file."""
LOSS_STEPS = {
    "generation": "only other systems' memories express it",
    "extraction": "never written",
    "cost": "written, but too expensive to fit",
    "selection": "a better subset of its own memories fits",
}
"""The losses in order, and what each means; scoring/loss_diagnosis.py measures them."""


def _share(text: Any) -> Fraction:
    """A share as the diagnosis writes it: digits, of any number Python reads, and no exponent."""
    if not isinstance(text, str) or len(text) > MOST_DIGITS:
        raise ValueError("expected a share as text, such as '1/3'")
    parts = _SHARE.fullmatch(text)
    if parts is None:
        raise ValueError(f"{text[:40]!r} is not a share such as '1/3'")
    denominator = int(parts[2] or "1")
    if not denominator:
        raise ValueError("divides by zero")
    return Fraction(int(parts[1]), denominator)


def _no_diagnosis(data: Any) -> Any:
    """Files of earlier versions say in a text alone why there is no diagnosis."""
    return {"undefined": data} if isinstance(data, str) else data


Share = Annotated[Fraction, BeforeValidator(_share), Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=10**15)]
Between = tuple[float, float]


class RatioRow(FileModel):
    """A ratio and its optimum, or why there is none.

    `between` is where the ratio lies if the optimum is not certified. The digest is of the package
    behind the optimum.
    """

    value: float | None
    undefined: str | None = None
    between: Between | None = None
    optimum: float | None = None
    certified: bool = True
    bound: float | None = None
    digest: str | None = None
    assumed_share: float | None = None


class PrunedRow(FileModel):
    """A store cut to the budget."""

    value: float | None = None
    assumed_share: float | None = None
    cost: Exact | None = None
    memories: Count | None = None
    union_ratio: float | None = None
    union_ratio_between: Between | None = None
    common_union_ratio: WithinOne | None
    common_union_ratio_between: Between | None = None


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
    kept_by: str = ""
    kept: Share
    losses: dict[str, LossRow]
    advice: str = ""
    exact: bool = True

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        if set(self.losses) != set(LOSS_STEPS):
            raise ValueError(f"losses are {', '.join(LOSS_STEPS)}")
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
    """A unit that is worth less than in OPT, and at which steps."""

    unit: str
    kind: str = ""
    text: str = ""
    weight: float | None = None
    lost: float
    kept: float | None = None
    step: str
    parts: dict[str, float] = Field(default_factory=dict)
    queries: tuple[UnitQuery, ...] = ()


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
    losses: dict[str, float] | None = None


def _known_kinds(kinds: Any) -> Any:
    """Without the kinds of files by early versions, which gave a number each."""
    if not isinstance(kinds, dict):
        return kinds
    return {kind: row for kind, row in kinds.items() if not isinstance(row, int | float)}


class ScoreRow(FileModel):
    """One store at one budget. `lost_units` is None where the file was made without cells."""

    store: str = Field(min_length=1)
    budget: Exact
    memories: Count | None = None
    duplicates: Count = 0
    duplicate_cost: Exact = Fraction(0)
    value: float | None = None
    assumed_share: float | None = None
    cost: Exact | None = None
    feasible: bool
    package_ratio: RatioRow
    union_ratio: RatioRow = RatioRow(value=None)
    common_union_ratio: RatioRow
    upper_pruned: PrunedRow
    pruned: dict[str, PrunedRow] = Field(default_factory=dict)
    unit_kinds: Annotated[dict[str, UnitKindRow], BeforeValidator(_known_kinds)] = Field(
        default_factory=dict
    )
    diagnosis: Annotated[LossDiagnosis | NoLossDiagnosis, BeforeValidator(_no_diagnosis)]
    lost_units: tuple[LostUnitRow, ...] | None = None

    @property
    def loss_diagnosis(self) -> LossDiagnosis | None:
        return self.diagnosis if isinstance(self.diagnosis, LossDiagnosis) else None

    @property
    def why_no_diagnosis(self) -> str:
        if isinstance(self.diagnosis, LossDiagnosis):
            return ""
        return self.diagnosis.message or self.diagnosis.undefined


class StoreRow(FileModel):
    """What the score of a store does not see. Files of earlier versions say less."""

    name: str
    digest: str = ""
    warnings: tuple[str, ...] = ()
    unread_rows: Count = 0
    undecided_cells: Count = 0
    left_out: dict[str, Count] = Field(default_factory=dict)
    without_salience: dict[str, Count] = Field(default_factory=dict)
    mixed_users: tuple[str, ...] = ()


class LazyRow(FileModel):
    """What lazy judging asked."""

    pairs: Count
    kept_by_filter: Count
    asked: Count
    rounds: Count
    stopped_early: bool = False


class ScoreFile(FileModel):
    """All stores of one package. Files of earlier versions do not name the cost rule."""

    package: str
    digest: str = ""
    judge: str
    coverage_is_an_estimate: bool
    package_cells: str = "kept"
    lazy: LazyRow | None = None
    cost_rule: str | None = None
    group_cap: Count | None = None
    undecided_cells: Count = 0
    stores: tuple[StoreRow, ...] = ()
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
    budget: Exact
    kept: MeanRow = MeanRow()
    upper_pruned: MeanRow = MeanRow()
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
