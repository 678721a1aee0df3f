"""Score files of a folder, or of one run: read, checked, and held against each other."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.formats.file_model import validated
from memaudit.formats.score_file import FORMAT, NotScored, ScoreFile, ScoreRow, StoreRow
from memaudit.io.files import decode, read_bytes
from memaudit.scoring.pruning import DEFAULT_POLICY, kept_row

MAX_BYTES = 1 << 28

Form = TypeVar("Form", ScoreFile, NotScored)

Found = Sequence[tuple[str, ScoreFile]]
"""Where each file comes from, and the file."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One store, package and budget."""

    package: str
    row: ScoreRow


@dataclass(frozen=True, slots=True)
class Entries:
    """Everything that can be compared, what its scores do not see, and what has no scores."""

    entries: tuple[Entry, ...]
    accounts: tuple[tuple[str, StoreRow], ...]
    """By package, what the scores of each store do not see."""
    undecided_cells: int
    packages: tuple[str, ...]
    judges: tuple[str, ...]
    is_estimate: bool
    cost_rule: str | None
    skipped: tuple[str, ...]
    not_scored: tuple[NotScored, ...]


def kept_ratio(row: ScoreRow) -> float | None:
    """The common-union ratio of what the store keeps within the budget."""
    pruned = {policy: cut.common_union_ratio for policy, cut in row.pruned.items()}
    return kept_row(row.feasible, row.common_union_ratio.value, pruned)


def undefined_reason(row: ScoreRow) -> str:
    """Why there is no kept ratio; empty where there is one."""
    if kept_ratio(row) is not None:
        return ""
    return row.common_union_ratio.undefined or f"no {DEFAULT_POLICY} row"


def read_scores(folder: Path) -> Entries:
    """The score files of a folder; refused where they cannot be compared."""
    if not folder.is_dir():
        raise MemAuditError(f"{folder}: is no folder; give one with files of memaudit score --json")
    found: list[tuple[str, ScoreFile]] = []
    skipped: list[str] = []
    missing: list[NotScored] = []
    for path in sorted(folder.glob("*.json")):
        files, not_scored = _read(path)
        if not files:
            skipped.append(path.name)
        found += [(path.name, one) for one in files]
        missing += not_scored
    if not found:
        raise MemAuditError(f"{folder}: holds no file that memaudit score --json wrote")
    return _entries_of(found, skipped, missing)


def entries_of(
    files: Sequence[tuple[str, dict[str, Any]]], not_scored: Sequence[dict[str, Any]] = ()
) -> Entries:
    """The scores of one run, as `memaudit score --json` prints them for each package."""
    found = [(name, validated(ScoreFile, data, name)) for name, data in files]
    return _entries_of(found, (), [validated(NotScored, one, "not_scored") for one in not_scored])


def _entries_of(found: Found, skipped: Sequence[str], not_scored: Sequence[NotScored]) -> Entries:
    _agree(found, "judge", lambda one: one.judge_kind)
    _agree(found, "cost rule", lambda one: one.cost_rule)
    _agree(found, "group cap", lambda one: None if one.group_cap is None else str(one.group_cap))
    files = [one for _, one in found]
    names = _names(files)
    entries = _entries(found, names)
    return Entries(
        entries=tuple(entries),
        accounts=tuple((names[id(one)], store) for one in files for store in one.stores),
        undecided_cells=sum(one.undecided_cells for one in files),
        packages=tuple(dict.fromkeys(entry.package for entry in entries)),
        judges=tuple(sorted({one.judge for one in files})),
        is_estimate=any(one.coverage_is_an_estimate for one in files),
        cost_rule=next((one.cost_rule for one in files if one.cost_rule is not None), None),
        skipped=tuple(skipped),
        not_scored=tuple(not_scored),
    )


def _read(path: Path) -> tuple[list[ScoreFile], list[NotScored]]:
    """The score files in a file: one, or one a package and what is missing; none in other JSON."""
    try:
        data = json.loads(decode(read_bytes(path, MAX_BYTES), path.name))
    except (ValueError, RecursionError) as error:
        raise MemAuditError(f"{path.name}: is not JSON: {error}") from None
    if not isinstance(data, dict):
        return [], []
    packages = data.get("packages") if data.get("format") == FORMAT else None
    rows = packages if isinstance(packages, list) else [data]
    files = [
        validated(ScoreFile, one, path.name)
        for one in rows
        if isinstance(one, dict) and "scores" in one and "judge" in one
    ]
    missing = data.get("not_scored") if rows is packages else None
    missing = missing if isinstance(missing, list) else []
    return files, [validated(NotScored, one, f"{path.name}: not_scored") for one in missing]


def _agree(found: Found, what: str, of: Callable[[ScoreFile], str | None]) -> None:
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


def _names(files: Sequence[ScoreFile]) -> dict[int, str]:
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


def _entries(found: Found, names: dict[int, str]) -> list[Entry]:
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
            kept = kept_ratio(row)
            if row.feasible and kept is not None and not 0 <= kept <= 1:
                raise MemAuditError(
                    f"{file}: the ratio of {row.store!r} at budget {plain(row.budget)} is not "
                    "within 0 and 1; score it again"
                )
            entries[key] = Entry(package, row)
    return list(entries.values())
