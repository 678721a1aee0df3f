"""`memaudit build`: packages from conversations, by rules or with models."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.options import DatasetPath, chosen_engine, dataset_argument, model_session
from memaudit.cli.terminal import resumable, safe
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.cost import UNICODE_WORDS, WORDS
from memaudit.kernel.words.text import counted

if TYPE_CHECKING:
    from memaudit.building.build_folder import BuildJob


WRITER, ROLES = "model", ("judge", "adjudicator", "spot_checker")
"""Parameters of `ModelRecipe`: who writes, and who may do another part of the work."""


def models_by_role(options: Sequence[str]) -> dict[str, str]:
    """The models of `--model NAME --model ROLE=NAME`; without a role a model writes."""
    models: dict[str, str] = {}
    for option in options:
        before, equals, after = option.partition("=")
        role, name = (before, after) if equals and before in ROLES else (WRITER, option)
        if role in models:
            raise MemAuditError(f"--model {option}: {models[role]!r} is the {role} already")
        models[role] = name
    if models and WRITER not in models:
        raise MemAuditError("no model writes memories and units; give --model NAME as well")
    return models


def build_with_models(job: "BuildJob", models: dict[str, str], out: Path) -> dict[str, Any]:
    """Run the passes."""
    from memaudit.building.passes.build import build_into_with_model
    from memaudit.building.passes.recipe import ModelRecipe
    from memaudit.models.session import AskProgress, progress_text

    recipe = ModelRecipe(
        model=models[WRITER],
        judge=models.get("judge"),
        adjudicator=models.get("adjudicator"),
        spot_checker=models.get("spot_checker"),
        cost_rule=job.cost_rule or WORDS,
    )
    on_terminal = sys.stderr.isatty()
    start = "\r" if on_terminal else ""

    def progress(stage: str, state: AskProgress) -> None:
        """Print one line per pass. On a terminal, it is updated in place."""
        if state.done == state.total:
            typer.echo(start + progress_text(stage, state), err=True)
        elif on_terminal:
            typer.echo(start + progress_text(stage, state), err=True, nl=False)

    with model_session(True, progress=progress) as session:
        assert session is not None  # asked for
        return build_into_with_model(job, recipe, session, out)


def build(
    dataset: DatasetPath,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the packages.")],
    subset: Annotated[
        Path | None, typer.Option(metavar="MANIFEST", help="Use only the questions of this subset.")
    ] = None,
    conversation: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Build only this conversation; may be repeated."),
    ] = None,
    cost_rule: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Cost rule: words, unicode_words, bytes or tokens:NAME. Default: words, or "
            "unicode_words where texts have no spaces.",
        ),
    ] = None,
    group: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="What candidates compete within: turn, or session as in the paper."
        ),
    ] = "turn",
    units: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own units, as JSONL or CSV.")
    ] = None,
    memories: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own memories, as JSONL or CSV.")
    ] = None,
    coverage: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Coverage labels of one pass; may be repeated."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[ROLE=]NAME",
            help="Ask this model for memories, units and coverage. Repeat it with judge=NAME, "
            "adjudicator=NAME (checks the units) or spot_checker=NAME (judges a sample again).",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")] = False,
) -> None:
    """Build one package per conversation, and a manifest. Run the same command again to resume.

    The labels of the dataset and yours say what is remembered and asked; or a model does.
    """
    from memaudit.building.build_folder import BuildJob, build_into
    from memaudit.building.passes.build import build_summary
    from memaudit.judges.label_files import NO_LABELS, read_labels

    models = models_by_role(model or ())
    format, path = dataset_argument(dataset)
    labels = read_labels(units, memories, coverage or [])
    job = BuildJob(path, format, subset, tuple(conversation or ()), cost_rule, labels, group)
    if not models:
        run = chosen_engine().map
        with resumable("packages", None, out) as done:
            manifest = build_into(job, out, done, run)
        lines = _lines
    else:
        if labels != NO_LABELS:
            raise MemAuditError(
                "leave out --units, --memories and --coverage: with --model, the model writes them"
            )
        chosen_engine("build --model")
        manifest = build_with_models(job, models, out)
        lines = build_summary
    note_cost_rule(cost_rule, manifest["cost_rule"])
    if as_json:
        typer.echo(json.dumps(manifest, indent=2))
    else:
        for line in lines(manifest, out):
            typer.echo(safe(line))
    if models and not any(row["scoring_pool"] for row in manifest["packages"]):
        typer.echo("no package can be scored; see failures.jsonl for the reasons", err=True)
        raise typer.Exit(FAILED)


def note_cost_rule(asked: str | None, rule: str) -> None:
    """Say that costs are not counted as usual, where nobody asked for it."""
    if asked is None and rule == UNICODE_WORDS:
        typer.echo(
            f"costs are by {UNICODE_WORDS}: the conversations are written without spaces", err=True
        )


def _lines(manifest: dict[str, Any], out: Path) -> list[str]:
    from memaudit.building.build_folder import summary_row as _row

    counts = manifest["counts"]
    existing = f", {manifest['kept']} already existed" if manifest["kept"] else ""
    lines = [f"{counted(counts['packages'], 'package')} in {out}{existing}"]
    for name in ("experiences", "candidates", "units", "queries"):
        lines.append(_row(counts.get(name, 0), name))
    if not counts.get("units"):
        lines.append("NOTHING TO SCORE: no unit was found, since nothing says what is asked later")
        lines.append("  give --units FILE or --model NAME; memaudit quick finds units by rules")
    lines.append(_row(counts.get("queries_without_units", 0), "without units", 1))
    lines.append(_row(counts.get("coverage", 0), "coverage rows"))
    for name, part in manifest["coverage_by_provenance"].items():
        lines.append(_row(part["rows"], name, 1))
    quotes = manifest["labels"]["quotes"]
    if quotes["checked"]:
        lines.append(_row(quotes["checked"], "quotes checked"))
        lines.append(_row(quotes["found"], "found verbatim", 1))
    lines += _replaced(manifest["packages"])
    for title, tally in (
        ("label rows that do not fit", manifest["labels"]["misfit_counts"]),
        ("irregularities in the dataset", manifest["irregularity_counts"]),
    ):
        if tally:
            lines.append(_row(sum(tally.values()), title))
            lines += [_row(number, what, 1) for what, number in tally.items()]
    return lines


MOST_REPLACED = 5


def _replaced(packages: Sequence[dict[str, Any]]) -> list[str]:
    """What updates were taken to have replaced, which then counts for nothing."""
    taken = [
        f"  {package['name']} {query}: {', '.join(row['turns'])} replaced by "
        f"{row['by'] or 'a turn that a later update replaced'}"
        for package in packages
        for query, row in package.get("replaced", {}).items()
    ]
    lines = ["replaced by an update, so without weight unless another question asks for it:"]
    lines = [*lines, *taken[:MOST_REPLACED]] if taken else []
    if (more := len(taken) - MOST_REPLACED) > 0:
        lines.append(f"  and {more:,} more, in the manifest")
    single = [
        f"{package['name']} {query}"
        for package in packages
        for query in package.get("updates_of_one_turn", ())
    ]
    if single:
        shown = ", ".join(single[:MOST_REPLACED])
        rest = f" and {len(single) - MOST_REPLACED:,} more" if len(single) > MOST_REPLACED else ""
        lines.append(f"updates that cite one turn, so that nothing is replaced: {shown}{rest}")
    lines += [
        f"NOTHING COUNTS in {package['name']}: no question requires any unit of it"
        for package in packages
        if package.get("counts_nothing") and package["counts"].get("units")
    ]
    return lines
