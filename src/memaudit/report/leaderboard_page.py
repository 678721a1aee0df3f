"""The leaderboard as one HTML file and as JSON, with its notes."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from memaudit.core.losses import LOSS_STEPS
from memaudit.core.number_text import percent, ratio, rounded, significant, span
from memaudit.core.text import counted
from memaudit.core.version import VERSION
from memaudit.formats.score_file import StoreRow
from memaudit.io.atomic import write_file
from memaudit.report.encoding import BEST_SUBSET_LOOK, looks
from memaudit.report.leaderboard import SHARES, Board, Standing
from memaudit.report.page_kit import environment, one_file
from memaudit.report.writer_groups import Member
from memaudit.scoring.caveats import MISSING_ROWS, is_incomplete, row_caveats
from memaudit.scoring.denominators import DENOMINATORS_NOTE, denominator_rows, denominators_data
from memaudit.scoring.judge import judged_how
from memaudit.scoring.pruning import BY_DEFAULT
from memaudit.stats.bootstrap import Interval


def leaderboard_data(board: Board) -> dict[str, Any]:
    """All numbers, null where undefined. Shares are exact text and sum to 1."""
    return {
        "format": "memaudit-leaderboard",
        "version": 1,
        "packages": list(board.entries.packages),
        "judges": list(board.entries.judges),
        "coverage_is_an_estimate": board.entries.is_estimate,
        "assumed_share": {"optimum": board.entries.assumed[0], "store": board.entries.assumed[1]},
        "cost_rule": board.entries.cost_rule,
        "skipped_files": list(board.entries.skipped),
        "not_scored": [row.model_dump() for row in board.entries.not_scored],
        "undecided_cells": board.entries.undecided_cells,
        "not_all_seen": [
            {"package": package, **store.model_dump(exclude={"digest"}, exclude_defaults=True)}
            for package, store in board.entries.accounts
            if is_incomplete(store) or store.undecided_cells or store.left_out
        ],
        "standings": [
            {"budget": budget, **_standing(standing)}
            for budget, rows in board.budgets
            for standing in rows
        ],
        "differences": [
            {
                "budget": gap.budget,
                "first": gap.first,
                "second": gap.second,
                **gap.difference.to_json(),
                "p": rounded(gap.difference.p),
                "p_holm": rounded(gap.p_holm),
            }
            for gap in board.gaps
        ],
        "denominators": denominators_data(denominator_rows(board.entries)),
    }


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "store": standing.store,
        "score": standing.score.to_json(),
        "best_subset": standing.best_subset.to_json(),
        "shares": standing.shares and {name: str(share) for name, share in standing.shares.items()},
        "diagnosed": standing.diagnosed,
        "cut_to_budget": standing.cut,
        "undefined": standing.undefined,
        "not_scored": standing.missing,
        "memories": rounded(standing.memories),
        "incomplete_stores": standing.incomplete,
        "undecided_cells": standing.undecided_cells,
    }


MOST_NOTES = 20
MOST_PACKAGES = 3
FEW = 20
"""With fewer packages, intervals and tests are rough."""


def coverage_note(board: Board) -> str:
    """Who judged coverage, and whether that is an estimate."""
    names = board.entries.judges
    who = f"judge {names[0]}"
    if len(names) > 1:
        who = f"{counted(len(names), 'judge')}, {', '.join(names)}"
    mark = judged_how(names[0], board.entries.is_estimate)
    optimum, store = (f"{share:.1%}" for share in board.entries.assumed)
    return (
        f"coverage: {who}, {mark}; up to {optimum} of an optimum and {store} of a store's value "
        "rest on assumed cells"
    )


def notes(board: Board) -> list[str]:
    """What scores do not cover, what was left out, and how reliable intervals are."""
    count = len(board.entries.packages)
    lines = unseen(board)
    if board.one_package:
        lines.append(
            "one package only: there is nothing to resample, so no interval and no test is given"
        )
    elif count < FEW:
        lines.append(f"{counted(count, 'package')}: intervals and tests are rough")
    if sizes := {
        standing.store: standing.memories for _, rows in board.budgets for standing in rows
    }:
        averages = [
            f"{name} {significant(size)}"
            for name, size in sorted(sizes.items())
            if size is not None
        ]
        if averages and not board.one_package:
            lines.append(f"memories of a package, on average: {', '.join(averages)}")
    if any(standing.cut for _, rows in board.budgets for standing in rows):
        lines.append(f"a store over budget is cut to it by {BY_DEFAULT}, as in the diagnosis")
    if any(standing.missing for _, rows in board.budgets for standing in rows):
        lines.append(
            "some stores were not scored on every package at every budget: their means are over "
            "different packages; differences are over the packages both have"
        )
    if missing := board.entries.not_scored:
        first = missing[0]
        what = first.package if first.store is None else f"{first.store} on {first.package}"
        more = f", and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        lines.append(f"not scored, left out of all means: {what} ({first.reason}){more}")
    if board.entries.skipped:
        lines.append(f"no scores in {', '.join(board.entries.skipped)}: left out")
    return lines


def unseen(board: Board) -> list[str]:
    """Incomplete stores, undecided cells, labels that match nothing."""
    packages_of: dict[str, list[str]] = {}
    for package, store in board.entries.accounts:
        for line in _lines(store):
            packages_of.setdefault(f"{store.name}: {line}", []).append(package)
    lines = [f"{line} ({_places(packages)})" for line, packages in packages_of.items()]
    if undecided := board.entries.undecided_cells:
        verb = "counts" if undecided == 1 else "count"
        lines.append(f"{counted(undecided, 'cell')} got no answer and {verb} as not covered")
    return lines if len(lines) <= MOST_NOTES else _shortened(lines)


def _lines(store: StoreRow) -> list[str]:
    """Notes on a store for one package. * marks what the table marks."""
    return [f"* {text}" if caveat in MISSING_ROWS else text for caveat, text in row_caveats(store)]


def _places(packages: list[str]) -> str:
    shown = ", ".join(packages[:MOST_PACKAGES])
    more = len(packages) - MOST_PACKAGES
    return shown if more <= 0 else f"{shown} and {more} more"


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_NOTES
    return [*lines[:MOST_NOTES], f"and {counted(more, 'note')} more of this kind, in the JSON"]


DASH = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the standings, on the page and in the terminal.

    `under` is what the page shows below the number. `short` is the heading in the terminal, None
    where the column is not shown there.
    """

    heading: str
    short: str | None
    text: Callable[[Standing], str]
    under: Callable[[Standing], str] | None = None
    short_text: Callable[[Standing], str] | None = None

    def in_terminal(self, standing: Standing) -> str:
        return (self.short_text or self.text)(standing)


def columns(is_estimate: bool = False) -> list[Column]:
    """The columns of a standing, in order. Add a new column here."""
    return [
        _mean_column("score", "score\n(est.)" if is_estimate else "score", lambda row: row.score),
        Column("", "95% interval", lambda row: span(row.score.low, row.score.high)),
        _mean_column("best subset", "best\nsubset", lambda row: row.best_subset),
        *(_loss_column(name) for name in LOSS_STEPS),
        Column("packages", "n", lambda row: str(row.score.n)),
        Column("cut to budget", None, lambda row: str(row.cut)),
        Column(
            "undefined",
            "undef.",
            lambda row: str(sum(row.undefined.values())),
            lambda row: ", ".join(f"{n} {why}" for why, n in row.undefined.items()),
        ),
        Column("not scored", "absent", lambda row: str(row.missing)),
    ]


def _mean_column(heading: str, short: str, mean: Callable[[Standing], Interval]) -> Column:
    """A mean, and on the page its interval below it."""

    def interval(row: Standing) -> str:
        known = mean(row)
        return "" if known.low != known.low else span(known.low, known.high)

    return Column(
        heading,
        short,
        lambda row: ratio(mean(row).mean, DASH),
        interval,
        lambda row: ratio(mean(row).mean),
    )


def _loss_column(name: str) -> Column:
    def share(row: Standing) -> Fraction | None:
        return None if row.shares is None else row.shares[name]

    return Column(
        name,
        f"loses\n{name if len(name) < 7 else f'{name[:6]}.'}",
        lambda row: percent(share(row), 1, DASH),
        short_text=lambda row: percent(share(row), 1),
    )


TITLE = "Stores of memory systems, side by side"


def write_page(board: Board, out: Path, title: str = TITLE) -> None:
    write_file(out, build_page(board, title))


def build_page(board: Board, title: str = TITLE) -> str:
    """One self-contained HTML file."""
    jinja = environment()
    members = {
        store: Member(store, store, "", "deployable", look)
        for store, look in looks(board.stores).items()
    }
    return one_file(
        jinja,
        "leaderboard.html",
        title=title,
        board=board,
        budgets=[(budget, rows) for budget, rows in board.budgets],
        gaps=[(gap.budget, gap) for gap in board.gaps],
        denominators=denominator_rows(board.entries),
        denominators_note=DENOMINATORS_NOTE,
        members=members,
        best=Member("upper", "best subset that fits", "", "reference", BEST_SUBSET_LOOK),
        columns=[column for column in columns() if column.heading],
        shares=SHARES,
        losses={step.name: step.meaning for step in LOSS_STEPS.values()},
        coverage=coverage_note(board),
        notes=notes(board),
        data=leaderboard_data(board),
        version=VERSION,
    )
