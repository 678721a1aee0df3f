"""The files `memaudit score --json` wrote: read, checked, and held against each other."""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from memaudit.audits.diagnosis import STEPS
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Exact, plain

MAX_BYTES = 1 << 28
MOST_DIGITS = 4000
BY_FILE = ("labels", "published calls")
"""Judges that are named after their file."""
POLICY = "recency"
"""How a store over budget is cut, as in the diagnosis."""


def _share(text: Any) -> Fraction:
    """A share as the diagnosis writes it: exact text, of any length Python reads."""
    if not isinstance(text, str) or len(text) > MOST_DIGITS:
        raise ValueError("expected a share as text, such as '1/3'")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError("divides by zero") from None


Share = Annotated[Fraction, BeforeValidator(_share), Field(ge=0, le=1)]
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


class ScoreRow(_Read):
    """One store at one budget."""

    store: str = Field(min_length=1)
    budget: Exact
    feasible: bool
    package_ratio: RatioRow
    common_union_ratio: RatioRow
    upper_pruned: CutRow
    pruned: dict[str, CutRow] = Field(default_factory=dict)
    diagnosis: DiagnosisRow | str

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


class ScoreFile(_Read):
    """All stores of one package. Files of earlier versions do not name the cost rule."""

    package: str
    judge: str
    coverage_is_an_estimate: bool
    cost_rule: str | None = None
    group_cap: int | None = None
    scores: tuple[ScoreRow, ...]

    @property
    def judge_kind(self) -> str:
        """What has to agree: the judge, but for files, which differ from package to package."""
        return next((kind for kind in BY_FILE if self.judge.startswith(f"{kind} ")), self.judge)


@dataclass(frozen=True, slots=True)
class Entry:
    """One store, package and budget."""

    package: str
    row: ScoreRow


@dataclass(frozen=True, slots=True)
class Entries:
    """Everything in a folder that can be compared, and the JSON files that hold no scores."""

    entries: tuple[Entry, ...]
    packages: tuple[str, ...]
    judges: tuple[str, ...]
    is_estimate: bool
    cost_rule: str | None
    skipped: tuple[str, ...]


def read_scores(folder: Path) -> Entries:
    """The score files of a folder; refused where they cannot be compared."""
    if not folder.is_dir():
        raise MemAuditError(f"{folder}: is no folder; give one with files of memaudit score --json")
    found: list[tuple[str, ScoreFile]] = []
    skipped: list[str] = []
    for path in sorted(folder.glob("*.json")):
        one = _read(path)
        if one is None:
            skipped.append(path.name)
        else:
            found.append((path.name, one))
    if not found:
        raise MemAuditError(f"{folder}: holds no file that memaudit score --json wrote")
    _agree(found, "judge", lambda one: one.judge_kind)
    _agree(found, "cost rule", lambda one: one.cost_rule)
    _agree(found, "group cap", lambda one: None if one.group_cap is None else str(one.group_cap))
    files = [one for _, one in found]
    names = _names(files)
    entries = _entries(found, names)
    return Entries(
        entries=tuple(entries),
        packages=tuple(dict.fromkeys(entry.package for entry in entries)),
        judges=tuple(sorted({one.judge for one in files})),
        is_estimate=any(one.coverage_is_an_estimate for one in files),
        cost_rule=next((one.cost_rule for one in files if one.cost_rule is not None), None),
        skipped=tuple(skipped),
    )


def _read(path: Path) -> ScoreFile | None:
    """A score file, or None for JSON of another kind."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise MemAuditError(f"{path.name}: is larger than {MAX_BYTES >> 20} MB")
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise MemAuditError(f"{path.name}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise MemAuditError(f"{path.name}: is not JSON: {error}") from None
    if not isinstance(data, dict) or "scores" not in data or "judge" not in data:
        return None
    try:
        return ScoreFile.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise MemAuditError(f"{path.name}: {place}: {first['msg'].lower()}") from None


def _agree(found: list[tuple[str, ScoreFile]], what: str, of: Any) -> None:
    """Numbers by different judges or costs say nothing about each other."""
    said = [(name, of(one)) for name, one in found if of(one) is not None]
    for name, value in said[1:]:
        if value != said[0][1]:
            raise MemAuditError(
                f"{name} has the {what} {value!r}, {said[0][0]} has {said[0][1]!r}: they cannot be "
                "compared; put them into folders of their own"
            )


def _digest(one: ScoreFile) -> str | None:
    return next((row.package_ratio.digest for row in one.scores if row.package_ratio.digest), None)


def _names(files: list[ScoreFile]) -> dict[int, str]:
    """Packages by name, with a piece of the digest where two have the same name."""
    digests: dict[str, set[str | None]] = {}
    for one in files:
        digests.setdefault(one.package, set()).add(_digest(one))
    return {
        id(one): one.package
        if len(digests[one.package]) == 1
        else f"{one.package} ({(_digest(one) or 'no digest')[:8]})"
        for one in files
    }


def _entries(found: list[tuple[str, ScoreFile]], names: dict[int, str]) -> list[Entry]:
    """One entry a store, package and budget, over one common union a package."""
    entries: dict[tuple[str, str, Fraction], Entry] = {}
    unions: dict[str, tuple[str, str | None]] = {}
    for file, one in found:
        package = names[id(one)]
        for row in one.scores:
            first, union = unions.setdefault(package, (file, row.common_union_ratio.digest))
            if row.common_union_ratio.digest != union:
                raise MemAuditError(
                    f"{file} and {first} score {package!r} over different unions; score all stores "
                    "of a package in one command"
                )
            key = (package, row.store, row.budget)
            if key in entries:
                raise MemAuditError(
                    f"{file}: {row.store!r} has a second score for {package!r} at budget "
                    f"{plain(row.budget)}; keep one"
                )
            if row.feasible and row.kept is not None and not 0 <= row.kept <= 1:
                raise MemAuditError(
                    f"{file}: the ratio of {row.store!r} at budget {plain(row.budget)} is not "
                    "within 0 and 1; score it again"
                )
            entries[key] = Entry(package, row)
    return list(entries.values())
