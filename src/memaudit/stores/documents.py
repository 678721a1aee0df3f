"""Documents cut into entries: Letta blocks, CLAUDE.md, MEMORY.md, profiles, one rule for all.

An entry is a bullet, a paragraph or a table row, with the headings and parent bullets above it
before it, joined by ": ". A heading alone, or a parent bullet with children, is no entry: its words
are in the entries below it. Marks of bullets are dropped, white space is collapsed.

What counts as a heading: `# Title`, a title underlined by === or ---, a line that is bold from end
to end before something else, a tag such as <human> alone in its line, and a line before a list or
table that ends with a colon or is a few words. Lines of a paragraph are an entry each if each is a
`Name: value`, begins with a date, or ends a sentence, as facts noted line by line do. A line `§`
between entries (Hermes) ends an entry.

Every line of a document belongs to exactly one piece, so that pieces name lines of the file.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from memaudit.kernel.io.store_file import document_lines

ENTRIES_VERSION = 1
"""Raise it with every change that cuts some document otherwise."""

MOST_TITLES = 12
"""The nearest headings and parents that an entry carries; a list can nest without end."""

BOLD, TAG = 7, 8
"""The levels of bold titles and of tags, below all headings with marks."""

HTML = re.compile(
    r"br|details|div|hr|li|ol|p|section|span|table|tbody|td|th|thead|tr|ul", re.IGNORECASE
)
"""Tags of pages, which name nothing."""

FEW_WORDS = 8
"""So many words right above a list or table are its title, unless they end a sentence."""

FEW_BULLETS = 2
"""A text of which fewer than one in so many lines is a bullet is no document by its bullets."""

LONGEST_COMMENT = 1000
"""Lines; what goes on for longer was never closed."""

PieceKind = Literal["entry", "heading", "blank"]

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?")
_BOLD = re.compile(r"(\*\*|__)(?P<title>(?:(?!\1).)+)\1[:\uff1a]?")
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*+\u2013\u2014\u2022\u2023\u25aa\u25cf\u25e6\u00b7\u27a4]|"
    r"(?P<number>\d{1,3})[.)\u3001]|\(\d{1,3}\)|[a-zA-Z]\))(?:[ \t]+(?P<text>.*)|[ \t]*)"
)
_NUMBERED = re.compile(r"(?P<indent>[ \t]*)\d{1,3}\u3001(?P<text>.+)")
_RULE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*")
_DIVIDER = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*")
_CELL = re.compile(r"(?<!\\)\|")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"[ \t]*<(?P<end>/?)(?P<name>[A-Za-z][\w.-]{0,60})(?:\s[^<>]*)?>[ \t]*")
_DATED = re.compile(r"[ \t]*\[?\d{4}-\d\d-\d\d")
_SENTENCE = re.compile("[.!?\u3002\uff01\uff1f\u2026][\"'\u201d\u2019)\\]*_]{0,3}\\s*$")
_FIELD = re.compile(
    r"[ \t]*(?:\*\*|__)?[^\W\d_][^:.!?\uff1a]{0,40}(?::(?:\*\*|__)?(?:[ \t]+.*)?|\uff1a.*)"
)
_FRONT = re.compile(
    r"\A---[ \t]*(?:\r\n|\n|\r)(?P<head>.*?)^---[ \t]*(?:\r\n|\n|\r|\Z)", re.DOTALL | re.MULTILINE
)
_YAML = re.compile(r"\s*$|\s*#|\s*- |\s|[\w.-]+\s*:")
COLONS = (":", "\uff1a")
SEPARATOR = "§"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a document, counted from 1; an entry has a text."""

    kind: PieceKind
    first: int
    last: int
    text: str = ""
    context: tuple[str, ...] = ()
    """The headings and parents that the text begins with."""
    problem: str = ""
    """What is wrong with these lines, which are kept all the same."""


def front_matter(text: str) -> list[str]:
    """The lines of a file's front matter, both `---` included; none where it is no YAML."""
    match = _FRONT.match(text)
    if match is None:
        return []
    lines = document_lines(match[0])
    return lines if all(_YAML.match(line) for line in lines[1:-1]) else []


def has_structure(text: str) -> bool:
    """Whether a text has headings, bullets, a table, separators or front matter."""
    if front_matter(text):
        return True
    lines = [line for line in map(str.rstrip, document_lines(text)) if line]
    if any(
        _HEADING.fullmatch(line) or _DIVIDER.fullmatch(line) or line.strip() == SEPARATOR
        for line in lines
    ):
        return True
    return FEW_BULLETS * sum(_item(line) is not None for line in lines) >= len(lines) > 0


def split_document(text: str, head: int = 0) -> list[Piece]:
    """All pieces in order; their lines, put together, are the document. `head` lines are front
    matter, which is no entry."""
    lines = [_unquoted(line.rstrip("\r\n")) for line in document_lines(text)]
    front = [Piece("heading", 1, head)] if head else []
    if any(line.strip() == SEPARATOR for line in lines[head:]):
        return [*front, *_separated(lines, head)]
    return [*front, *_entries(_blocks(lines, head))]


def _separated(lines: Sequence[str], start: int) -> Iterator[Piece]:
    """Entries between lines `§`, however many lines they span."""
    first = start
    for at in range(start, len(lines) + 1):
        if at < len(lines) and lines[at].strip() != SEPARATOR:
            continue
        if first < at:
            text = _collapsed(lines[first:at])
            yield Piece("entry" if text else "blank", first + 1, at, text)
        if at < len(lines):
            yield Piece("blank", at + 1, at + 1)
        first = at + 1


@dataclass(slots=True)
class _Block:
    """Lines that belong together, before it is known whether something stands below them."""

    kind: Literal["heading", "bold", "item", "paragraph", "row", "end", "blank"]
    first: int
    last: int
    text: str = ""
    depth: int = 0
    """The level of a heading, or the column at which a bullet or paragraph begins."""
    head: tuple[str, ...] = ()
    """Of a table row: the names of its columns."""
    problem: str = ""
    lines: list[str] = field(default_factory=list)


def _blocks(lines: Sequence[str], start: int) -> list[_Block]:
    """The lines from `start` on as blocks, in order and without a gap."""
    blocks: list[_Block] = []
    at = start
    while at < len(lines):
        block = _block(lines, at, blocks)
        if block is None:  # the line goes on with what stands above it
            blocks[-1].lines.append(lines[at])
            blocks[-1].last = at + 1
            at += 1
        else:
            blocks.append(block)
            at = block.last
    # Blocks are cut first and split later: a line can only be told from a wrapped one when the
    # whole paragraph is there.
    blocks = [part for block in blocks for part in _sentences(block)]
    for block in blocks:
        if block.lines:
            block.text = _collapsed(block.lines)
    return blocks


def _sentences(block: _Block) -> list[_Block]:
    """A paragraph line by line, if every line but the last ends a sentence: it was not wrapped."""
    lines = block.lines
    ends = all(_SENTENCE.search(line) for line in lines[:-1])
    if block.kind != "paragraph" or not ends or any(_begins_low(line) for line in lines[1:]):
        return [block]
    return [
        replace(block, first=block.first + at, last=block.first + at, lines=[line])
        for at, line in enumerate(lines)
    ]


def _block(lines: Sequence[str], at: int, before: list[_Block]) -> _Block | None:
    """The block that begins at a line; None where the line belongs to the block before."""
    line, number = lines[at], at + 1
    last = before[-1] if before else None
    if not line.strip():
        return _Block("blank", number, number)
    column = _column(line[: len(line) - len(line.lstrip())])
    if marked := _marked(lines, at, column):
        return marked
    if title := _underlined(line, last):
        before.pop()
        return _Block("heading", number - 1, number, *title)
    if _RULE.fullmatch(line):
        return _Block("blank", number, number)
    if _is_row(lines, at, last):
        return _row(lines, at, last, column)
    if (item := _item(line)) and not _goes_on(line, last):
        depth, words = item
        if not words:
            return _Block("blank", number, number)
        return _Block("item", number, number, depth=depth, lines=[words])
    if match := _BOLD.fullmatch(line.strip()):
        return _Block("bold", number, number, match["title"], lines=[line])
    return _paragraph(line, number, column, before)


def _marked(lines: Sequence[str], at: int, column: int) -> _Block | None:
    """The block of a line that says by its marks what it is: a heading, code, a comment, a tag."""
    line, number = lines[at], at + 1
    if match := _HEADING.fullmatch(line):
        return _Block("heading", number, number, _without_marks(match[2] or ""), len(match[1]))
    if match := _FENCE.match(line):
        return _fenced(lines, at, match[1], column)
    if "<!--" in line and (end := _comment_end(lines, at)) is not None:
        return _Block("blank", number, end, problem="comment, not an entry")
    if (match := _TAG.fullmatch(line)) and HTML.fullmatch(match["name"]):
        return _Block("blank", number, number)
    if match:  # <human> begins a part of a prompt, </human> ends it
        name = match["name"].replace("_", " ")
        return _Block("end" if match["end"] else "heading", number, number, name, TAG)
    return None


def _paragraph(line: str, number: int, column: int, before: list[_Block]) -> _Block | None:
    """A paragraph that begins here; None where the line goes on with the block before."""
    last = before[-1] if before else None
    # A date at the start of a line begins a new fact, as notes kept by day do.
    if last and last.kind == "paragraph" and not _DATED.match(line):
        is_field = _FIELD.fullmatch(line) and _FIELD.fullmatch(last.lines[0])
        if not is_field:
            return None
    inside = last is not None and last.kind == "item" and not line.rstrip().endswith(COLONS)
    if last and inside and (column > last.depth or _begins_low(line)):
        return None
    above = next((block for block in reversed(before) if block.kind != "blank"), None)
    if above and above.kind == "item" and column > above.depth:
        while before[-1] is not above:  # a paragraph of the bullet, after blank lines
            before.pop()
        return None
    return _Block("paragraph", number, number, depth=column, lines=[line])


def _item(line: str) -> tuple[int, str] | None:
    """The column and the words of a bullet; a picture as its mark stays, it may mean something."""
    if match := _ITEM.fullmatch(line) or _NUMBERED.fullmatch(line):
        return _column(match["indent"]), (match["text"] or "").strip()
    bare = line.lstrip()
    if unicodedata.category(bare[0]) == "So" and re.match(r".\ufe0f?[ \t]", bare):
        return _column(line[: len(line) - len(bare)]), bare.strip()
    return None


def _goes_on(line: str, last: _Block | None) -> bool:
    """Whether a line is no bullet but the next line of a paragraph, as "in / 20. June" is."""
    match = _ITEM.fullmatch(line)
    numbered = match is not None and match["number"] not in (None, "1")
    return numbered and last is not None and last.kind == "paragraph"


def _underlined(line: str, last: _Block | None) -> tuple[str, int] | None:
    """The title above a line of === or ---, and its level; a fact above a rule is no title."""
    match = _UNDERLINE.fullmatch(line)
    if match is None or last is None or last.kind != "paragraph" or len(last.lines) != 1:
        return None
    title = last.lines[0].strip()
    # A line of === is never anything else. One of --- is also a rule, so a fact above it is no
    # title.
    if match[1][0] == "=":
        return title, 1
    return None if _SENTENCE.search(title) or _FIELD.fullmatch(title) else (title, 2)


def _begins_low(line: str) -> bool:
    return line.lstrip()[:1].islower()


def _fenced(lines: Sequence[str], at: int, mark: str, column: int) -> _Block:
    """A block of code is one entry; without an end it goes on to the end of the document."""
    end = next(
        (
            row
            for row in range(at + 1, len(lines))
            if lines[row].strip().startswith(mark) and not lines[row].strip(" \t" + mark[0])
        ),
        len(lines) - 1,
    )
    closed = end > at and lines[end].strip().startswith(mark)
    inner = lines[at + 1 : end if closed else end + 1]
    text = _collapsed(inner)
    problem = "" if closed else "code without an end"
    if not text:
        return _Block("blank", at + 1, end + 1, problem=problem)
    return _Block("row", at + 1, end + 1, text, column, problem=problem)


def _comment_end(lines: Sequence[str], at: int) -> int | None:
    """The last line of a comment that fills its lines; None where words stand beside it, or where
    it is not closed."""
    for row in range(at, min(at + LONGEST_COMMENT, len(lines))):
        if "-->" in lines[row]:
            around = _COMMENT.sub("", "\n".join(lines[at : row + 1]))
            return None if around.strip() else row + 1
    return None


def _is_row(lines: Sequence[str], at: int, last: _Block | None) -> bool:
    """A row by its own pipes, as the head of a table, or because it stands below one."""
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if "|" not in lines[at]:
        return False
    in_table = last is not None and bool(last.head) and last.last == at
    return bool(_ROW.fullmatch(lines[at])) or in_table or bool(_DIVIDER.fullmatch(below))


def _row(lines: Sequence[str], at: int, last: _Block | None, column: int) -> _Block:
    number, bare = at + 1, lines[at].strip()
    bare = bare.removeprefix("|")
    if bare.endswith("|") and not bare.endswith("\\|"):
        bare = bare[:-1]
    cells = tuple(cell.strip() for cell in _CELL.split(bare))
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if _DIVIDER.fullmatch(below) and not _DIVIDER.fullmatch(lines[at]):
        return _Block("blank", number, number + 1, head=cells)
    if _DIVIDER.fullmatch(lines[at]):
        return _Block("blank", number, number)
    head = last.head if last and last.last == at else ()
    broken = bool(head) and len(cells) != len(head)
    # A row may have more cells than its head: those have no name, and the row is noted.
    names = [*head, *[""] * len(cells)]
    named = [
        f"{name}: {cell}" if name else cell
        for name, cell in zip(names, cells, strict=False)
        if cell
    ]
    return _Block(
        "row" if named else "blank",
        number,
        number,
        " ".join("; ".join(named).split()),
        column,
        head,
        "table row with more or fewer cells than its head" if broken else "",
    )


def _entries(blocks: Sequence[_Block]) -> Iterator[Piece]:
    """Pieces of all blocks: each with what stands above it."""
    headings: list[tuple[int, str]] = []
    parents: list[tuple[int, str]] = []
    solid = [block for block in blocks if block.kind != "blank"]
    # Titles are decided by what stands below them, so each block knows the next one that is not
    # blank.
    below = {id(block): after for block, after in pairwise(solid)}
    for block in blocks:
        if block.kind in ("blank", "end"):
            if block.kind == "end":
                headings, parents = [above for above in headings if above[0] < TAG], []
            yield Piece("blank", block.first, block.last, problem=block.problem)
            continue
        next_block = below.get(id(block))
        level = _heading_level(block, next_block)
        if level:
            headings = [above for above in headings if above[0] < level]
            headings.append((level, _title(block.text)))
            parents = []
            yield Piece("heading", block.first, block.last)
            continue
        if block.kind == "bold":  # it stands beside the bold titles above it, not below one
            headings = [above for above in headings if above[0] < BOLD]
        # Below a line before a list stand its bullets only, below a bullet what is indented more.
        stays = -1 if block.kind in ("item", "row") else 0
        parents = [above for above in parents if stays <= above[0] < block.depth]
        if _is_parent(block, next_block):
            # A line before a list stands above all its bullets, those at the margin too.
            depth = block.depth if block.kind == "item" else -1
            parents.append((depth, _title(block.text)))
            yield Piece("heading", block.first, block.last)
            continue
        titles = [title for _, title in (*headings, *parents) if title][-MOST_TITLES:]
        text = ": ".join((*titles, block.text))
        yield Piece("entry", block.first, block.last, text, tuple(titles), block.problem)


def _heading_level(block: _Block, below: _Block | None) -> int:
    """The level of a heading; 0 where a block is none. Bold lines stand below all others."""
    if block.kind == "heading":
        return block.depth
    is_title = block.kind == "bold" and below is not None and below.kind not in ("heading", "bold")
    return BOLD if is_title else 0


def _is_parent(block: _Block, below: _Block | None) -> bool:
    """A bullet above deeper ones, or a line right above a list or table that names it."""
    if below is None:
        return False
    if block.kind == "item":
        return below.kind in ("item", "row") and below.depth > block.depth
    if block.kind != "paragraph" or below.kind not in ("item", "row"):
        return False
    close = below.first <= block.last + 1 or below.kind == "row"
    short = len(block.text.split()) <= FEW_WORDS and not _SENTENCE.search(block.text)
    return block.text.endswith(COLONS) or (close and short)


def _title(text: str) -> str:
    """A heading or parent as it stands before an entry: without bold marks and a colon."""
    words = " ".join(text.split())
    if match := _BOLD.fullmatch(words):
        words = match["title"].strip()
    return words.rstrip("".join(COLONS)).rstrip()


def _without_marks(text: str) -> str:
    """The title of a heading without the # that may close it."""
    title = text.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else title


def _column(indent: str) -> int:
    return len(indent.expandtabs(4))


def _unquoted(line: str) -> str:
    return re.sub(r"^[ \t]*(?:>[ \t]?)+", "", line)


def _collapsed(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())
