"""Memory files: CLAUDE.md, MEMORY.md, Letta Code's folder, the Claude memory tool's /memories."""

import re
from collections.abc import Sequence
from functools import partial

from memaudit.kernel.errors import MemAuditError
from memaudit.stores.documents import front_matter, has_structure
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import ExportFields, ExportRow
from memaudit.stores.source import ExportFile, ExportSource, is_markdown

_FIELD = re.compile(r"(?P<name>[A-Za-z_][\w-]*):[ \t]*(?P<value>.*)")


class MarkdownFolder(StoreFormat):
    """Files cut into entries, each file as one memory (`full`), or by bare lines (`lines`)."""

    name = "markdown"
    label = "Markdown or text files: CLAUDE.md, MEMORY.md, Letta Code, the Claude memory tool"
    system = "files"
    views = ("entries", "full", "lines")

    def recognises(self, source: ExportSource) -> int:
        """A folder of memory files, files of Markdown by name, a single one by its content."""
        if source.folder:
            return 3
        first, *others = source.parts
        structured = not others and first.kind == "text" and has_structure(first.parsed.text)
        return 2 if structured or all(is_markdown(part.name) for part in source.parts) else 0

    def take(self, ledger: ImportLedger) -> None:
        """Every file, by path; files that are not memory files are counted as left out."""
        view = ledger.view
        for part in ledger.source.parts:
            if part.kind != "text":
                raise MemAuditError(
                    f"{part.name}: is not a text file (give a folder of memory files)"
                )
            text, head = part.parsed.text, front_matter(part.parsed.text)
            if view == "full":
                text = text.removeprefix("".join(head)).strip("\r\n")
            raw = ExportRow(part.name, {"text": text, "metadata": head_fields(head)})
            ledger.take_document(
                raw, "text", part.name, view, partial(_draft, part=part), len(head)
            )


def head_fields(lines: Sequence[str]) -> dict[str, str]:
    """The `name: value` lines of the front matter; other YAML is kept as text."""
    head: dict[str, list[str]] = {}
    last = ""
    for ended in lines[1:-1]:
        line = ended.rstrip("\r\n")
        if field := _FIELD.fullmatch(line):
            last = field["name"]
            head[last] = [field["value"].strip().strip("\"'")]
        elif last and line.strip():  # a folded value or a list
            head[last].append(line.rstrip())
    return {name: "\n".join(lines).strip() for name, lines in head.items()}


def _draft(row: ExportFields, part: ExportFile) -> MemoryDraft:
    text = row.text("text")
    path = part.name.rpartition(".")[0] or part.name
    return MemoryDraft(
        text=text,
        id=part.name,
        namespace=path.partition("/")[0] if "/" in path else None,
        metadata=row.inner("metadata").others(),
    )
