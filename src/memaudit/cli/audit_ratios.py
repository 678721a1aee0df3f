"""The audit of ratios as tables for the terminal."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from memaudit.cli.options import Budgets, LabelMemories, Seconds, distinct_budgets
from memaudit.cli.terminal import console, safe, safe_markup
from memaudit.core.errors import MemAuditError
from memaudit.core.number_text import fixed, short_exact
from memaudit.label_audit.coded_labels import PACKAGE
from memaudit.label_audit.label_sources import LabelSource
from memaudit.label_audit.ratio_audit import RatioAudit
from memaudit.label_audit.ratio_audit_json import changed_cells, ratio_notes
from memaudit.label_audit.ratio_audit_summary import Correlation, RankingChange, RatioAuditSummary
from memaudit.label_audit.ratio_bounds import MeanBounds
from memaudit.scoring.caveats import caveat_lines
from memaudit.scoring.judges import Judge, judged_how
from memaudit.stats.bootstrap import Interval

if TYPE_CHECKING:
    from rich.progress import TaskID

    from memaudit.core.package import Package
    from memaudit.label_audit.coded_labels import Role
    from memaudit.label_audit.frame import Frame
    from memaudit.label_audit.label_sources import LabelSource
    from memaudit.label_audit.ratio_audit import Progress
    from memaudit.scoring.judges import Judge


UNITS_SHOWN = 5
WHY = {
    "missing": "fewer than two annotators labelled them",
    "cannot_tell": "somebody could not tell",
    "disagreed": "annotators disagree",
}
"""Why there is no consensus."""


def show_ratio_audit(answer: RatioAudit, found: RatioAuditSummary, judge: Judge | None) -> None:
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
            for line in caveat_lines([(one.name, one.caveats) for one in case.stores]):
                screen.print(safe_markup(f"{case.name}, {line}"))
    _show_shifts(screen, answer, found)
    _show_ratios(screen, answer, found)
    _show_units(screen, answer)
    _show_counts(screen, answer, found)


def _show_shifts(screen: Console, answer: RatioAudit, found: RatioAuditSummary) -> None:
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


def _show_ratios(screen: Console, answer: RatioAudit, found: RatioAuditSummary) -> None:
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


def _show_units(screen: Console, answer: RatioAudit) -> None:
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


def _show_counts(screen: Console, answer: RatioAudit, found: RatioAuditSummary) -> None:
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
    for note in ratio_notes(answer):
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


def _title(reading: LabelSource) -> str:
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


def _order(one: RankingChange) -> str:
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


LONG = 10.0
"""Seconds from which on it is said how long the draws will take."""


def ratios(
    packages: Annotated[
        list[str],
        typer.Argument(
            metavar="PACKAGE...",
            help="Packages, folders that memaudit build wrote, or natural: the shipped set.",
        ),
    ],
    labels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABELS",
            help="A label file, or pass:NAME for a pass kept in the packages; repeat the option.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABELS",
            help="Labels that a model gave: scored, but no part of the consensus; repeat it.",
        ),
    ] = None,
    frame: Annotated[
        Path | None, typer.Option(metavar="FRAME", help="The frame that label files are about.")
    ] = None,
    budget: Budgets = "30,60,100",
    writer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Writers; repeat the option. Default: gvt and all that could be deployed.",
        ),
    ] = None,
    store: Annotated[
        list[Path] | None,
        typer.Option(metavar="STORE", help="Stores memaudit import wrote; repeat the option."),
    ] = None,
    judge: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="lexical (an estimate), pointer, labels:FILE, calls:FILE."
        ),
    ] = "lexical",
    label_memories: LabelMemories = None,
    draws: Annotated[
        int, typer.Option(metavar="N", help="Draws of labels from the measured confusion.")
    ] = 100,
    confusion: Annotated[
        str,
        typer.Option(
            metavar="WHOSE",
            help="package: the package's labels with annotators'; annotators: these with each "
            "other, around their consensus.",
        ),
    ] = "package",
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Of writers and of all draws.")] = 0,
    seconds: Seconds = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Processes; default: one per core.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score the same stores under every label set: do ratios and rankings hold?"""
    from memaudit.experiments.engines.registry import named_engine
    from memaudit.label_audit.fixed_stores import DEFAULT_WRITERS
    from memaudit.label_audit.frame_files import read_frame
    from memaudit.label_audit.label_draws import named_confusion
    from memaudit.label_audit.ratio_audit import RatioAuditSpec, audit_ratios
    from memaudit.label_audit.ratio_audit_json import ratio_audit_data
    from memaudit.label_audit.ratio_audit_summary import summarise
    from memaudit.natural.coverage_rules import PASS
    from memaudit.natural.named_packages import labelled_packages
    from memaudit.writers.registry import named_writer

    amounts = distinct_budgets(budget)
    writers = tuple(dict.fromkeys(writer or DEFAULT_WRITERS))
    for name in writers:
        named_writer(name)
    engine = named_engine("serial" if jobs == 1 else "processes", jobs)
    cases, by = _cases(_in_pool(labelled_packages(packages)), store or [], judge, label_memories)
    asked = None if frame is None else read_frame(frame)
    readings = _readings(labels or [], model or [], asked, cases)
    if all(name.startswith(PASS) for name in (*(labels or []), *(model or []))):
        asked = None  # nobody labelled the frame: passes judged cells of their own
    question = RatioAuditSpec(
        tuple(cases), tuple(readings), amounts, writers, draws, seed, seconds, asked,
        named_confusion(confusion),
    )  # fmt: skip
    with _progress() as progress:
        answer = audit_ratios(question, engine.map, progress)
        found = summarise(answer)
    if as_json:
        data = ratio_audit_data(answer, found)
        if by is not None:
            data |= {"judge": by.name, "coverage_is_an_estimate": by.is_estimate}
        typer.echo(json.dumps(data, indent=1))
        return

    show_ratio_audit(answer, found, by)


def _in_pool(packages: list["Package"]) -> list["Package"]:
    """Packages whose construction was rejected are not scored."""
    from memaudit.scoring.judged_store import is_out_of_pool

    kept = [one for one in packages if not is_out_of_pool(one)]
    if len(kept) < len(packages):
        left_out = len(packages) - len(kept)
        typer.echo(f"{left_out} packages are out of the scoring pool and left out", err=True)
    return kept


def _cases(
    packages: list["Package"], stores: list[Path], judge: str, label_memories: Path | None
) -> tuple[list["Case"], "Judge | None"]:
    """The packages with the stores that were written for them."""
    from memaudit.adapters.store import read_store
    from memaudit.label_audit.audited_package import audited_package, stores_by_package
    from memaudit.scoring.judges import named_judge, refuse_shared_ids

    if not stores:
        return [audited_package(package) for package in packages], None
    by = named_judge(judge, label_memories)
    exported = [read_store(path) for path in stores]
    refuse_shared_ids([judge], label_memories, exported)
    for one in exported:
        for warning in one.warnings:
            typer.echo(safe(f"{one.name}: {warning}"), err=True)
    return [
        audited_package(one, found) for one, found in stores_by_package(packages, exported, by)
    ], by


def _readings(
    labels: list[str], model: list[str], frame: "Frame | None", cases: list["Case"]
) -> list["Reading"]:
    """The label sets of annotators, then those of models."""
    from memaudit.label_audit.frame_files import read_label_sets
    from memaudit.label_audit.label_sources import source_of_annotator, source_of_pass
    from memaudit.natural.coverage_rules import PASS

    found: list[LabelSource] = []
    roles: list[tuple[str, Role]] = [(name, "annotator") for name in labels]
    for name, role in (*roles, *((name, "model") for name in model)):
        if name.startswith(PASS):
            found.append(source_of_pass(name.removeprefix(PASS), cases, role))
        elif frame is None:
            raise MemAuditError(f"{name}: a label file needs the frame it is about; give --frame")
        else:
            sets = read_label_sets(Path(name), frame)
            found += (source_of_annotator(one, frame, cases, role) for one in sets)
    return found


@contextmanager
def _progress() -> Iterator["Progress"]:
    """A bar a step on standard error; long draws are announced, with what leaves them out."""
    from memaudit.cli.sweeping import bar
    from memaudit.label_audit.ratio_audit import DRAWS

    with bar() as shown:
        tasks: dict[str, TaskID] = {}
        started, said = 0.0, False

        def progress(step: str, done: int, total: int) -> None:
            nonlocal started, said
            if step not in tasks:
                tasks[step] = shown.add_task(step, total=total)
                started = time.monotonic()
            shown.update(tasks[step], completed=done)
            if step == DRAWS and done and not said:
                said = True
                left = (time.monotonic() - started) / done * (total - done)
                if left > LONG:
                    text = f"{total - done} more labellings to draw: about {left:.0f} s"
                    typer.echo(f"{text}; --draws 0 leaves them out", err=True)

        yield progress
