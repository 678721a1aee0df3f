"""How the rows of a system lie in its export: the files that `memaudit import` reads."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]
Layout = Callable[[str, Rows], dict[str, Any]]
"""From the key of the list and the rows to documents, each by the end of its file's name."""


def one_list(key: str, rows: Rows) -> dict[str, Any]:
    """One file with one list."""
    return {".json": {key: list(rows)}}


def blocks_and_passages(key: str, rows: Rows) -> dict[str, Any]:
    """Letta: core memory as an agent file has it, archival memory in a list of its own."""
    blocks = [row for row in rows if "value" in row]
    passages = [row for row in rows if "value" not in row]
    return {".json": {"agents": [], "blocks": blocks}, f".{key}.json": {key: passages}}
