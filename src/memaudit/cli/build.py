"""`memaudit build`: packages from conversations, by rules or with models."""

import json
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.cache import DEFAULT_CACHE
from memaudit.cli.errors import FAILED
from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.text import counted
from memaudit.io.files import beside

if TYPE_CHECKING:
    from memaudit.natural.build_plan import BuildJob


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Everything the command says about models."""

    model: str | None = None
    base_url: str | None = None
    provider: str = "live"
    judge: str | None = None
    adjudicator: str | None = None
    spot_checker: str | None = None
    frame: str = "conversation"
    cache: Path = DEFAULT_CACHE
    batch_file: Path | None = None
    price_in: str | None = None
    price_out: str | None = None
    max_tokens: int | None = None
    max_cost: str | None = None
    concurrency: int = 8
    timeout: float = 120.0
    retries: int = 5
    yes: bool = False

    @property
    def is_default(self) -> bool:
        """Whether the command said nothing of models."""
        return self == ModelOptions()


def build_with_models(
    job: "BuildJob", options: ModelOptions, out: Path, form: str
) -> dict[str, Any]:
    """Run the passes; with a batch queue, stop where answers are pending."""
    from memaudit.models.cache import Cache
    from memaudit.models.providers import DEFAULT_BASE_URL, ModelSettings
    from memaudit.models.session import AskProgress, SessionCallbacks, open_session, progress_text
    from memaudit.models.spending import price_of
    from memaudit.models.transport import RetryPolicy
    from memaudit.natural.passes.build import build_into_with_model
    from memaudit.natural.passes.recipe import ModelRecipe

    if options.model is None:
        raise MemAuditError("--method model needs a model: give --model NAME")
    recipe = ModelRecipe(
        model=options.model,
        judge=options.judge,
        adjudicator=options.adjudicator,
        spot_checker=options.spot_checker,
        frame=options.frame,
        cost_rule=job.cost_rule,
    )
    if options.max_tokens is not None and options.max_tokens < 1:
        raise MemAuditError(f"--max-tokens {options.max_tokens} makes no sense; use 1 or more")
    if not options.timeout > 0 or options.retries < 0:
        raise MemAuditError("--timeout is a number above 0, --retries one of 0 or more")
    settings = ModelSettings(
        timeout=options.timeout,
        retry=RetryPolicy(retries=options.retries),
        provider=options.provider,
        base_url=options.base_url or DEFAULT_BASE_URL,
        price=price_of(options.price_in, options.price_out),
        max_total_tokens=options.max_tokens,
        max_cost=_dollars(options.max_cost),
    )
    watched = sys.stderr.isatty()
    start = "\r" if watched else ""

    def progress(stage: str, state: AskProgress) -> None:
        """One line a pass; where a person watches, it is written over as it grows."""
        if state.done == state.total:
            typer.echo(start + progress_text(stage, state), err=True)
        elif watched:
            typer.echo(start + progress_text(stage, state), err=True, nl=False)

    callbacks = SessionCallbacks(
        show=_say,
        agree=lambda: typer.confirm("go on?", err=True),
        yes=options.yes,
        progress=progress,
    )
    batch_file = options.batch_file or beside(out, "-requests.jsonl")
    with Cache(options.cache) as cache:
        session = open_session(settings, cache, batch_file, callbacks, options.concurrency)
        return build_into_with_model(job, recipe, session, out, form)


def _say(line: str) -> None:
    typer.echo(safe(line), err=True)


def _dollars(text: str | None) -> Fraction | None:
    if text is None:
        return None
    try:
        amount = exact(text)
    except ValueError as error:
        raise MemAuditError(f"--max-cost {text!r}: {error}") from None
    if amount < 0:
        raise MemAuditError(f"--max-cost {text} is negative; give dollars")
    return amount


def build(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A dataset file.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the packages go.")],
    method: Annotated[
        str,
        typer.Option(metavar="NAME", help="annotations (no model), or model: by passes of one."),
    ] = "annotations",
    format: Annotated[
        str | None, typer.Option(help="Dataset format; guessed from the content by default.")
    ] = None,
    subset: Annotated[
        Path | None, typer.Option(metavar="MANIFEST", help="Only the questions of a subset.")
    ] = None,
    conversation: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this one; may be repeated.")
    ] = None,
    cost_rule: Annotated[str, typer.Option(help="words, bytes or tokens:NAME.")] = "words",
    units: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own units, JSONL or CSV.")
    ] = None,
    memories: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own memories, JSONL or CSV.")
    ] = None,
    coverage: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A pass of coverage labels; may be repeated."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="model: writes memories and units.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="model: any OpenAI-compatible address.")
    ] = None,
    provider: Annotated[
        str, typer.Option(metavar="NAME", help="model: live, batch, or offline from the cache.")
    ] = "live",
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="model: judges coverage; else --model.")
    ] = None,
    adjudicator: Annotated[
        str | None, typer.Option(metavar="NAME", help="model: another one checks the units.")
    ] = None,
    spot_checker: Annotated[
        str | None, typer.Option(metavar="NAME", help="model: judges a sample again.")
    ] = None,
    frame: Annotated[
        str, typer.Option(metavar="NAME", help="model: judge by conversation or by session.")
    ] = "conversation",
    cache: Annotated[
        Path, typer.Option(metavar="DB", help="model: where replies are kept.")
    ] = DEFAULT_CACHE,
    batch_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="batch: requests; else DIR-requests.jsonl.")
    ] = None,
    price_in: Annotated[
        str | None, typer.Option(metavar="USD", help="model: for a million tokens read.")
    ] = None,
    price_out: Annotated[
        str | None, typer.Option(metavar="USD", help="model: for a million tokens written.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="model: stop the run at so many tokens.")
    ] = None,
    max_cost: Annotated[
        str | None, typer.Option(metavar="USD", help="model: stop the run at so many dollars.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option(metavar="N", min=1, help="model: requests at a time.")
    ] = 8,
    timeout: Annotated[
        float, typer.Option(metavar="S", help="model: seconds to wait for a reply.")
    ] = 120.0,
    retries: Annotated[
        int, typer.Option(metavar="N", help="model: tries again after a failed request.")
    ] = 5,
    yes: Annotated[bool, typer.Option("--yes", help="model: do not ask before spending.")] = False,
    form: Annotated[str, typer.Option("--as", help="json or folder, one a conversation.")] = "json",
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest.")] = False,
) -> None:
    """Turn conversations into packages, one a conversation, and a manifest."""
    from memaudit.natural.annotations import METHOD
    from memaudit.natural.build_folder import build_into
    from memaudit.natural.build_plan import BuildJob
    from memaudit.natural.label_files import NO_LABELS, read_labels
    from memaudit.natural.passes.manifest import build_summary

    options = ModelOptions(
        model, base_url, provider, judge, adjudicator, spot_checker, frame, cache, batch_file,
        price_in, price_out, max_tokens, max_cost, concurrency, timeout, retries, yes,
    )  # fmt: skip
    labels = read_labels(units, memories, coverage or [])
    job = BuildJob(path, format, subset, tuple(conversation or ()), cost_rule, labels)
    if method == METHOD:
        if not options.is_default:
            raise MemAuditError("options of models need --method model")
        manifest = build_into(job, out, form)
        lines = _lines
    elif method == "model":
        if labels != NO_LABELS:
            raise MemAuditError(
                "--units, --memories and --coverage are for --method annotations; "
                "a model makes its own"
            )
        manifest = build_with_models(job, options, out, form)
        lines = build_summary
    else:
        raise MemAuditError(f"unknown method {method!r}; choose {METHOD} or model")
    if as_json:
        typer.echo(json.dumps(manifest, indent=2))
    else:
        for line in lines(manifest, out):
            typer.echo(safe(line))
    if method == "model" and not any(row["scoring_pool"] for row in manifest["packages"]):
        typer.echo("no package can be scored: see failures.jsonl for what went wrong", err=True)
        raise typer.Exit(FAILED)


def _lines(manifest: dict[str, Any], out: Path) -> list[str]:
    """What was built, by which rules, and what did not fit."""
    counts = manifest["counts"]
    kept = f", {manifest['kept']} of them there already" if manifest["kept"] else ""
    lines = [f"{counted(counts['packages'], 'package')} in {out}{kept}"]
    for name in ("experiences", "candidates", "units", "queries"):
        lines.append(_row(counts.get(name, 0), name))
    lines.append(_row(counts.get("queries_without_units", 0), "without units", 1))
    lines.append(_row(counts.get("coverage", 0), "coverage rows"))
    for name, part in manifest["coverage_by_provenance"].items():
        lines.append(_row(part["rows"], name, 1))
    quotes = manifest["labels"]["quotes"]
    if quotes["checked"]:
        lines.append(_row(quotes["checked"], "quotes looked up"))
        lines.append(_row(quotes["found"], "found word for word", 1))
    for title, found in (
        ("label rows that do not fit", manifest["labels"]["misfit_counts"]),
        ("irregularities of the dataset", manifest["irregularity_counts"]),
    ):
        if found:
            lines.append(_row(sum(found.values()), title))
            lines += [_row(number, what, 1) for what, number in found.items()]
    return lines


def _row(number: int, what: str, deeper: int = 0) -> str:
    return f"{number:>9,}{'  ' * deeper}  {what}"
