"""Rows as they stand beside the same rows made again."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from memaudit.experiments.engines.local import Engine
from memaudit.experiments.solver_audit import audit_rows
from memaudit.reproduce import sensitivity_results
from memaudit.reproduce.folder import ROWS, SENSITIVITY, SOLVERS
from memaudit.reproduce.natural_results import BUDGETS
from memaudit.reproduce.settings import Settings
from memaudit.reproduce.verify.again import SLOW, Asked, Made, make_again
from memaudit.reproduce.verify.chosen import drawn, slow
from memaudit.reproduce.verify.report import Report
from memaudit.reproduce.verify.rows import Rows, Runs

AT_ONCE = 16
"""Packages that go to a process together."""


def check_again(
    rows: Mapping[str, Rows],
    settings: Settings,
    runs: Runs,
    size: int | None,
    seed: int,
    engine: Engine,
    report: Report,
) -> None:
    """Make rows again and compare them: all, or a sample of this size, drawn with the seed."""
    places = drawn(rows, size, seed)
    slowly = slow(rows[SOLVERS], seed) if size is None and SOLVERS in rows else places.get(SOLVERS)
    asked = [
        *(one for part in rows if part != SOLVERS for one in _asked(part, places[part], runs)),
        *_asked_solvers(places.get(SOLVERS, []), set(slowly or ()), settings),
    ]
    chunks = (asked[first : first + AT_ONCE] for first in range(0, len(asked), AT_ONCE))
    found = (made for chunk in engine.map(partial(make_again, runs), chunks) for made in chunk)
    for one, made in zip(asked, found, strict=True):
        first = one.package * _size(one.part, runs)
        _compare(one, [(first + place, rows[one.part][first + place]) for place in one.rows], made,
                 report)  # fmt: skip
    total = sum(map(len, rows.values()))
    again = sum(map(len, places.values()))
    report.checked["rows made again"] += again
    report.notes.append(
        f"{again:,} of {total:,} rows were made again, of the solver audit "
        f"{sum(one.slow for one in asked)} with {SLOW}; drawn with --seed {seed}"
    )


def _size(part: str, runs: Runs) -> int:
    """How many rows of a part are about one package."""
    if part == SOLVERS:
        return 1
    if part == SENSITIVITY:
        return len(sensitivity_results.VARIANTS) * len(BUDGETS)
    return runs[part][0].rows_a_package


def _asked_solvers(
    places: Sequence[int], slowly: Collection[int], settings: Settings
) -> Iterator[Asked]:
    """Rows of the solver audit, some of them by the slow backend too."""
    wanted = set(places)
    for place, task in enumerate(audit_rows(settings.rows)):
        if place in wanted:
            yield Asked(SOLVERS, place, (0,), task, place in slowly)


def _asked(part: str, places: Sequence[int], runs: Runs) -> Iterator[Asked]:
    """Rows of another part, package by package."""
    by_package: dict[int, list[int]] = {}
    for place in places:
        package, offset = divmod(place, _size(part, runs))
        by_package.setdefault(package, []).append(offset)
    for package, offsets in by_package.items():
        yield Asked(part, package, tuple(offsets))


def _compare(
    asked: Asked, rows: Sequence[tuple[int, dict[str, Any]]], made: Made, report: Report
) -> None:
    report.checked["certificates verified"] += made.proofs
    for where, wrong in made.refused:
        report.problem(where, wrong)
    for (place, row), again in zip(rows, made.rows, strict=True):
        where = f"{asked.part}/{ROWS}, line {place + 1}"
        here = _without_slow(row) if asked.part == SOLVERS and not asked.slow else row
        expected = json.loads(json.dumps(again))
        for name in sorted(here.keys() | expected.keys()):
            # As JSON, in which 1, 1.0 and true differ. The version is that of another program.
            if name != "version" and _text(here, name) != _text(expected, name):
                report.differs(where, name, here.get(name), expected.get(name))


def _text(row: Mapping[str, Any], name: str) -> str:
    return json.dumps(row[name], sort_keys=True) if name in row else ""


def _without_slow(row: Mapping[str, Any]) -> dict[str, Any]:
    solvers = {name: tally for name, tally in row["solvers"].items() if name != SLOW}
    return {**row, "solvers": solvers}
