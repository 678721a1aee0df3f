"""From files to a store: the format given or guessed, the view checked, the account complete."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memaudit.adapters.api_errors import api_error
from memaudit.adapters.moments import moment
from memaudit.adapters.protocol import Options
from memaudit.adapters.registry import guess_adapter, named_adapter
from memaudit.adapters.rows import no_list
from memaudit.adapters.shape import STORE_FORMAT, ExportedStore
from memaudit.adapters.source import Source, open_source
from memaudit.core.errors import MemAuditError


def import_store(
    paths: Sequence[Path], format: str | None = None, options: Options | None = None
) -> ExportedStore:
    """Read an export. An error in one line where it cannot be read; never a silent part of it."""
    options = options or Options()
    if format is not None:
        named_adapter(format)
    source = open_source(paths)
    _refuse_nothing(source)
    adapter = named_adapter(format) if format else guess_adapter(source)
    if options.view is not None and options.view not in adapter.views:
        raise MemAuditError(
            f"{adapter.name} has no view {options.view!r}; its views: {', '.join(adapter.views)}"
        )
    if options.as_of is not None:
        when = moment(options.as_of)
        if when is None:
            raise MemAuditError(f"--as-of {options.as_of!r} is no time; write 2025-01-31")
        options = replace(options, as_of=when)
    return adapter.read(source, replace(options, guessed=format is None))


def _refuse_nothing(source: Source) -> None:
    """An empty file is no empty store; an API's error, a web page or our own store no export."""
    for part in source.parts:
        document, text = part.parsed.document, part.parsed.text.strip()
        if part.kind == "text" and not source.folder:
            if not text:
                raise MemAuditError(
                    f"{part.name}: is an empty file (an empty store is written as [] or its like)"
                )
            if text[:15].lower().startswith(("<!doctype", "<html")):
                raise MemAuditError(f"{part.name}: is a web page, not a store (export it again)")
        if not isinstance(document, dict):
            continue
        if document.get("format") == STORE_FORMAT:
            raise MemAuditError(f"{part.name}: is a store already; score it as it is")
        if api_error(document) and not _holds_data(document):
            raise MemAuditError(no_list(part, ()))


def _holds_data(document: dict[str, object]) -> bool:
    """Whether anything but the error is in it: then the format's own reader decides."""
    rest = [value for key, value in document.items() if key not in ("error", "errors", "detail")]
    return any(isinstance(value, list | dict) for value in rest)
