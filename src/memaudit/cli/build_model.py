"""`memaudit build --method model`: what a desk needs from the command line."""

import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memaudit.cli.cache import DEFAULT_CACHE
from memaudit.cli.text import safe
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.io.files import beside

if TYPE_CHECKING:
    from memaudit.natural.build_plan import Job


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


def build_with_models(job: "Job", options: ModelOptions, out: Path, form: str) -> dict[str, Any]:
    """Run the passes; with a batch queue, stop where answers are pending."""
    from memaudit.models.cache import Cache
    from memaudit.models.fan_out import Progress
    from memaudit.models.providers import DEFAULT_BASE_URL, Settings
    from memaudit.models.spending import price_of
    from memaudit.models.transport import RetryPolicy
    from memaudit.natural.passes.model_folder import build_into_with_model
    from memaudit.natural.passes.model_session import Talk, open_desk, progress_text
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
    settings = Settings(
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

    def progress(stage: str, state: Progress) -> None:
        """One line a pass; where a person watches, it is written over as it grows."""
        if state.done == state.total:
            typer.echo(start + progress_text(stage, state), err=True)
        elif watched:
            typer.echo(start + progress_text(stage, state), err=True, nl=False)

    talk = Talk(
        show=_say,
        agree=lambda: typer.confirm("go on?", err=True),
        yes=options.yes,
        progress=progress,
    )
    batch_file = options.batch_file or beside(out, "-requests.jsonl")
    with Cache(options.cache) as cache:
        desk = open_desk(settings, cache, batch_file, talk, options.concurrency)
        return build_into_with_model(job, recipe, desk, out, form)


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
