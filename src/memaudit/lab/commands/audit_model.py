"""`memaudit audit model`: another model judges packages again, and what that does to ratios."""

import json
from typing import Annotated

import typer

from memaudit.cli.options import (
    Budgets,
    LabelledPackages,
    chosen_draws,
    distinct_budgets,
    model_session,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.lab.commands.audit_agreement import show_pairs
from memaudit.lab.commands.audit_ratios import (
    AuditedWriters,
    TwoLabels,
    checked_writers,
    ratio_file_of,
    scored_packages,
    show_ratios,
)


def model_pass(
    packages: LabelledPackages,
    model: Annotated[str, typer.Option(metavar="NAME", help="The model that judges again.")],
    budget: Budgets = "30,60,100",
    writer: AuditedWriters = None,
    zero_rate: Annotated[
        str,
        typer.Option(metavar="R", help="Share of uncovered cells to ask about; 1 for all of them."),
    ] = "1",
    two_labels: TwoLabels = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON: that of audit agreement, and that of ratios."),
    ] = False,
) -> None:
    """Have another model judge packages, and compare labels, ratios and rankings.

    It sees the texts of a memory and a unit, and no other label. Prints agreement with the
    packages' labels, the mean change of the writers' ratios, and whether their ranking holds.
    """
    from memaudit.kernel.exact import exact
    from memaudit.lab.labels.agreement import DRAWS, audit_agreement
    from memaudit.lab.labels.frame_drawing import Design, draw
    from memaudit.lab.labels.label_sources import source_of_annotator
    from memaudit.lab.labels.model_labels import labels_by_model

    budgets, writers = distinct_budgets(budget), checked_writers(writer)
    try:
        rate = exact(zero_rate)
    except ValueError as error:
        raise MemAuditError(f"--zero-rate {zero_rate!r}: {error}") from None
    pool = scored_packages(packages)
    frame = draw(pool, Design(zero_rate=rate)).frame
    with model_session(True) as session:
        assert session is not None  # asked for
        answered = labels_by_model(frame, session, model)
    # On three labels even with --two-labels: agreement has a scale of its own for covered or not.
    agreed = audit_agreement(frame, [], [answered.labels], chosen_draws(DRAWS))
    source = source_of_annotator(answered.labels, frame, pool)
    moved = ratio_file_of(pool, [source], budgets, writers, two_labels)
    if as_json:
        both = {"agreement": agreed.model_dump(), "ratios": moved.model_dump()}
        data = {"model": source.name, "undecided": len(answered.undecided), **both}
        typer.echo(json.dumps(data, indent=1))
        return
    show_pairs(agreed)
    if answered.undecided:
        typer.echo(f"{len(answered.undecided):,} cells got no answer and keep the package's label")
    show_ratios(moved)
