"""`memaudit audit optimum`: the cells that an optimum rests on, judged a second time."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.options import (
    PackagePath,
    label_memories,
    model_session,
    one_budget,
)
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import console, print_columns, safe
from memaudit.judges.defaults import DEFAULT_JUDGE
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.number_text import percent, ratio, rounded, short_exact
from memaudit.kernel.words.text import counted
from memaudit.show.columns import Column, column, records

if TYPE_CHECKING:
    from memaudit.kernel.package.package import Package
    from memaudit.kernel.score.priced_store import JudgedStore
    from memaudit.lab.labels.optimum_audit import (
        AuditedStore,
        CellGroup,
        CrossFit,
        FrameLabels,
        OptimumAudit,
    )


def optimum(
    package: PackagePath,
    budget: Annotated[str, typer.Option(metavar="B", help="The budget, a cost.")],
    stores: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[STORE]...", help="Stores written by memaudit import."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Judges the cells again: labels:FILE, calls:FILE, model:NAME, ..."
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="LABELS", help="Labels of the cells in --frame, by an annotator."),
    ] = None,
    frame: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the cells as a frame that people can label."),
    ] = None,
    store_judge: Annotated[
        str,
        typer.Option(metavar="NAME", help="Decides what stores cover before the second look."),
    ] = DEFAULT_JUDGE,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Have the cells that an optimum rests on judged again.

    Prints claimed against surviving value, the optimum and the scores under the new labels, and,
    if the package has several label passes, what the best store of one is worth under another.
    """
    from memaudit.judges.registry import named_judge
    from memaudit.kernel.io.packages import read_package
    from memaudit.kernel.score.judging import judge_store
    from memaudit.lab.labels.optimum_audit import JudgesAgain, audit_optimum, cross_fit
    from memaudit.stores.registry import read_imported

    at = one_budget(budget)
    audited = read_package(package)
    if labels is not None and (frame is None or judge is not None):
        raise MemAuditError("--labels goes with --frame, the frame they were made for, alone")
    if judge is not None and frame is not None:
        raise MemAuditError("give --judge, or --frame to have people judge the cells")
    exported = [read_imported(path) for path in stores or []]
    names = [name for name in (judge, store_judge if exported else None) if name is not None]
    by_file = label_memories(names)
    keys = in_force()
    group_cap, seconds = keys.score.group_cap, keys.solver.seconds
    audit = None
    with model_session(names) as session:
        # One session for both judges: its caps and its cache are for the command as a whole.
        claims = named_judge(
            store_judge, by_file if store_judge.startswith("labels:") else None, session
        )
        judged = [judge_store(audited, store, claims) for store in exported]
        if labels is not None and frame is not None:
            people = _frame_labels(frame, labels, audited.name)
            audit = audit_optimum(audited, judged, at, people, group_cap, seconds)
        elif judge is not None:
            own = by_file if judge.startswith("labels:") else None
            look = JudgesAgain(named_judge(judge, own, session), audited.name)
            audit = audit_optimum(audited, judged, at, look, group_cap, seconds)
        elif frame is not None:
            _write_frame(audited, judged, at, frame, group_cap)
    # Passes of the package need neither a judge nor people, so they are always compared.
    fits = cross_fit(audited, at, group_cap, seconds)
    if audit is None and frame is None and not fits:
        raise MemAuditError(
            f"{audited.name}: has no two label passes; give a --judge, or a --frame to write"
        )
    if as_json:
        data = None if audit is None else audit_data(audit)
        both = {"audit": data, "cross_fit": records(FIT_COLUMNS, fits)}
        typer.echo(json.dumps(both, indent=1))
        return
    if audit is not None:
        _show(audit)
    if fits:
        typer.echo("the store chosen under one label pass, valued under another")
        print_columns(console(), FIT_COLUMNS, fits)


def _frame_labels(frame: Path, labels: Path, package: str) -> "FrameLabels":
    from memaudit.lab.labels.frame_files import read_frame, read_label_sets
    from memaudit.lab.labels.optimum_audit import FrameLabels

    shown = read_frame(frame)
    if others := {cell.package for cell in shown.cells} - {package}:
        raise MemAuditError(f"{frame.name}: is a frame of {min(others)!r}, not of {package!r}")
    sets = read_label_sets(labels, shown)
    if len(sets) > 1:
        raise MemAuditError(f"{labels.name}: has labels of several annotators; give one of them")
    return FrameLabels(shown, sets[0])


def _write_frame(
    package: "Package",
    stores: list["JudgedStore"],
    budget: Fraction,
    out: Path,
    group_cap: int | None,
) -> None:
    from memaudit.lab.labels.frame_files import CELLS, KEY, write_frame
    from memaudit.lab.labels.optimum_audit import optimum_frame

    drawn = optimum_frame(package, stores, budget, group_cap)
    state = "wrote" if write_frame(drawn, out) else "already exists:"
    typer.echo(safe(f"{state} {counted(len(drawn.cells), 'cell')} in {out}"), err=True)
    typer.echo(f"give to annotators: {CELLS}; hide from them: {KEY}", err=True)


Pair = tuple[Fraction | None, Fraction | None]
"""Under the package's labels, and under the new ones."""


def _both(what: str, pair: "Callable[[AuditedStore], Pair]") -> "Column[AuditedStore]":
    return column(
        what,
        lambda store: dict(zip(("claimed", "corrected"), map(rounded, pair(store)), strict=True)),
        show=lambda both: " -> ".join(ratio(value, missing="undefined") for value in both.values()),
    )


GROUP_COLUMNS: "list[Column[CellGroup]]" = [
    column("provenance", lambda group: group.provenance, words=True),
    column("rests on", lambda group: group.ground.value, words=True),
    column("kind", lambda group: group.kind, words=True),
    column("cells", lambda group: group.cells),
    column("looked at", lambda group: group.looked_at),
    column("claimed", lambda group: plain(group.claimed)),
    column("surviving", lambda group: plain(group.surviving)),
]
STORE_COLUMNS: "list[Column[AuditedStore]]" = [
    column("store", lambda store: store.name, words=True),
    _both("best subset", lambda store: store.best),
    _both("kept", lambda store: store.kept),
    _both("best subset ratio", lambda store: store.best_ratio),
    _both("score", lambda store: store.score),
]
FIT_COLUMNS: "list[Column[CrossFit]]" = [
    column("chosen under", lambda fit: fit.chosen, words=True),
    column("valued under", lambda fit: fit.valued, words=True),
    column("claimed", lambda fit: plain(fit.claimed)),
    column("worth", lambda fit: plain(fit.worth)),
    column("survival", lambda fit: rounded(fit.survival), show=lambda share: percent(share, 1)),
    column("optimum there", lambda fit: plain(fit.optimum)),
]


def audit_data(audit: "OptimumAudit") -> dict[str, Any]:
    """The audit as plain data."""
    return {
        "package": audit.package,
        "budget": plain(audit.budget),
        "claimed": rounded(audit.claimed.value),
        "surviving": rounded(audit.surviving),
        "survival": rounded(audit.survival),
        "corrected": rounded(audit.corrected.value),
        "corrected_is_certified": audit.corrected.certified,
        "cells_looked_at": audit.looked_at,
        "cells_not_looked_at": audit.not_looked_at,
        "rounds": audit.rounds,
        "by_provenance": records(GROUP_COLUMNS, audit.groups),
        "stores": records(STORE_COLUMNS, audit.stores),
    }


def _show(audit: "OptimumAudit") -> None:
    screen = console()
    screen.print("cells of the optimal store, times the weight of their units")
    print_columns(screen, GROUP_COLUMNS, audit.groups)
    share = "" if audit.survival is None else f" ({float(audit.survival):.1%} survives)"
    screen.print(
        f"the optimum claims {short_exact(audit.claimed.value)}; the same store is worth "
        f"{short_exact(audit.surviving)} by the second look{share}"
    )
    proof = "certified" if audit.corrected.certified else "not certified"
    screen.print(
        f"corrected optimum: {short_exact(audit.corrected.value)} ({proof}), after "
        f"{counted(audit.looked_at, 'cell')} in {counted(audit.rounds, 'round')}"
    )
    if audit.not_looked_at:
        cells = counted(audit.not_looked_at, "cell")
        screen.print(f"{cells} of the corrected optimum got no second label and keep their value")
    if audit.stores:
        print_columns(screen, STORE_COLUMNS, audit.stores)
