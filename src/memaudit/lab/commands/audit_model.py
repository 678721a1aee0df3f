"""`memaudit audit model`: another model judges packages again, and what that does to ratios."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.options import (
    Budgets,
    LabelledPackages,
    chosen_draws,
    chosen_engine,
    distinct_budgets,
    model_session,
)
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import console, safe, safe_markup
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.number_text import fixed, short_exact, with_interval
from memaudit.lab.commands.audit_ratios import AuditedWriters, checked_writers
from memaudit.lab.commands.tables import plain_table

if TYPE_CHECKING:
    from memaudit.lab.labels.agreement import AgreementAudit
    from memaudit.lab.labels.ratio_audit_summary import LabelShift


def model_pass(
    packages: LabelledPackages,
    model: Annotated[str, typer.Option(metavar="NAME", help="The model that judges again.")],
    budget: Budgets = "30,60,100",
    writer: AuditedWriters = None,
    zero_rate: Annotated[
        str,
        typer.Option(metavar="R", help="Share of uncovered cells to ask about; 1 for all of them."),
    ] = "1",
    two_labels: Annotated[
        bool,
        typer.Option(
            "--two-labels",
            help="Compare covered or not: partial counts as full in packages and in the pass.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Have another model judge packages, and compare labels, ratios and rankings.

    It sees the texts of a memory and a unit, and no other label. Prints agreement with the
    packages' labels, the mean change of the writers' ratios, and whether their ranking holds.
    """
    from memaudit.building.named_packages import labelled_packages
    from memaudit.kernel.exact import exact
    from memaudit.kernel.score.priced_store import is_out_of_pool
    from memaudit.lab.labels.agreement import DRAWS, audit_agreement
    from memaudit.lab.labels.audited_package import audited_package
    from memaudit.lab.labels.frame_drawing import Design, draw
    from memaudit.lab.labels.label_sources import (
        covered_or_not,
        source_of_annotator,
        with_two_labels,
    )
    from memaudit.lab.labels.model_labels import labels_by_model
    from memaudit.lab.labels.ratio_audit import RatioAuditSpec, audit_ratios
    from memaudit.lab.labels.ratio_audit_summary import summarise

    budgets = distinct_budgets(budget)
    writers = checked_writers(writer)
    try:
        rate = exact(zero_rate)
    except ValueError as error:
        raise MemAuditError(f"--zero-rate {zero_rate!r}: {error}") from None
    run = chosen_engine(few=0).map
    # Packages whose construction was rejected are not scored, so a second opinion on them changes
    # nothing.
    pool = [package for package in labelled_packages(packages) if not is_out_of_pool(package)]
    drawing = draw(pool, Design(zero_rate=rate))
    with model_session(True) as session:
        assert session is not None  # asked for
        answered = labels_by_model(drawing.frame, session, model)
    # On three labels even with --two-labels: agreement has a scale of its own for covered or not.
    agreed = audit_agreement(drawing.frame, [], [answered.labels], chosen_draws(DRAWS))
    scored = [with_two_labels(package) if two_labels else package for package in pool]
    audited = [audited_package(package) for package in scored]
    source = source_of_annotator(answered.labels, drawing.frame, audited)
    spec = RatioAuditSpec(
        tuple(audited),
        (covered_or_not(source) if two_labels else source,),
        budgets,
        writers,
        # One model is no sample of annotators: odds measured with it would be its own shift again.
        draws=0,
        seconds=in_force().solver.seconds,
        frame=drawing.frame,
    )
    audit = audit_ratios(spec, run, lambda *_: None)
    shifts = summarise(audit).shifts[source.name]
    data = _data(agreed, shifts, len(pool), len(answered.undecided), two_labels)
    if as_json:
        typer.echo(json.dumps({"model": source.name, "writers": list(writers), **data}, indent=1))
        return
    _show(source.name, data)


def _data(
    agreed: "AgreementAudit",
    shifts: "tuple[LabelShift, ...]",
    packages: int,
    undecided: int,
    two_labels: bool,
) -> dict[str, Any]:
    return {
        "packages": packages,
        "cells": agreed.cells,
        "undecided": undecided,
        "two_labels": two_labels,
        "agreement": [
            {
                "scale": pair.scale.name,
                "cells": pair.cells,
                "kappa": _estimate(pair.as_drawn.kappa),
                "raw_agreement": _estimate(pair.as_drawn.raw),
            }
            for pair in agreed.comparisons
        ],
        "ratios": [
            {
                "budget": "all" if shift.budget is None else short_exact(shift.budget),
                "ratio_mad": shift.change.to_json(),
                "ranking_preserved": shift.ranking.preserved,
                "spearman_rho": shift.ranking.rho.value,
            }
            for shift in shifts
        ],
    }


def _estimate(estimate: Any) -> float | None:
    return None if estimate.value is None else float(estimate.value)


def _show(name: str, data: dict[str, Any]) -> None:
    screen = console()
    screen.print(safe_markup(f"{name} on {data['cells']:,} cells of {data['packages']:,} packages"))
    if data["undecided"]:
        screen.print(f"{data['undecided']:,} cells got no answer and keep the package's label")
    table = plain_table("labels")
    for heading in ("cells", "Cohen's kappa", "raw agreement"):
        table.add_column(heading, justify="right")
    for row in data["agreement"]:
        table.add_row(
            row["scale"], f"{row['cells']:,}", fixed(row["kappa"]), fixed(row["raw_agreement"])
        )
    screen.print(table)
    table = plain_table("budget", "ratio MAD", "ranking", "Spearman's rho", left=0)
    for row in data["ratios"]:
        mad = row["ratio_mad"]
        table.add_row(
            row["budget"],
            with_interval(mad["mean"], mad["ci_low"], mad["ci_high"]).replace("[", r"\["),
            "preserved" if row["ranking_preserved"] else "changed",
            fixed(row["spearman_rho"]),
        )
    screen.print(table)
    typer.echo(safe("ratio MAD: mean absolute change of the writers' ratios, over packages"))
