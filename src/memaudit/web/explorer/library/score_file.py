"""Score files in full: what a leaderboard does not need, lost units and cells, is read here too."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Exact
from memaudit.formats.score_file import POLICY, Count, Share, StoreRow
from memaudit.io.strict_json import first_fault
from memaudit.web.explorer.addresses import slug

Between = tuple[float, float]


class _Read(BaseModel):
    # Later versions may write more, and earlier ones wrote less.
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Ratio(_Read):
    """A ratio and its optimum; `between` is where it lies if the optimum is not certified."""

    value: float | None = None
    undefined: str | None = None
    between: Between | None = None
    optimum: float | None = None
    certified: bool = True
    bound: float | None = None


class Cut(_Read):
    """A store cut to the budget."""

    value: float | None = None
    cost: Exact | None = None
    memories: Count | None = None
    union_ratio: float | None = None
    union_ratio_between: Between | None = None
    common_union_ratio: float | None = None
    common_union_ratio_between: Between | None = None


class Loss(_Read):
    """One step down; of its units and queries the largest are listed."""

    share: Share
    value: float = 0
    units: tuple[tuple[str, float], ...] = ()
    more_units: Count = 0
    queries: tuple[str, ...] = ()
    more_queries: Count = 0


class Diagnosis(_Read):
    """From OPT down to what is kept."""

    optimum: float = 0
    kept_by: str = ""
    kept: Share
    losses: dict[str, Loss]
    advice: str = ""
    exact: bool = True


class NoDiagnosis(_Read):
    """Why there is none."""

    undefined: str
    message: str = ""


class Asked(_Read):
    """A query that needs a unit."""

    id: str
    text: str = ""


class LostUnit(_Read):
    """A unit that is worth less than in OPT, and at which steps."""

    unit: str
    kind: str = ""
    text: str = ""
    weight: float | None = None
    lost: float
    kept: float | None = None
    step: str
    parts: dict[str, float] = Field(default_factory=dict)
    queries: tuple[Asked, ...] = ()


class Cell(_Read):
    """How much of a unit a memory holds, and who says so."""

    id: str
    text: str = ""
    cost: Exact | None = None
    unit: str
    value: Exact
    provenance: str = ""
    rationale: str = ""


class Kind(_Read):
    """Units of one kind."""

    units: Count = 0
    weight: float = 0
    value: float = 0
    share: float | None = None
    kept: float | None = None
    losses: dict[str, float] | None = None


def _told(data: Any) -> Any:
    """Files of earlier versions say in a text alone why there is no diagnosis."""
    return {"undefined": data} if isinstance(data, str) else data


class Score(_Read):
    """One store at one budget. `lost_units` is None where the file was made without cells."""

    store: str
    budget: Exact
    memories: Count | None = None
    value: float | None = None
    cost: Exact | None = None
    feasible: bool
    package_ratio: Ratio = Ratio()
    union_ratio: Ratio = Ratio()
    common_union_ratio: Ratio = Ratio()
    upper_pruned: Cut = Cut()
    pruned: dict[str, Cut] = Field(default_factory=dict)
    unit_kinds: dict[str, Kind] = Field(default_factory=dict)
    diagnosis: Annotated[Diagnosis | NoDiagnosis, BeforeValidator(_told)]
    lost_units: tuple[LostUnit, ...] | None = None

    @property
    def told(self) -> Diagnosis | None:
        """The diagnosis where there is one."""
        return self.diagnosis if isinstance(self.diagnosis, Diagnosis) else None

    @property
    def missing(self) -> str:
        """Why there is no diagnosis."""
        found = self.diagnosis
        return "" if isinstance(found, Diagnosis) else found.message or found.undefined


class Scored(StoreRow):
    """A store that was scored; not every file says its digest."""

    digest: str = ""


class Sheet(_Read):
    """All stores of one package."""

    package: str
    digest: str = ""
    judge: str = ""
    coverage_is_an_estimate: bool = False
    cost_rule: str | None = None
    group_cap: Count | None = None
    stores: tuple[Scored, ...] = ()
    scores: tuple[Score, ...]
    cells: dict[str, tuple[Cell, ...]] = Field(default_factory=dict)


class Mean(_Read):
    """A mean over packages with its interval."""

    n: Count = 0
    mean: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


class Standing(_Read):
    """One store at one budget over all packages."""

    store: str
    budget: Exact
    kept: Mean = Mean()
    upper_pruned: Mean = Mean()
    shares: dict[str, Share] | None = None


class Unscored(_Read):
    """What has no score, and why."""

    package: str
    store: str | None = None
    reason: str = ""


class _Summary(_Read):
    standings: tuple[Standing, ...] = ()


class _Many(_Read):
    not_scored: tuple[Unscored, ...] = ()
    summary: _Summary = _Summary()


@dataclass(frozen=True, slots=True)
class Line:
    """A score with its sheet, its name in addresses and its place in the file."""

    slug: str
    place: int
    sheet: Sheet
    score: Score

    @property
    def store_digest(self) -> str:
        """The digest of the store, where the file says it."""
        found = (one.digest for one in self.sheet.stores if one.name == self.score.store)
        return next(found, "")

    @property
    def within(self) -> float | None:
        """The ratio of what the store keeps within the budget, to the common union."""
        if self.score.feasible:
            return self.score.common_union_ratio.value
        cut = self.score.pruned.get(POLICY)
        return cut.common_union_ratio if cut else None


@dataclass(frozen=True, slots=True)
class Scores:
    """A score file: its lines in order and by name, means over packages, what was not scored."""

    sheets: tuple[Sheet, ...]
    lines: tuple[Line, ...]
    by_slug: Mapping[str, Line]
    standings: tuple[Standing, ...]
    not_scored: tuple[Unscored, ...]

    @property
    def budgets(self) -> tuple[Fraction, ...]:
        return tuple(sorted({line.score.budget for line in self.lines}))


def read_scores(data: Mapping[str, Any], place: str) -> Scores:
    """The content of a score file."""
    listed = data.get("packages")
    rows = listed if isinstance(listed, list) else [data]
    try:
        sheets = tuple(Sheet.model_validate(row) for row in rows)
        many = _Many.model_validate(data if isinstance(listed, list) else {})
    except ValidationError as error:
        raise MemAuditError(f"{place}: {first_fault(error)}") from None
    lines: dict[str, Line] = {}
    for sheet in sheets:
        for score in sheet.scores:
            key = (sheet.package, score.store, str(score.budget))
            name = slug(" ".join(key), *key)
            while name in lines:  # the same line twice in a file
                name = slug(name, *key)
            lines[name] = Line(name, len(lines), sheet, score)
    return Scores(sheets, tuple(lines.values()), lines, many.summary.standings, many.not_scored)
