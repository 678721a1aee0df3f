"""Score files of a folder, or of one run: read, checked, and compared for consistency."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.io.files import decode, read_bytes
from memaudit.kernel.io.score_file import FORMAT, NotScored, ScoreFile, ScoreRow, StoreRow
from memaudit.kernel.package.budgets import OWN

MAX_BYTES = 1 << 28

Form = TypeVar("Form", ScoreFile, NotScored)

NamedScoreFiles = Sequence[tuple[str, ScoreFile]]
"""The name and the content of each file."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One store, package and budget."""

    package: str
    row: ScoreRow


@dataclass(frozen=True, slots=True)
class Entries:
    """Comparable scores, what they do not cover, and what was not scored."""

    entries: tuple[Entry, ...]
    accounts: tuple[tuple[str, StoreRow], ...]
    """By package, what the scores of each store do not cover."""
    undecided_cells: int
    packages: tuple[str, ...]
    judges: tuple[str, ...]
    is_estimate: bool
    assumed: tuple[float, float]
    """The largest shares of an optimum and of a store that rest on assumed cells."""
    cost_rule: str
    skipped: tuple[str, ...]
    not_scored: tuple[NotScored, ...]


def read_scores(folder: Path) -> Entries:
    """The score files of a folder. Files that cannot be compared are an error."""
    if not folder.is_dir():
        raise MemAuditError(
            f"{folder}: not a folder; give a folder with files of memaudit score --json"
        )
    score_files: list[tuple[str, ScoreFile]] = []
    skipped: list[str] = []
    missing: list[NotScored] = []
    for path in sorted(folder.glob("*.json")):
        files, not_scored = _read(path)
        if not files:
            skipped.append(path.name)
        score_files += [(path.name, score_file) for score_file in files]
        missing += not_scored
    if not score_files:
        raise MemAuditError(f"{folder}: contains neither board.json nor scores of score --json")
    return _entries_of(score_files, skipped, missing)


def entries_of(
    files: Sequence[tuple[str, dict[str, Any]]], not_scored: Sequence[dict[str, Any]] = ()
) -> Entries:
    """The scores of one run, as `memaudit score --json` prints them for each package."""
    score_files = [(name, validated(ScoreFile, data, name)) for name, data in files]
    return _entries_of(
        score_files, (), [validated(NotScored, row, "not_scored") for row in not_scored]
    )


def _entries_of(
    score_files: NamedScoreFiles, skipped: Sequence[str], not_scored: Sequence[NotScored]
) -> Entries:
    # Each of these changes what a score means, not only how large it is.
    _agree(score_files, "judge", lambda file: file.judge_kind)
    _agree(score_files, "cost rule", lambda file: file.cost_rule)
    _agree(score_files, "group cap", lambda file: str(file.group_cap))
    files = [file for _, file in score_files]
    names = _names(files)
    entries = _entries(score_files, names)
    rows = [entry.row for entry in entries]
    return Entries(
        entries=tuple(entries),
        accounts=tuple((names[id(file)], store) for file in files for store in file.stores),
        undecided_cells=sum(file.undecided_cells for file in files),
        packages=tuple(dict.fromkeys(entry.package for entry in entries)),
        judges=tuple(sorted({file.judge for file in files})),
        is_estimate=any(file.coverage_is_an_estimate for file in files),
        assumed=(
            max((row.optimum.assumed_share for row in rows), default=0),
            max((row.kept.assumed_share for row in rows), default=0),
        ),
        cost_rule=files[0].cost_rule,
        skipped=tuple(skipped),
        not_scored=tuple(not_scored),
    )


def _read(path: Path) -> tuple[list[ScoreFile], list[NotScored]]:
    """The score files in a file, and what was not scored. Other JSON has none."""
    try:
        data = json.loads(decode(read_bytes(path, MAX_BYTES), path.name))
    except (ValueError, RecursionError) as error:
        raise MemAuditError(f"{path.name}: not JSON: {error}") from None
    if not isinstance(data, dict):
        return [], []
    packages = data.get("packages") if data.get("format") == FORMAT else None
    rows = packages if isinstance(packages, list) else [data]
    files = [
        validated(ScoreFile, row, path.name)
        for row in rows
        if isinstance(row, dict) and "scores" in row and "judge" in row
    ]
    missing = data.get("not_scored") if rows is packages else None
    missing = missing if isinstance(missing, list) else []
    return files, [validated(NotScored, row, f"{path.name}: not_scored") for row in missing]


def _agree(score_files: NamedScoreFiles, what: str, of: Callable[[ScoreFile], str]) -> None:
    """Scores by different judges or cost rules cannot be compared."""
    values = [(name, of(file)) for name, file in score_files]
    for name, value in values[1:]:
        if value != values[0][1]:
            raise MemAuditError(
                f"{name} has the {what} {value!r}, {values[0][0]} has {values[0][1]!r}. They "
                "cannot be compared. Put them in separate folders"
            )


def _names(files: Sequence[ScoreFile]) -> dict[int, str]:
    """Names of packages, with the start of the digest if two have the same name."""
    digests: dict[str, set[str]] = {}
    for file in files:
        digests.setdefault(file.package, set()).add(file.digest)
    return {
        id(file): file.package
        if len(digests[file.package]) == 1
        else f"{file.package} ({file.digest[:8]})"
        for file in files
    }


def _entries(score_files: NamedScoreFiles, names: dict[int, str]) -> list[Entry]:
    """One entry per store, package and budget, over one common union per package."""
    entries: dict[tuple[str, str, str], Entry] = {}
    unions: dict[str, tuple[str, str]] = {}
    for file, score_file in score_files:
        package = names[id(score_file)]
        # OPT of the common union depends on every store that was scored along: a store scored alone
        # and one scored among ten have different denominators.
        first, union = unions.setdefault(package, (file, score_file.union_digest))
        if score_file.union_digest != union:
            raise MemAuditError(
                f"{file} and {first} score {package!r} over different unions; score all stores "
                "of a package in one command"
            )
        for row in score_file.scores:
            key = (package, row.store, row.asked)
            if key in entries:
                raise MemAuditError(
                    f"{file}: {row.store!r} has a second score for {package!r} at budget "
                    f"{row.asked}; keep one"
                )
            entries[key] = Entry(package, row)
    return list(entries.values())


def by_size(asked: str, rows: Iterable[ScoreRow]) -> tuple[bool, Fraction, str]:
    """Smaller budgets first, each store's own last."""
    return asked == OWN, max(row.budget for row in rows), asked
