"""`memaudit capture`: run a real memory system on packages and save what it wrote."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from memaudit.cli.terminal import Advance, progress, safe
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.text import counted
from memaudit.workspace.overwrite import may_write


def capture(
    system: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM",
            help="The memory system: mem0, amem, langmem, letta, graphiti, cognee or mcp-memory.",
        ),
    ],
    package: Annotated[
        list[Path], typer.Option(metavar="PATH", help="A package to feed; may be repeated.")
    ],
    out: Annotated[Path, typer.Option(metavar="STORE", help="The store file to write.")],
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Base URL of an OpenAI-compatible server.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model the system uses.")
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Embedding model on the same server. Default: the system's."
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Python interpreter with the system installed. Default: this one."
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="WORDS",
            min=1,
            help="Tell the system how many words its memory may have, by its instructions or block "
            "limits. Default: no limit is given to the system.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting of the system, or of the capture: feed (message, exchange or session), "
            "clock (conversation or wall), counts_tokens or patience; may be repeated.",
        ),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(metavar="VIEW", help="The text to take from a record, as in memaudit import."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Record all calls to the model here. Default: STORE.record.jsonl.",
        ),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Answer the system from this record, without any model."),
    ] = None,
) -> None:
    """Feed the experiences of packages to a memory system and save its store.

    The calls of the system to its model are recorded beside the store. --replay runs the system
    again from such a record and gives the same store.
    """
    from memaudit.kernel.io.packages import read_packages
    from memaudit.lab.capture.capture import CallPlan
    from memaudit.lab.capture.capture import capture as run
    from memaudit.lab.capture.systems import (
        CAPTURE_OPTIONS,
        CaptureSettings,
        named_system,
        parse_options,
    )

    if record is not None and replay is not None:
        raise MemAuditError("a replay records nothing; leave out --record")
    if replay is None and base_url is None:
        raise MemAuditError("give --base-url, the address of the model, or --replay FILE")
    if replay is None and model is None:
        raise MemAuditError("give --model, the name of the model")
    if replay is not None and any((model, embedder, budget, option, view)):
        raise MemAuditError(
            "--replay has the model and the settings of its record; leave out --model, --embedder, "
            "--budget, --option and --view"
        )
    chosen = named_system(system)
    given = parse_options(option or [])
    if budget is not None:
        given["budget"] = budget
    ours: dict[str, Any] = {name: given.pop(name) for name in CAPTURE_OPTIONS if name in given}
    settings = CaptureSettings(
        model or "", base_url or "", embedder, given, python=python, view=view, **ours
    )
    packages = [item for path in package for item in read_packages(path)]
    may_write(out, "store")
    with progress("messages", 0, long=True) as advance:
        outcome = run(
            chosen,
            packages,
            settings,
            out,
            lambda line: typer.echo(safe(line), err=True),
            CallPlan(record, replay),
            _shown(advance),
        )
    store, captured = outcome.store, len(outcome.results)
    typer.echo(
        safe(
            f"{out}: {counted(len(store.active), 'memory')} of {counted(captured, 'package')} "
            f"({outcome.fed_now} fed now, {captured - outcome.fed_now} earlier)"
        )
    )
    for warning in store.warnings:
        typer.echo(f"warning: {safe(warning)}", err=True)
    if outcome.broken:
        typer.echo("incomplete; run the same command again to resume", err=True)
        raise typer.Exit(1)


def _shown(advance: Advance) -> Callable[[int, int, int, int], None]:
    """Messages, calls, memories and the time left, estimated from the messages so far."""
    start = time.monotonic()

    def show(done: int, messages: int, calls: int, memories: int) -> None:
        left = (time.monotonic() - start) / done * (messages - done) if done else 0.0
        text = f"{calls:,} calls, {memories:,} memories, {left:,.0f} s left"
        advance(done, text, messages)

    return show
