"""`memaudit audit optimum`: the cells that an optimum rests on, judged a second time."""

import json
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
from memaudit.cli.terminal import console, safe, safe_markup
from memaudit.judges.defaults import DEFAULT_JUDGE
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.text import counted
from memaudit.lab.commands.tables import plain_table

if TYPE_CHECKING:
    from memaudit.kernel.package.package import Package
    from memaudit.kernel.score.priced_store import JudgedStore
    from memaudit.lab.labels.optimum_audit import CrossFit, FrameLabels, OptimumAudit


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
    from memaudit.kernel.score.judged_store import judge_store
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
        typer.echo(json.dumps({"audit": data, "cross_fit": list(map(fit_data, fits))}, indent=1))
        return
    if audit is not None:
        _show(audit)
    for fit in fits:
        _show_fit(fit)


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


def audit_data(audit: "OptimumAudit") -> dict[str, Any]:
    """The audit as plain data."""
    from memaudit.kernel.exact import plain
    from memaudit.kernel.number_text import rounded

    def both(pair: tuple[Fraction | None, Fraction | None]) -> dict[str, Any]:
        return {"claimed": rounded(pair[0]), "corrected": rounded(pair[1])}

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
        "by_provenance": [
            {
                "provenance": group.provenance,
                "rests_on": group.ground.value,
                "kind": group.kind,
                "cells": group.cells,
                "looked_at": group.looked_at,
                "claimed": rounded(group.claimed),
                "surviving": rounded(group.surviving),
            }
            for group in audit.groups
        ],
        "stores": [
            {
                "store": store.name,
                "best_subset": both(store.best),
                "kept": both(store.kept),
                "best_subset_ratio": both(store.best_ratio),
                "score": both(store.score),
            }
            for store in audit.stores
        ],
    }


def fit_data(fit: "CrossFit") -> dict[str, Any]:
    """A cross-fit as plain data."""
    from memaudit.kernel.number_text import rounded

    return {
        "chosen_under": fit.chosen,
        "valued_under": fit.valued,
        "claimed": rounded(fit.claimed),
        "worth": rounded(fit.worth),
        "survival": rounded(fit.survival),
        "optimum_there": rounded(fit.optimum),
    }


def _show(audit: "OptimumAudit") -> None:

    from memaudit.kernel.number_text import fixed, short_exact

    screen = console()
    table = plain_table(
        "provenance", "rests on", "kind", "cells", "looked at", "claimed", "surviving", left=3
    )
    for group in audit.groups:
        table.add_row(
            safe_markup(group.provenance),
            group.ground.value,
            safe_markup(group.kind),
            str(group.cells),
            str(group.looked_at),
            short_exact(group.claimed),
            short_exact(group.surviving),
        )
    screen.print("cells of the optimal store, times the weight of their units")
    screen.print(table)
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

    def pair(ratios: tuple[Fraction | None, Fraction | None]) -> str:
        return " -> ".join("undefined" if ratio is None else fixed(ratio) for ratio in ratios)

    for store in audit.stores:
        screen.print(
            safe_markup(
                f"{store.name}: best subset {pair(store.best_ratio)} of OPT, score "
                f"{pair(store.score)}"
            )
        )


def _show_fit(fit: "CrossFit") -> None:
    from memaudit.kernel.number_text import short_exact

    survival = "" if fit.survival is None else f" ({float(fit.survival):.1%})"
    console().print(
        safe_markup(
            f"chosen under {fit.chosen} for {short_exact(fit.claimed)}, worth "
            f"{short_exact(fit.worth)} under {fit.valued}{survival}, where the optimum is "
            f"{short_exact(fit.optimum)}"
        )
    )
