"""The audit of ratios as tables for the terminal."""

from rich import box
from rich.console import Console
from rich.table import Table

from memaudit.cli.terminal import console, safe_markup
from memaudit.core.number_text import fixed, short_exact
from memaudit.label_audit.raters import PACKAGE
from memaudit.label_audit.ratio_bounds import MeanBounds
from memaudit.label_audit.ratios import Answer
from memaudit.label_audit.ratios_json import changed_cells, notes
from memaudit.label_audit.ratios_summary import Correlation, Ranking, Summary
from memaudit.label_audit.readings import Reading
from memaudit.scoring.caveats import caveat_lines
from memaudit.scoring.judge import Judge, judged_how
from memaudit.stats.bootstrap import Interval

UNITS_SHOWN = 5
WHY = {
    "missing": "fewer than two annotators labelled them",
    "cannot_tell": "somebody could not tell",
    "disagreed": "annotators disagree",
}
"""Why there is no consensus."""


def show(answer: Answer, found: Summary, judge: Judge | None) -> None:
    """The paper's table first, then every ratio with its doubts, then what moves them."""
    screen = console()
    packages = len(answer.question.cases)
    basis = " and ".join(sorted({case.basis for case in answer.question.cases}))
    screen.print(
        f"{packages} packages, {len(answer.entries)} stores, ratios to the optimum of the {basis}; "
        "stores stay as written under the package's own labels, optima are solved under each set"
    )
    if judge is not None:
        mark = judged_how(judge.name, judge.is_estimate)
        screen.print(f"coverage of memories: judge {safe_markup(judge.name)}, {mark}")
        for case in answer.question.cases:
            for line in caveat_lines([(one.name, one.account) for one in case.stores]):
                screen.print(safe_markup(f"{case.name}, {line}"))
    _show_shifts(screen, answer, found)
    _show_ratios(screen, answer, found)
    _show_units(screen, answer)
    _show_counts(screen, answer, found)


def _show_shifts(screen: Console, answer: Answer, found: Summary) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("label set", overflow="fold")
    for name in ("cells", "changed", "budget", "ratio MAD"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("ranking", no_wrap=True)
    for name in ("tau", "rho"):
        table.add_column(name, justify="right", no_wrap=True)
    for reading in answer.readings:
        for place, one in enumerate(found.shifts[reading.name]):
            head = (_title(reading), f"{reading.judged:,}",
                    f"{changed_cells(answer, reading):,}")  # fmt: skip
            table.add_row(
                *(head if not place else ("", "", "")),
                "all" if one.budget is None else short_exact(one.budget),
                _interval(one.change, 4), _order(one.ranking),
                _correlation(one.ranking.tau), _correlation(one.ranking.rho),
            )  # fmt: skip
    screen.print(table)
    screen.print(
        "ratio MAD: mean absolute change of ratios; ranking: pairs of stores that swap places, or "
        "tie under one set alone"
    )


def _show_ratios(screen: Console, answer: Answer, found: Summary) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("budget", justify="right")
    table.add_column("store", no_wrap=True)
    table.add_column("ratio", justify="right", no_wrap=True)
    for reading in answer.readings:
        table.add_column(_title(reading), justify="right", overflow="fold")
    for name in ("labels drawn", "bounds"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.rows:
        table.add_row(
            short_exact(row.budget), safe_markup(row.entry), _interval(row.ratios[PACKAGE]),
            *(fixed(one.mean) for name, one in row.ratios.items() if name != PACKAGE),
            "-" if row.labels is None else _range(row.labels.low, row.labels.high),
            _bounds(row.bounds),
        )  # fmt: skip
    screen.print(table)


def _show_units(screen: Console, answer: Answer) -> None:
    for reading in answer.readings:
        units = [one for one in answer.moved[reading.name] if one.size or one.optimum or one.value]
        if not units:
            continue
        screen.print(
            f"units that move ratios under {safe_markup(reading.name)}, each alone: mean absolute "
            "change (mean change), change of F and of OPT"
        )
        for one in units[:UNITS_SHOWN]:
            screen.print(
                f"  {float(one.size):.4f} ({float(one.ratio):+.4f}), F {float(one.value):+.3f}, "
                f"OPT {float(one.optimum):+.3f}  {safe_markup(one.package)} "
                f"{safe_markup(one.unit)}: {safe_markup(_short(one.text))}"
            )
        if len(units) > UNITS_SHOWN:
            screen.print(f"  and {len(units) - UNITS_SHOWN} more; --json lists all")


def _show_counts(screen: Console, answer: Answer, found: Summary) -> None:
    for reading in answer.readings:
        counts = {
            "cells could not be told": reading.in_doubt,
            "cells are of other packages": reading.elsewhere,
            **{f"cells keep the package's label: {WHY[why]}": count
               for why, count in reading.unsettled.items()},
        }  # fmt: skip
        said = "; ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        if said:
            screen.print(f"{safe_markup(reading.name)}: {said}")
    if answer.contradicting:
        screen.print(
            f"{answer.contradicting:,} cells of memories keep their judge's word: candidates of "
            "the same words were labelled differently"
        )
    for note in notes(answer):
        screen.print(safe_markup(note))
    cells = sum(len(one.low) for one in answer.boxes)
    screen.print(
        f"bounds: no choice between the labels given for the {cells:,} cells that label sets and "
        "package see differently gives a mean ratio outside; = where both ends are reached"
    )
    lost = sum(sum(row.missing.values()) for row in found.rows)
    undefined = sum(sum(one.undefined.values()) for name in found.shifts
                    for one in found.shifts[name] if one.budget is not None)  # fmt: skip
    screen.print(
        f"ratios missing under the package's labels: {lost:,}; without a ratio under label sets: "
        f"{undefined:,} packages and budgets"
    )
    screen.print(f"optima not certified: {found.uncertified:,} of {found.solved:,}")


def _title(reading: Reading) -> str:
    """The name, and that it is a model where it is one."""
    return safe_markup(f"{reading.name} (model)" if reading.role == "model" else reading.name)


def _interval(one: Interval, places: int = 3) -> str:
    """A mean, and its bootstrap interval where there are packages to draw from."""
    mean = fixed(one.mean, places)
    return mean if one.n < 2 else f"{mean} {_range(one.low, one.high)}"


def _range(low: float, high: float, places: int = 3) -> str:
    return rf"\[{fixed(low, places)}, {fixed(high, places)}]"


def _bounds(one: MeanBounds | None) -> str:
    if one is None:
        return "-"
    return f"{_range(float(one.low), float(one.high))} {'=' if one.exact else ' '}"


def _order(one: Ranking) -> str:
    """Kept, or how many pairs changed places or are tied under one of the sets alone."""
    if one.ranked < 2:
        return "-"
    if one.preserved:
        return "preserved"
    counts = ((len(one.swapped), "swap"), (len(one.tied), "tie"))
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _correlation(one: Correlation) -> str:
    if one.value is None:
        return "-"
    if one.low is None or one.high is None:
        return fixed(one.value)
    return f"{fixed(one.value)} {_range(one.low, one.high, 2)}"


def _short(text: str, most: int = 70) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
