"""The files `memaudit score --json` wrote, as far as a leaderboard needs them."""

import re
from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from memaudit.core.exact import Exact
from memaudit.scoring.caveats import INCOMPLETE
from memaudit.scoring.diagnosis import STEPS

MOST_DIGITS = 4000
_SHARE = re.compile(r"([0-9]+)(?:/([0-9]+))?")
MOST_COUNTED = 10**15
"""More memories, rows or cells than this are no count of anything."""
BY_FILE = ("labels", "published calls")
"""Judges that are named after their file."""
POLICY = "recency"
"""How a store over budget is cut, as in the diagnosis."""
SIGNS = (*INCOMPLETE, "partly read")
"""How warnings begin that say a store is not all there."""


def _share(text: Any) -> Fraction:
    """A share as the diagnosis writes it: digits, of any number Python reads, and no exponent."""
    if not isinstance(text, str) or len(text) > MOST_DIGITS:
        raise ValueError("expected a share as text, such as '1/3'")
    said = _SHARE.fullmatch(text)
    if said is None:
        raise ValueError(f"{text[:40]!r} is not a share such as '1/3'")
    whole = int(said[2] or "1")
    if not whole:
        raise ValueError("divides by zero")
    return Fraction(int(said[1]), whole)


Share = Annotated[Fraction, BeforeValidator(_share), Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=MOST_COUNTED)]
WithinOne = Annotated[float, Field(ge=0, le=1)]


class _Read(BaseModel):
    # Later versions may write more: what is not known is left alone.
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class RatioRow(_Read):
    """A ratio, or why there is none; the digest is of the package behind the optimum."""

    value: float | None
    undefined: str | None = None
    digest: str | None = None


class CutRow(_Read):
    """A store cut to the budget, over the optimum of the common union."""

    common_union_ratio: WithinOne | None


class LossRow(_Read):
    """One loss of a diagnosis."""

    share: Share


class DiagnosisRow(_Read):
    """Shares that sum to 1."""

    kept: Share
    losses: dict[str, LossRow]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if set(self.losses) != set(STEPS):
            raise ValueError(f"losses are {', '.join(STEPS)}")
        if self.kept + sum(loss.share for loss in self.losses.values()) != 1:
            raise ValueError("kept and the losses do not sum to 1")
        return self


class NoDiagnosisRow(_Read):
    """Why there is no diagnosis; files of earlier versions say it in a text alone."""

    undefined: str


class StoreRow(_Read):
    """What the score of a store does not see. Files of earlier versions say less."""

    name: str
    warnings: tuple[str, ...] = ()
    unread_rows: Count = 0
    undecided_cells: Count = 0
    left_out: dict[str, Count] = Field(default_factory=dict)
    without_salience: dict[str, Count] = Field(default_factory=dict)

    @property
    def is_incomplete(self) -> bool:
        """Whether rows of the export are missing, or may be."""
        return bool(self.unread_rows) or any(one.startswith(SIGNS) for one in self.warnings)


class ScoreRow(_Read):
    """One store at one budget."""

    store: str = Field(min_length=1)
    budget: Exact
    memories: Count | None = None
    feasible: bool
    package_ratio: RatioRow
    common_union_ratio: RatioRow
    upper_pruned: CutRow
    pruned: dict[str, CutRow] = Field(default_factory=dict)
    diagnosis: DiagnosisRow | NoDiagnosisRow | str

    @property
    def kept(self) -> float | None:
        """The common-union ratio of what the store keeps within the budget."""
        if self.feasible:
            return self.common_union_ratio.value
        return self.pruned[POLICY].common_union_ratio if POLICY in self.pruned else None

    @property
    def undefined(self) -> str:
        """Why `kept` is missing; empty where it is there."""
        if self.kept is not None:
            return ""
        return self.common_union_ratio.undefined or f"no {POLICY} row"


class NotScored(_Read):
    """A package of a run, or one store of it, that has no scores."""

    package: str
    store: str | None = None
    reason: str


class ScoreFile(_Read):
    """All stores of one package. Files of earlier versions do not name the cost rule."""

    package: str
    judge: str
    coverage_is_an_estimate: bool
    cost_rule: str | None = None
    group_cap: Count | None = None
    undecided_cells: Count = 0
    stores: tuple[StoreRow, ...] = ()
    scores: tuple[ScoreRow, ...]

    @property
    def judge_kind(self) -> str:
        """What has to agree: the judge, but for files, which differ from package to package."""
        return next((kind for kind in BY_FILE if self.judge.startswith(f"{kind} ")), self.judge)
