"""Findings of `memaudit sensitivity` as tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from memaudit.cli.results import console, number
from memaudit.cli.text import safe_markup
from memaudit.scoring.judges.protocol import judged_how
from memaudit.scoring.sensitivity import Finding, Pairing, Spread, Survival

if TYPE_CHECKING:
    from memaudit.scoring.judges.protocol import Judge


def show(
    rows: Sequence[Finding],
    pairs: Sequence[Pairing],
    judges: Sequence["Judge"],
    notes: Sequence[str],
) -> None:
    """Who judged, every variant, the judges against each other, and what scores do not see."""
    screen = console()
    for place, judge in enumerate(judges):
        mark = judged_how(judge.name, judge.is_estimate)
        what = "coverage of memories" if not place else "another judge"
        screen.print(f"{what}: judge {safe_markup(judge.name)}, {mark}")
    screen.print(_variants(rows))
    if pairs:
        screen.print(_pairs(pairs))
    if any(row.repetitions > 1 for row in rows):
        screen.print(
            "square brackets hold the middle 95 % of the draws; beside a mean tau stands how many "
            "draws left the whole order as it was"
        )
    for note in notes:
        screen.print(safe_markup(note))
    lost = sum(row.uncertified for row in rows)
    screen.print(f"optima that are not certified: {lost}")


def _variants(rows: Sequence[Finding]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("variant", overflow="fold")
    table.add_column("budget", justify="right")
    table.add_column("store", overflow="fold")
    for name in ("kept / common", "upper / common"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("tau kept", "tau upper"):
        table.add_column(name, justify="right")
    for row in rows:
        taus = [_tau(one, row.repetitions) for one in (row.kept_ranking, row.upper_ranking)]
        for place, one in enumerate(row.stores):
            table.add_row(
                safe_markup(row.variant) if not place else "",
                number(row.budget) if not place else "",
                safe_markup(one.store),
                _spread(one.kept, row.repetitions),
                _spread(one.upper, row.repetitions),
                *(taus if not place else ("", "")),
            )
    return table


def _pairs(pairs: Sequence[Pairing]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("judge", overflow="fold")
    table.add_column("against", overflow="fold")
    for name in ("budget", "tau kept", "tau upper", "same order"):
        table.add_column(name, justify="right")
    for one in pairs:
        table.add_row(
            safe_markup(one.first), safe_markup(one.second), number(one.budget),
            _number(one.kept_tau), _number(one.upper_tau), "yes" if one.same_kept_order else "no",
        )  # fmt: skip
    return table


def _spread(one: Spread, repetitions: int) -> str:
    if one.mean is None or one.low is None or one.high is None:
        return "undefined"
    text = f"{one.mean:.3f}"
    if repetitions > 1:
        text += f" [{one.low:.3f}, {one.high:.3f}]".replace("[", r"\[")
    return text if one.n == repetitions else f"{text} of {one.n}"


def _tau(one: Survival, repetitions: int) -> str:
    """The mean; how often the whole order stayed, where there are several draws."""
    if one.tau is None:
        return "-"
    return f"{one.tau:.2f}" + (f" ({one.same_order} of {one.n})" if repetitions > 1 else "")


def _number(tau: float | None) -> str:
    return "-" if tau is None else f"{tau:.2f}"
