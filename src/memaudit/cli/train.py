"""`memaudit train`: fit the estimator of a writer, or an offline judge."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.options import NO_SESSION, SessionOptions, judging_session, spread
from memaudit.cli.terminal import safe
from memaudit.core.text import counted
from memaudit.io.overwrite import may_write

train = typer.Typer(
    help="Fit the estimator of a writer, or an offline judge.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@train.command()
def ridge(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The model file to write, as JSON.")],
    packages: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Training packages: .json files or folders."),
    ] = None,
    distribution: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Also train on packages of this distribution."),
    ] = None,
    seeds: Annotated[
        str, typer.Option(metavar="N", help="Seeds of the distribution. Evaluate on other seeds.")
    ] = "900000-900059",
    alpha: Annotated[float, typer.Option(metavar="A", help="Strength of the ridge penalty.")] = 1.0,
) -> None:
    """Train a ridge model that estimates value from visible features.

    Use it as a writer: memaudit run --writers estimated_gvt_ridge:FILE. The model refuses the
    packages it was trained on.
    """
    from memaudit.core.errors import MemAuditError
    from memaudit.core.seeds import parse_seeds
    from memaudit.generators.registry import named_distribution
    from memaudit.io.packages import read_packages
    from memaudit.writers.estimators.ridge import write_model
    from memaudit.writers.estimators.train import train as fit

    may_write(out, "ridge model")
    chosen = [package for path in packages or () for package in read_packages(path)]
    if distribution is not None:
        source = named_distribution(distribution)
        drawn = parse_seeds(seeds) if source.draws else (0,)
        chosen += [source.package(seed) for seed in drawn]
    if not chosen:
        raise MemAuditError("no training packages; give packages, or --distribution event_graph")
    model = fit(chosen, alpha)
    write_model(model, out)
    typer.echo(f"trained on {counted(len(chosen), 'package')}, written to {safe(out)}")


@train.command()
@spread
def utilities(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write, as JSON.")],
    packages: Annotated[
        list[str],
        typer.Argument(
            metavar="PACKAGES",
            help="Shipped sets (natural, short, long), files, folders or builds.",
        ),
    ],
    model: Annotated[str, typer.Option(metavar="NAME", help="The model to ask.")],
    options: SessionOptions = NO_SESSION,
) -> None:
    """Have a model score every candidate at write time, for a writer.

    Use it as a writer: memaudit run --packages PATH --writers estimated_gvt:FILE. The model sees
    the candidates in order of arrival, and no unit and no question.
    """
    from memaudit.core.errors import MemAuditError
    from memaudit.io.atomic import write_file
    from memaudit.natural.named_packages import labelled_packages
    from memaudit.natural.passes.salience import STAGE, find_salience
    from memaudit.natural.prompts import pass_prompt
    from memaudit.writers.estimators.utilities import UtilitiesFile
    from memaudit.writers.protocol import visible

    may_write(out, "utilities file")
    chosen = labelled_packages(packages)
    values: dict[str, float] = {}
    missing = 0
    with judging_session(True, options, out) as session:
        assert session is not None  # asked for
        for package in chosen:
            texts = list(dict.fromkeys(one.text for one in visible(package).candidates))
            found = find_salience(texts, session, model, package.name)
            missing += found.count(None)
            known = zip(texts, found, strict=True)
            values |= {text: float(score) for text, score in known if score is not None}
    if missing:
        raise MemAuditError(
            f"{model} gave no score for {counted(missing, 'candidate')}; run the command again, "
            "the answers so far are in the cache"
        )
    file = UtilitiesFile(model=model, prompt=pass_prompt(STAGE).label, values=values)
    write_file(out, file.model_dump_json(indent=1) + "\n")
    typer.echo(f"{counted(len(values), 'text')} scored by {safe(model)}, written to {safe(out)}")


@train.command()
def judge(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The judge to write, as JSON.")],
    packages: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PACKAGES",
            help="Labelled packages: shipped sets (natural, short, long), files, folders or "
            "builds. Default: short long.",
        ),
    ] = None,
) -> None:
    """Fit an offline judge to labelled packages and measure its error.

    Use it as memaudit score --judge offline:FILE. Every large conversation is predicted by a judge
    fitted to the others; that error is in the file and is carried to scores.
    """
    from memaudit.natural.named_packages import TRAINING, labelled_packages
    from memaudit.scoring.judge_training import train_judge, write_judge_file

    may_write(out, "judge")
    chosen = labelled_packages(packages or TRAINING)
    fitted = train_judge(chosen)
    write_judge_file(fitted, out)
    typer.echo(f"fitted to {counted(len(fitted.training), 'conversation')}, written to {safe(out)}")
    for where, error in (
        ("held-out", fitted.error),
        *((f"other ({one.script})", one.error) for one in fitted.other_scripts),
    ):
        conversations = counted(len(error.conversations), f"{where} conversation")
        typer.echo(f"error on {conversations}, {error.pairs:,} pairs:")
        for name, full in (("any coverage", False), ("full", True)):
            precision, recall = error.rates(full)
            typer.echo(f"  {name:14} precision {precision:.3f}  recall {recall:.3f}")
