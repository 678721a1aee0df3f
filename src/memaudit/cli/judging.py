"""Where a judge that is a model gets its answers: one desk for score, gate and judge."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.text import safe

if TYPE_CHECKING:
    from memaudit.natural.passes.desk import Desk

BaseUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="model: any OpenAI-compatible address.")
]
Provider = Annotated[
    str, typer.Option(metavar="NAME", help="model: live, batch, or offline from the cache.")
]
CacheFile = Annotated[Path, typer.Option(metavar="DB", help="model: where replies are kept.")]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="model: stop at so many tokens.")]
Yes = Annotated[bool, typer.Option("--yes", help="model: do not ask before spending.")]


@contextmanager
def judging_desk(
    wanted: bool, base_url: str | None, provider: str, cache: Path, store: Path,
    max_tokens: int | None, yes: bool,
) -> Iterator["Desk | None"]:  # fmt: skip
    """Where a model is asked; none where no judge is one."""
    if not wanted:
        yield None
        return
    from memaudit.models.cache import Cache
    from memaudit.models.providers import DEFAULT_BASE_URL, Settings
    from memaudit.natural.passes.desk import Talk, open_desk

    settings = Settings(
        provider=provider, base_url=base_url or DEFAULT_BASE_URL, max_total_tokens=max_tokens
    )
    talk = Talk(
        show=lambda line: typer.echo(safe(line), err=True),
        agree=lambda: typer.confirm("go on?", err=True),
        yes=yes,
    )
    with Cache(cache) as opened:
        yield open_desk(settings, opened, store.with_name(f"{store.stem}-requests.jsonl"), talk)
