"""The model session of a judge, shared by score, gate, judge and sensitivity."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.cache import DEFAULT_CACHE
from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.io.files import beside

if TYPE_CHECKING:
    from memaudit.models.session import ModelSession


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Everything a command says about asking a model; `spread` makes options of it."""

    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="model: any OpenAI-compatible address.")
    ] = None
    provider: Annotated[
        str, typer.Option(metavar="NAME", help="model: live, batch, or offline from the cache.")
    ] = "live"
    cache: Annotated[Path, typer.Option(metavar="DB", help="model: where replies are kept.")] = (
        DEFAULT_CACHE
    )
    price_in: Annotated[
        str | None,
        typer.Option(metavar="USD", help="model: a million tokens read, for the estimate."),
    ] = None
    price_out: Annotated[
        str | None, typer.Option(metavar="USD", help="model: a million tokens written.")
    ] = None
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="model: stop at so many tokens.")
    ] = None
    yes: Annotated[bool, typer.Option("--yes", help="model: do not ask before spending.")] = False


NO_SESSION = SessionOptions()


@contextmanager
def judging_session(
    wanted: Sequence[str] | bool, options: SessionOptions, out: Path
) -> Iterator["ModelSession | None"]:
    """Where a model is asked, if one is wanted or is among the judges named; else none."""
    if not (wanted if isinstance(wanted, bool) else any(map(_is_model, wanted))):
        yield None
        return
    from memaudit.models.cache import Cache
    from memaudit.models.providers import DEFAULT_BASE_URL, ModelSettings
    from memaudit.models.session import SessionCallbacks, open_session
    from memaudit.models.spending import price_of

    if options.max_tokens is not None and options.max_tokens < 1:
        raise MemAuditError(f"--max-tokens {options.max_tokens} makes no sense; use 1 or more")
    settings = ModelSettings(
        provider=options.provider,
        base_url=options.base_url or DEFAULT_BASE_URL,
        price=price_of(options.price_in, options.price_out),
        max_total_tokens=options.max_tokens,
    )
    callbacks = SessionCallbacks(
        show=lambda line: typer.echo(safe(line), err=True),
        agree=lambda: typer.confirm("go on?", err=True),
        yes=options.yes,
    )
    with Cache(options.cache) as opened:
        yield open_session(settings, opened, beside(out, "-requests.jsonl", stem=True), callbacks)


def _is_model(judge: str) -> bool:
    return judge.startswith("model:")
