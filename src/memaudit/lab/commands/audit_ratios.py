"""`memaudit audit ratios`: what other labels do to ratios and rankings."""

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.options import (
    Budgets,
    LabelledPackages,
    chosen_engine,
    distinct_budgets,
    kept_in,
)
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import console, print_columns, progress
from memaudit.kernel.errors import MemAuditError
from memaudit.lab.commands.tables import print_plain

if TYPE_CHECKING:
    from memaudit.kernel.package.package import Package
    from memaudit.lab.labels.frame import Frame
    from memaudit.lab.labels.label_sources import LabelSource
    from memaudit.lab.labels.ratio_file import RatioAuditFile

AuditedWriters = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="A writer; may be repeated. Default: gvt and all deployable writers."
    ),
]
TwoLabels = Annotated[
    bool,
    typer.Option(
        "--two-labels",
        help="Compare covered or not: partial counts as full in packages and all label sets.",
    ),
]


def checked_writers(names: list[str] | None) -> tuple[str, ...]:
    """The writers that are asked for, each once; an unknown name is refused."""
    from memaudit.lab.labels.ratio_audit import DEFAULT_WRITERS
    from memaudit.lab.sweeps.writers.registry import named_writer

    writers = tuple(dict.fromkeys(names or DEFAULT_WRITERS))
    for name in writers:
        named_writer(name)
    return writers


def scored_packages(names: list[str]) -> list["Package"]:
    """The packages without those whose construction was rejected."""
    from memaudit.building.named_packages import labelled_packages
    from memaudit.kernel.score.priced_store import is_out_of_pool

    packages = labelled_packages(names)
    pool = [package for package in packages if not is_out_of_pool(package)]
    if len(pool) < len(packages):
        left_out = len(packages) - len(pool)
        typer.echo(f"skipped {left_out} packages that are not in the scoring pool", err=True)
    return pool


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
    two_labels: TwoLabels = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Test whether ratios and rankings hold under other labels.

    What writers keep is scored under every label set.
    """
    from memaudit.lab.labels.frame_files import read_frame

    budgets, writers = distinct_budgets(budget), checked_writers(writer)
    pool = scored_packages(packages)
    sources = _sources(labels or [], None if frame is None else read_frame(frame), pool)
    audited = ratio_file_of(pool, sources, budgets, writers, two_labels)
    if as_json:
        typer.echo(json.dumps(audited.model_dump(), indent=1))
    else:
        show_ratios(audited)


def ratio_file_of(
    packages: Sequence["Package"],
    sources: Sequence["LabelSource"],
    budgets: Sequence[Fraction],
    writers: tuple[str, ...],
    two_labels: bool,
) -> "RatioAuditFile":
    """Score everything with the settings in force."""
    from memaudit.lab.labels.label_sources import covered_or_not, with_two_labels
    from memaudit.lab.labels.ratio_audit import RatioAuditSpec, audit_ratios
    from memaudit.lab.labels.ratio_summary import ratio_audit_file

    if two_labels:
        packages = [with_two_labels(package) for package in packages]
        sources = [covered_or_not(source) for source in sources]
    keys, run = in_force(), chosen_engine(few=0).map
    spec = RatioAuditSpec(
        tuple(packages), tuple(sources), tuple(budgets), writers, seconds=keys.solver.seconds
    )
    with (
        kept_in(keys.engine.journal, "audit ratios", lambda: spec.settings, run) as keeping,
        progress("packages", len(packages)) as done,
    ):
        return ratio_audit_file(audit_ratios(spec, keeping, done))


def _sources(
    names: list[str], frame: "Frame | None", packages: Sequence["Package"]
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


def show_ratios(audit: "RatioAuditFile") -> None:
    """Print the paper's table, and what a reader must know about it."""
    from memaudit.lab.labels.ratio_file import SHIFT_COLUMNS

    screen = console()
    print_plain(
        screen,
        f"{audit.packages} packages, {len(audit.stores)} writers: what they keep under the "
        "package's own labels, over the optimum of each label set",
    )
    print_columns(screen, SHIFT_COLUMNS, audit.rows)
    print_plain(
        screen,
        "ratio MAD: mean absolute change of ratios; ranking: pairs of writers that swap places or "
        "are tied under only one label set",
    )
    print_plain(screen, "--json and memaudit audit report have every ratio under every label set")
    for note in audit.notes:
        print_plain(screen, note)
    print_plain(
        screen, f"optima not certified: {audit.uncertified_optima:,} of {audit.solved_optima:,}"
    )
