"""`memaudit audit ratios`: what other labels do to ratios and rankings."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from memaudit.cli.options import (
    Budgets,
    LabelledPackages,
    chosen_draws,
    chosen_engine,
    distinct_budgets,
    kept_in,
    label_memories,
)
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import console, safe, safe_markup
from memaudit.judges.defaults import DEFAULT_JUDGE
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.number_text import fixed, short_exact
from memaudit.kernel.package.provenance import assumed_text

if TYPE_CHECKING:
    from rich.progress import TaskID

    from memaudit.kernel.package.package import Package
    from memaudit.kernel.score.judge import Judge
    from memaudit.kernel.stats.bootstrap import Interval
    from memaudit.lab.labels.audited_package import AuditedPackage
    from memaudit.lab.labels.frame import Frame
    from memaudit.lab.labels.label_sources import LabelSource
    from memaudit.lab.labels.ratio_audit import Progress, RatioAudit
    from memaudit.lab.labels.ratio_audit_summary import RankingChange, RatioAuditSummary
    from memaudit.lab.studies.rank_correlation import Correlation

ANNOUNCE_SECONDS = 10.0
"""If the draws will take longer than this, the time is announced."""

NO_CONSENSUS = {
    "missing": "fewer than two annotators labelled them",
    "cannot_tell": "an annotator answered cannot_tell",
    "disagreed": "annotators disagree",
}
"""Why there is no consensus."""

AuditedWriters = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="A writer; may be repeated. Default: gvt and all deployable writers."
    ),
]


def checked_writers(names: list[str] | None) -> tuple[str, ...]:
    """The writers that are asked for, each once; an unknown name is refused."""
    from memaudit.lab.labels.audited_package import DEFAULT_WRITERS
    from memaudit.lab.sweeps.writers.registry import named_writer

    writers = tuple(dict.fromkeys(names or DEFAULT_WRITERS))
    for name in writers:
        named_writer(name)
    return writers


def ratios(
    packages: LabelledPackages,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABELS",
            help="A label file, or pass:NAME for a label pass of the packages; may be repeated. "
            "Labels by an annotator called model:NAME are not in the consensus.",
        ),
    ] = None,
    frame: Annotated[
        Path | None, typer.Option(metavar="FRAME", help="The frame of the label files.")
    ] = None,
    budget: Budgets = "30,60,100",
    writer: AuditedWriters = None,
    store: Annotated[
        list[Path] | None,
        typer.Option(metavar="STORE", help="A store written by memaudit import; may be repeated."),
    ] = None,
    judge: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Decides coverage: offline or lexical (estimates), pointer, labels:FILE or "
            "calls:FILE.",
        ),
    ] = DEFAULT_JUDGE,
    two_labels: Annotated[
        bool,
        typer.Option(
            "--two-labels",
            help="Compare covered or not: partial counts as full in packages and all label sets.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Test whether ratios and rankings hold under other labels.

    The same stores are scored under every label set.
    """
    from memaudit.building.named_packages import labelled_packages
    from memaudit.kernel.package.labels import PASS
    from memaudit.lab.labels.frame_files import read_frame
    from memaudit.lab.labels.label_sources import covered_or_not, with_two_labels
    from memaudit.lab.labels.ratio_audit import DEFAULT_DRAWS, RatioAuditSpec, audit_ratios
    from memaudit.lab.labels.ratio_audit_json import ratio_audit_data
    from memaudit.lab.labels.ratio_audit_summary import summarise

    budgets = distinct_budgets(budget)
    writers = checked_writers(writer)
    run = chosen_engine(few=0).map
    pool = _in_pool(labelled_packages(packages))
    if two_labels:
        if store:
            raise MemAuditError("--two-labels compares labels of packages; leave out --store")
        pool = [with_two_labels(package) for package in pool]
    audited, named = _audited(pool, store or [], judge)
    labelled = None if frame is None else read_frame(frame)
    sources = _sources(labels or [], labelled, audited)
    if two_labels:
        sources = [covered_or_not(source) for source in sources]
    # With the frame, uncovered cells that its cells represent would be drawn, though nobody here
    # was asked about the frame.
    if all(name.startswith(PASS) for name in labels or []):
        labelled = None  # no label file uses the frame: passes judged cells of their own
    spec = RatioAuditSpec(
        tuple(audited),
        tuple(sources),
        budgets,
        writers,
        chosen_draws(DEFAULT_DRAWS, least=0),
        seconds=in_force().solver.seconds,
        frame=labelled,
    )
    with kept_in(in_force().engine.journal, "audit ratios", lambda: spec.settings, run) as keeping:
        with _progress() as progress:
            audit = audit_ratios(spec, keeping, progress)
        summary = summarise(audit)
    if as_json:
        data = ratio_audit_data(audit, summary)
        if named is not None:
            data |= {"judge": named.name, "coverage_is_an_estimate": named.is_estimate}
        typer.echo(json.dumps(data, indent=1))
    else:
        _show(audit, summary, named)


def _in_pool(packages: list["Package"]) -> list["Package"]:
    """Drop packages whose construction was rejected."""
    from memaudit.kernel.score.priced_store import is_out_of_pool

    pool = [package for package in packages if not is_out_of_pool(package)]
    if len(pool) < len(packages):
        left_out = len(packages) - len(pool)
        typer.echo(f"skipped {left_out} packages that are not in the scoring pool", err=True)
    return pool


def _audited(
    packages: list["Package"], stores: list[Path], judge: str
) -> tuple[list["AuditedPackage"], "Judge | None"]:
    """The packages with the stores written for them, and the judge of these stores."""
    from memaudit.judges.registry import named_judge
    from memaudit.kernel.score.judge import refuse_shared_ids
    from memaudit.lab.labels.audited_package import audited_package, stores_by_package
    from memaudit.stores.registry import read_imported

    if not stores:
        return [audited_package(package) for package in packages], None
    named = named_judge(judge, label_memories([judge]))
    exported = [read_imported(path) for path in stores]
    refuse_shared_ids(named, exported)
    for store in exported:
        for warning in store.warnings:
            typer.echo(safe(f"{store.name}: {warning}"), err=True)
    return [
        audited_package(package, written)
        for package, written in stores_by_package(packages, exported, named)
    ], named


def _sources(
    names: list[str], frame: "Frame | None", packages: list["AuditedPackage"]
) -> list["LabelSource"]:
    """The label sets of annotators, then those of models."""
    from memaudit.kernel.package.labels import PASS
    from memaudit.lab.labels.frame_files import read_label_sets
    from memaudit.lab.labels.label_sources import source_of_annotator, source_of_pass

    sources: list[LabelSource] = []
    for name in names:
        if name.startswith(PASS):
            sources.append(source_of_pass(name.removeprefix(PASS), packages))
        elif frame is None:
            raise MemAuditError(f"{name}: a label file needs its frame; give --frame")
        else:
            sources += (
                source_of_annotator(label_set, frame, packages)
                for label_set in read_label_sets(Path(name), frame)
            )
    # Sorting is stable: people stay in the order they were given in.
    return sorted(sources, key=lambda source: source.role == "model")


@contextmanager
def _progress() -> Iterator["Progress"]:
    """One progress bar per step. If drawing labels takes long, say so and how to skip it."""
    from memaudit.cli.terminal import progress_bar
    from memaudit.lab.labels.ratio_audit import DRAWS

    with progress_bar() as shown:
        tasks: dict[str, TaskID] = {}
        started, announced = 0.0, False

        def progress(step: str, done: int, total: int) -> None:
            nonlocal started, announced
            if step not in tasks:
                tasks[step] = shown.add_task(step, total=total)
                started = time.monotonic()
            shown.update(tasks[step], completed=done)
            if step == DRAWS and done and not announced:
                announced = True
                # From the first draws on: solving is most of the time, and draws are alike.
                left = (time.monotonic() - started) / done * (total - done)
                if left > ANNOUNCE_SECONDS:
                    text = f"{total - done} more labellings to draw: about {left:.0f} s"
                    typer.echo(f"{text}; score.draws=0 skips them", err=True)

        yield progress


def _show(audit: "RatioAudit", summary: "RatioAuditSummary", judge: "Judge | None") -> None:
    """Print the paper's table, then every ratio with its uncertainty."""
    from memaudit.kernel.score.caveats import caveat_lines
    from memaudit.kernel.score.judge import judged_how

    screen = console()
    packages = audit.spec.packages
    basis = " and ".join(sorted({audited.basis for audited in packages}))
    screen.print(
        f"{len(packages)} packages, {len(audit.store_names)} stores, ratios to the optimum of the "
        f"{basis}; stores are those written under the package's own labels, optima are solved "
        "under each label set"
    )
    if judge is not None:
        mark = judged_how(judge.name, judge.is_estimate)
        screen.print(f"coverage of memories: judge {safe_markup(judge.name)}, {mark}")
        for audited in packages:
            for line in caveat_lines([(store.name, store.caveats) for store in audited.stores]):
                screen.print(safe_markup(f"{audited.name}, {line}"))
    optima = [
        best.assumed
        for by_package in audit.scores.values()
        for scores in by_package
        for best in scores.optima.values()
    ]
    if assumed := assumed_text(max(optima, default=Fraction(0))):
        screen.print(f"of the optimum where it is most, {assumed}")
    _show_shifts(screen, audit, summary)
    screen.print("--json and memaudit audit report have every ratio under every label set")
    _show_counts(screen, audit, summary)


def _show_shifts(screen: Console, audit: "RatioAudit", summary: "RatioAuditSummary") -> None:
    from memaudit.lab.labels.ratio_audit_summary import changed_cells

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("label set", overflow="fold")
    for name in ("cells", "changed", "budget", "ratio MAD"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("ranking", no_wrap=True)
    for name in ("tau", "rho"):
        table.add_column(name, justify="right", no_wrap=True)
    for source in audit.sources:
        for place, shift in enumerate(summary.shifts[source.name]):
            head = (
                _title(source),
                f"{source.labelled_cells:,}",
                f"{changed_cells(audit, source):,}",
            )
            table.add_row(
                *(head if not place else ("", "", "")),
                "all" if shift.budget is None else short_exact(shift.budget),
                _interval(shift.change, 4),
                _order(shift.ranking),
                _correlation(shift.ranking.tau),
                _correlation(shift.ranking.rho),
            )
    screen.print(table)
    screen.print(
        "ratio MAD: mean absolute change of ratios; ranking: pairs of stores that swap places or "
        "are tied under only one label set"
    )


def _show_counts(screen: Console, audit: "RatioAudit", summary: "RatioAuditSummary") -> None:
    from memaudit.lab.labels.ratio_audit_summary import ratio_notes

    for source in audit.sources:
        counts = {
            "cells were labelled cannot_tell": source.undecided_cells,
            "cells belong to other packages": source.elsewhere,
            **{
                f"cells keep the package's label: {NO_CONSENSUS[why]}": count
                for why, count in source.unsettled.items()
            },
        }
        text = "; ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        if text:
            screen.print(f"{safe_markup(source.name)}: {text}")
    if audit.contradicting:
        screen.print(
            f"{audit.contradicting:,} cells of memories keep the judge's value because candidates "
            "with the same words were labelled differently"
        )
    for note in ratio_notes(audit):
        screen.print(safe_markup(note))
    lost = sum(sum(row.missing.values()) for row in summary.rows)
    undefined = sum(
        sum(shift.undefined.values())
        for shifts in summary.shifts.values()
        for shift in shifts
        if shift.budget is not None
    )
    screen.print(
        f"undefined ratios: {lost:,} under the package's labels, {undefined:,} pairs of package "
        "and budget under label sets"
    )
    screen.print(f"optima not certified: {summary.uncertified:,} of {summary.solved:,}")


def _title(source: "LabelSource") -> str:
    return safe_markup(f"{source.name} (model)" if source.role == "model" else source.name)


def _interval(interval: "Interval", places: int = 3) -> str:
    """A mean, with its bootstrap interval if there are packages to draw from."""
    mean = fixed(interval.mean, places)
    return mean if interval.n < 2 else f"{mean} {_range(interval.low, interval.high)}"


def _range(low: float, high: float, places: int = 3) -> str:
    return rf"\[{fixed(low, places)}, {fixed(high, places)}]"


def _order(ranking: "RankingChange") -> str:
    """Preserved, or how many pairs swap places or are tied under only one label set."""
    if ranking.ranked < 2:
        return "-"
    if ranking.preserved:
        return "preserved"
    counts = ((len(ranking.swapped), "swap"), (len(ranking.tied), "tie"))
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _correlation(correlation: "Correlation") -> str:
    value, low, high = correlation.value, correlation.low, correlation.high
    defined = value == value and low == low and high == high  # NaN differs from itself
    return f"{fixed(value)} {_range(low, high, 2)}" if defined else fixed(value)
