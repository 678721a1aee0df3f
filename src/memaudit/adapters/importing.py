"""From files to a store: the format given or guessed, the view checked, the account complete."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memaudit.adapters.api_errors import api_error
from memaudit.adapters.moments import moment
from memaudit.adapters.protocol import Options
from memaudit.adapters.registry import guess_adapter, named_adapter
from memaudit.adapters.rows import no_list
from memaudit.adapters.shape import ExportedStore
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
    """An empty file is no empty store, and an API's error is no store at all."""
    for part in source.parts:
        if part.kind == "text" and not source.folder and not part.parsed.text.strip():
            raise MemAuditError(
                f"{part.name}: is an empty file (an empty store is written as [] or its like)"
            )
        document = part.parsed.document
        if part.kind == "json" and isinstance(document, dict) and len(document) <= 6:
            lists = any(isinstance(value, list | dict) for value in _payload(document))
            if api_error(document) and not lists:
                raise MemAuditError(no_list(part, ()))


def _payload(document: dict[str, object]) -> list[object]:
    return [value for key, value in document.items() if key not in ("error", "errors", "detail")]
