"""`memaudit import`: the export of a memory system, read into a store that can be scored."""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.options import ConversationNames, format_first
from memaudit.cli.terminal import safe
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.text import counted
from memaudit.workspace.overwrite import may_write

if TYPE_CHECKING:
    from memaudit.kernel.io.store_file import ExportedStore, Times

NAMED = 6
"""Conversations and namespaces that are named with their counts."""


def import_store(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="The export. Its format may come first. Default: guessed from the content.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="STORE", help="The store file to write.")],
    view: Annotated[
        str | None,
        typer.Option(
            metavar="VIEW",
            help="The text to take from a record, such as full. Default: the format's first view.",
        ),
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Read only memories of this user, block or folder. Default: all."
        ),
    ] = None,
    conversation: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Read only this conversation of a file of several. Default: all."
        ),
    ] = None,
    map: ConversationNames = None,
    fields: Annotated[
        str | None,
        typer.Option(
            metavar="text=FIELD,...",
            help="Any JSON, JSONL, CSV or SQLite: which fields are text, time, id and namespace, "
            "such as text=rows.text,time=rows.ts,id=rows.nr. Only text is needed.",
        ),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Memories expired at this time are inactive. Default: the latest time in PATH.",
        ),
    ] = None,
    times: Annotated[
        str,
        typer.Option(
            metavar="WHICH",
            help="Times in the texts of memories: shown (those that the system's reader is shown), "
            "none or all.",
        ),
    ] = "shown",
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the store. Default: the name of the file."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Read the export of a memory system, and count active, inactive and skipped rows."""
    from memaudit import api
    from memaudit.kernel.io.store_file import write_store
    from memaudit.kernel.score.store_match import parse_names
    from memaudit.stores.registry import ADAPTERS

    format, paths = format_first(arguments, ADAPTERS)
    if any(os.path.realpath(path) == os.path.realpath(out) for path in paths):
        raise MemAuditError(f"{out}: is the export itself; write the store to another file")
    may_write(out, "store")
    store = api.import_store(
        paths,
        name,
        format=format,
        view=view,
        namespace=namespace,
        conversation=conversation,
        as_of=as_of,
        times=_times(times),
        map=parse_names(map or []),
        **named_fields(fields),
    )
    write_store(store, out)
    if as_json:
        typer.echo(json.dumps(_data(store, out), indent=2))
        return
    for line in _lines(store, out):
        typer.echo(safe(line))


FIELDS = {"text": "text", "time": "time", "id": "id", "namespace": "namespace_field"}
"""What --fields calls a field, and the parameter of the API for it."""


def named_fields(text: str | None) -> dict[str, str]:
    """The parameters of `text=payload.text,id=nr`; a comma in the name of a field stays there."""
    if text is None:
        return {}
    named: dict[str, str] = {}
    # Only a comma before the next NAME= ends a field: names of columns may hold commas.
    for piece in re.split(rf",(?=(?:{'|'.join(FIELDS)})=)", text):
        name, _, field = piece.partition("=")
        if name not in FIELDS or not field or FIELDS[name] in named:
            raise MemAuditError(
                f"--fields {text!r}: {piece!r} is not one of text=FIELD, time=FIELD, id=FIELD and "
                "namespace=FIELD, each at most once"
            )
        named[FIELDS[name]] = field
    if "text" not in named:
        raise MemAuditError(f"--fields {text!r} needs text=FIELD, the field to score")
    return named


def _times(name: str) -> "Times":
    rules: dict[str, Times] = {"shown": "shown", "none": "none", "all": "all"}
    if name not in rules:
        raise MemAuditError(f"--times {name!r} is not known; choose from {', '.join(rules)}")
    return rules[name]


def _data(store: "ExportedStore", out: Path) -> dict[str, object]:
    from memaudit.kernel.io.store_file import store_digest

    return {
        "store": str(out),
        "digest": store_digest(store),
        **store.model_dump(mode="json", exclude={"memories", "version"}),
        "active": len(store.active),
    }


def _lines(store: "ExportedStore", out: Path) -> list[str]:
    from memaudit.kernel.io.store_file import document_lines, store_digest

    count, origin = store.count, store.origin
    how = "guessed from the content" if origin.guessed else "as given"
    view = f", view {origin.view}" if origin.view else ""
    lines = [
        f"{store.name}  format {origin.format} ({how}){view}",
        f"{count.read:>9,}  rows read",
        f"{len(store.active):>9,}  active memories",
        *(f"{number:>9,}  {state}" for state, number in count.inactive.items()),
        *(f"{number:>9,}  skipped: {reason}" for reason, number in count.skipped.items()),
    ]
    if not store.memories:
        lines.append("          the store is empty")
    for document in store.documents:
        entries = sum(memory.document == document.id for memory in store.memories)
        lines.append(
            f"{len(document_lines(document.text)):>9,}  lines of {document.id}, "
            f"{counted(entries, 'entry')}"
        )
    for what, names in (
        ("conversation", [memory.example for memory in store.active]),
        ("namespace", [memory.namespace for memory in store.active]),
    ):
        counts = Counter(name for name in names if name)
        if len(counts) > 1:
            named = ", ".join(f"{name} {number:,}" for name, number in counts.most_common(NAMED))
            more = f" and {len(counts) - NAMED} more" if len(counts) > NAMED else ""
            lines.append(f"{what}s: {named}{more} (--{what} NAME reads only one of them)")
    lines += [f"warning: {warning}" for warning in store.warnings]
    return [*lines, f"wrote {out}  sha256 {store_digest(store)}"]
