"""The report on a terminal."""

from collections.abc import Sequence
from statistics import median

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.explorer import OPEN_TARGET
from bench.frontiers import MAX_BUDGET
from bench.peers import ONE_THREAD
from bench.run import Report
from bench.scale import exponents
from bench.sections import (
    CHECK_TARGET,
    MEMORY_TARGET,
    SIZE_TARGET,
    TARGET_SECONDS,
    UNION_CHECK_TARGET,
    UNION_SIZE_TARGET,
    CertificateLine,
)
from bench.table import TARGETS, FamilyRun, against_best, lines
from bench.worker import OURS


def show(report: Report, console: Console) -> None:
    """Solved counts and failures first, then times."""
    if report.families:
        console.print(_solved(report))
        console.print(_threads(report))
    for note in report.notes:
        console.print(note, markup=False)
    for failure in report.failures:
        console.print(failure, style="bold red", markup=False)
    for run in report.families:
        _show_family(run, console)
    _show_frontier(report, console)
    _show_certificates(report, console)
    _show_scale(report, console)
    if memory := report.memory:
        console.print(
            f"peak memory on D: {memory.peak_bytes / 1e9:.2f} GB, {memory.solved} of "
            f"{memory.problems} solved, target below {MEMORY_TARGET / 1e9:g} GB: "
            f"{_reached(0 < memory.peak_bytes < MEMORY_TARGET)}"
        )
    _show_sweep(report, console)
    _show_explorer(report, console)


def _show_explorer(report: Report, console: Console) -> None:
    for line in report.explorer:
        how = f"opened in {line.browser}" if line.browser else "fetched without a browser"
        console.print(
            f"explorer, {line.name}: {line.bytes / 1000:,.0f} kB {how} in {line.seconds:.2f} s "
            f"at a load of {line.load:.1f}, target below {OPEN_TARGET:g} s: "
            f"{_reached(line.reached)}"
        )


def _show_sweep(report: Report, console: Console) -> None:
    for line in report.sweep:
        console.print(
            f"sweep of {line.seeds} seeds: {line.rows:,} rows in {line.total:.1f} s on "
            f"{line.processes} processes, summary {line.summary_seconds:.1f} s of it; "
            f"{line.rate:,.0f} rows per second, every optimum certified"
        )
    if len(report.sweep) > 1:
        first, last = report.sweep[0], report.sweep[-1]
        growth = (last.total / first.total) / (last.rows / first.rows)
        console.print(
            f"{last.rows / first.rows:g} times the rows took {last.total / first.total:.2f} times "
            f"as long ({growth:.2f} of linear); target for {last.rows:,} rows below "
            f"{TARGET_SECONDS:g} s: {_reached(last.total < TARGET_SECONDS)}"
        )


def _solved(report: Report) -> Table:
    table = Table(title=f"proven optima, at most {report.seconds:g} s each", title_justify="left")
    table.add_column("family")
    solvers = list(report.families[0].outcomes)
    for solver in solvers:
        table.add_column(solver, justify="right")
    for run in report.families:
        cells = []
        for line in lines(run):
            over = f" ({line.over_limit} over its limit)" if line.over_limit else ""
            missing = run.outcomes[line.solver].missing
            cells.append("-" if missing else f"{line.solved} of {len(run.names)}{over}")
        table.add_row(run.title, *cells)
    return table


def _threads(report: Report) -> str:
    solvers = list(report.families[0].outcomes)
    one = [name for name in solvers if name in ONE_THREAD]
    alone = f"; {', '.join(one)} 1" if one and report.threads > 1 else ""
    return f"threads: {report.threads}{alone}"


def _show_family(run: FamilyRun, console: Console) -> None:
    table = Table(
        title=f"family {run.title}: time of a solver / time of {OURS}, building included",
        title_justify="left",
    )
    for name in ("solver", "median ms", "ratio p10", "ratio median", "ratio p90", "note"):
        table.add_column(name, justify="left" if name in ("solver", "note") else "right")
    for line in lines(run):
        spread = line.ratio
        table.add_row(
            line.solver,
            _number(line.median_ms, 4),
            _number(spread.p10),
            _number(spread.median),
            _number(spread.p90),
            escape(line.note),
        )
    best, target = against_best(run), TARGETS[run.family]
    reached = _reached(best.median is not None and best.median >= target)
    table.add_section()
    table.add_row(
        "best peer",
        "",
        _number(best.p10),
        _number(best.median),
        _number(best.p90),
        f"target {target:g}: {reached}",
    )
    console.print(table)
    warm = run.outcomes[OURS].warm_up_seconds
    console.print(f"  {OURS}: imports, compilation and warm-up {warm:.1f} s, not counted")


def _show_frontier(report: Report, console: Console) -> None:
    for line in report.frontier:
        if line.note:
            console.print(f"frontier of {line.name}: {line.note}", markup=False)
            continue
        text = f"frontier of {line.name}: all budgets to {MAX_BUDGET} in {line.seconds:.2f} s, "
        if line.solves is not None:
            text += f"as long as {line.solves:.0f} single solves, "
        if line.peer_seconds is not None:
            text += (
                f"{line.peer} about {line.peer_seconds:.0f} s "
                f"({line.peer_seconds / line.seconds:.0f} times as long; extrapolated from its "
                f"median on the sampled budgets), "
            )
        same = line.compared - len(line.differing)
        console.print(f"{text}equal to the proven optimum at {same} of {line.compared} budgets")


def _show_certificates(report: Report, console: Console) -> None:
    for family in dict.fromkeys(line.family for line in report.certificates):
        every = [line for line in report.certificates if line.family == family]
        proven = [line for line in every if line.certified]
        if proven:
            console.print(
                f"certificates on {family}: {len(proven)} of {len(every)} certified; "
                f"solve {1000 * median(line.solve_seconds for line in proven):.1f} ms, "
                f"check {1000 * median(line.check_seconds for line in proven):.1f} ms (medians); "
                f"{_certificate_targets(family, proven)}"
            )


def _certificate_targets(family: str, proven: Sequence[CertificateLine]) -> str:
    sizes = [line.json_bytes for line in proven]
    measured = f"size median {median(sizes) / 1000:.1f} kB, largest {max(sizes) / 1000:.1f} kB"
    if family == "R":
        checks = [line.check_seconds for line in proven]
        return (
            f"largest check {max(checks):.2f} s, target median below {UNION_CHECK_TARGET:g} s: "
            f"{_reached(median(checks) < UNION_CHECK_TARGET)}; {measured}, target median below "
            f"{UNION_SIZE_TARGET / 1000:g} kB: {_reached(median(sizes) < UNION_SIZE_TARGET)}"
        )
    ratio = median(line.ratio for line in proven)
    return (
        f"check / solve median {ratio:.2f}, largest {max(line.ratio for line in proven):.2f}, "
        f"target {CHECK_TARGET:g}: {_reached(ratio <= CHECK_TARGET)}; {measured}, target below "
        f"{SIZE_TARGET / 1000:g} kB: {_reached(max(sizes) < SIZE_TARGET)}"
    )


def _show_scale(report: Report, console: Console) -> None:
    if not report.scale:
        return
    table = Table(title="unions of growing size", title_justify="left")
    for name in ("candidates", "cells", "solve s", "memory MB", "certificate kB", "check s"):
        table.add_column(name, justify="right")
    table.add_column("result")
    for line in report.scale:
        interval = f"between {line.value:g} and {line.bound:g}: {line.note}"
        result = "certified" if line.certified else interval if line.cells else line.note
        table.add_row(
            f"{line.candidates:,}",
            f"{line.cells:,}",
            f"{line.seconds:.2f}",
            f"{line.peak_bytes / 1e6:,.0f}",
            f"{line.json_bytes / 1000:,.1f}",
            f"{line.check_seconds:.2f}",
            escape(result),
        )
    console.print(table)
    growth = exponents(report.scale)
    console.print(
        f"  growth with the candidates, over the certified sizes: time to the power of "
        f"{_number(growth.time)}, memory beyond the solver's own {_number(growth.memory)}"
    )


def _reached(yes: bool) -> str:
    return "reached" if yes else "not reached"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}g}" if value < 1000 else f"{value:,.0f}"
