"""Folders of memory files: Letta Code's Markdown memory, the Claude memory tool's /memories."""

import re
from functools import partial

from memaudit.adapters.fields import ExportFields
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ExportRow, ImportOptions
from memaudit.adapters.source import ExportFile, ExportSource, text_lines
from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError

_HEAD = re.compile(
    r"\A---[ \t]*\r?\n(?P<head>.*?)(?:^)---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_FIELD = re.compile(r"(?P<name>[A-Za-z_][\w-]*):[ \t]*(?P<value>.*)")


class MarkdownFolder:
    """One file is one memory, without its front matter; its path is its id."""

    name = "markdown"
    label = "a folder of Markdown or text files: Letta Code, the Claude memory tool"
    views: tuple[str, ...] = ("full", "lines")

    def recognises(self, source: ExportSource) -> int:
        """Any folder of memory files, or one Markdown file with front matter."""
        if source.folder:
            return 3
        single = source.parts[0]
        front = single.kind == "text" and _HEAD.match(single.parsed.text)
        return 2 if len(source.parts) == 1 and front else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every file, by path; files that are not memory files are counted as left out."""
        ledger = ImportLedger(source, options)
        view = options.view or self.views[0]
        for part in source.parts:
            if part.kind != "text":
                raise MemAuditError(
                    f"{part.name}: is not a text file (give a folder of memory files)"
                )
            body, head = split_front_matter(part.parsed.text)
            pieces = [(f":{at}", line) for at, line in enumerate(text_lines(body), start=1)
                      if line.strip()] if view == "lines" else []  # fmt: skip
            for suffix, text in pieces or [("", body)]:
                raw = ExportRow(f"{part.name}{suffix}", {"text": text, "metadata": dict(head)})
                ledger.take_one(raw, partial(_draft, part=part, suffix=suffix))
        return ledger.store("files", self.name, view, in_order=False)


def split_front_matter(text: str) -> tuple[str, dict[str, str]]:
    """The body, and the `name: value` lines of the head; other YAML is kept as text."""
    match = _HEAD.match(text)
    if not match:
        return text.strip("\r\n"), {}
    head: dict[str, list[str]] = {}
    last = ""
    for line in match["head"].splitlines():
        if field := _FIELD.fullmatch(line):
            last = field["name"]
            head[last] = [field["value"].strip().strip("\"'")]
        elif last and line.strip():  # a folded value or a list
            head[last].append(line.rstrip())
    values = {name: "\n".join(lines).strip() for name, lines in head.items()}
    return text[match.end() :].strip("\r\n"), values


def _draft(row: ExportFields, part: ExportFile, suffix: str) -> MemoryDraft:
    text = row.text("text")
    path = part.name.rpartition(".")[0] or part.name
    return MemoryDraft(
        text=text, id=f"{part.name}{suffix}", namespace=path.partition("/")[0] if "/" in path
        else None, metadata=row.inner("metadata").others(),
    )  # fmt: skip
