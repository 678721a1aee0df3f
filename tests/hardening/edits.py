"""Hostile edits of files, drawn by hypothesis, and how many are tried."""

import gzip
import json
import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("MEMAUDIT_FUZZ_EXAMPLES", "20"))
"""Inputs a target; MEMAUDIT_FUZZ_EXAMPLES=10000 for a long run."""

KILLS = int(os.environ.get("MEMAUDIT_KILLS", "30"))
"""Processes killed over all commands together."""

SEED = int(os.environ.get("MEMAUDIT_FUZZ_SEED", "0"))
"""Another seed, other kills and, where it is not 0, other inputs."""

FUZZ = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=SEED == 0,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
"""The same inputs each time, unless another seed is asked for (--hypothesis-seed chooses one)."""


_WORDS = r"""
x .. . ../../etc/passwd /etc/passwd /dev/zero ../.. a/b a\b ..\..\x ~ ~root file:///etc/passwd
CON name.json manifest.json .lock =1+1 ' %s%n%x {0} {{7*7}} 1/0 1/3 nan inf -inf
1e999999999 1e-999999999 0x10 1_000 -0 +1 .5 1. :: x::y true null 2025-02-30
0000-00-00T00:00:00Z 9999999999999999999
tokens:hf//etc/hostname tokens:hf//dev/zero tokens:tiktoken/x words bytes declared [] {} [[[[1]]]]
"""

TEXTS: tuple[str, ...] = (
    *_WORDS.split(),
    *("", " ", "\0", "a\0b.json", "a\nb", "\r\n", '"; DROP TABLE x; --', '{"a": 1}'),
    *("\u202eevil\u2066", "\x1b[31mred\x1b]0;title\x07", "<script>alert(1)</script>"),
    *("\u0661\u0662", "e\u0301" * 30, "\U0001f600", "\ufeff", "\uffff"),
    *("9" * 61, "9" * 5000, f"1/{'7' * 59}", "::" * 50, "tokens:hf/" + "n" * 5000, "n" * 300),
    *("x" * 1_000_001, "../" * 400, "[" * 2000, "{" * 70_000),
)
"""As values, ids, names and keys; some are JSON inside a string."""

DEEP = (100, 400, 900, 5000, 100_000)

_BARE: tuple[bytes, ...] = (
    *b"""null true false 0 -0 -1 1 2 0.5 1.5 1e400 -1e400 1e-400 1e308 1e999999999999999999999 1E5
    NaN Infinity -Infinity 18446744073709551616 -9223372036854775809 00 1. +1 0x10 undefined
    'x' tru , } ] // /**/ \\ [] {} [[]] [null] {"":null} {"id":1} {"a":1,"a":2}""".split(),
    *rb'''"\ud800" "\udc00\ud800" "\u0000" "\x" "\u12"'''.split(),
    *(
        b'"unclosed',
        b'"\xff\xfe"',
        b'"\xc0\xaf"',
        b'"\xed\xa0\x80"',
        b'"\x01"',
        b'"\xf4\x90\x80\x80"',
        b"",
    ),
    *(b"9" * digits for digits in (59, 61, 4299, 5000, 100_000)),
    b"0." + b"3" * 5000,
    b"[" + b"0," * 9999 + b"0]",
    b"[" + b"[]," * 9999 + b"[]]",
    b"{" + b",".join(b'"k%d": 0' % number for number in range(5000)) + b"}",
    *(b"[" * depth + b"]" * depth for depth in DEEP),
    *(b'{"a":' * depth + b"1" + b"}" * depth for depth in DEEP),
    b"[" * 100_000,
    b'{"a":' * 100_000,
)

VALUES: tuple[bytes, ...] = (*_BARE, *(json.dumps(text).encode() for text in TEXTS))
"""JSON values, or what stands in their place."""


@dataclass
class Pairs:
    """An object: keys in order, maybe repeated."""

    items: list[list[Any]]


@dataclass(frozen=True)
class Raw:
    """Bytes that stand for a value or a key."""

    data: bytes


def rendered(tree: Any) -> bytes:
    """The tree as a file would hold it."""
    if isinstance(tree, Raw):
        return tree.data
    if isinstance(tree, Pairs):
        parts = [rendered(key) + b": " + rendered(value) for key, value in tree.items]
        return b"{" + b", ".join(parts) + b"}"
    if isinstance(tree, list):
        return b"[" + b", ".join(map(rendered, tree)) + b"]"
    return json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogatepass")


def places(above: list[Any], place: int) -> Iterator[tuple[list[Any], int]]:
    """Every part, as the list that holds it and its place there."""
    yield above, place
    for holder, number in members(above[place]):
        yield from places(holder, number)


def members(tree: Any) -> list[tuple[list[Any], int]]:
    """The values right below."""
    if isinstance(tree, Pairs):
        return [(pair, 1) for pair in tree.items]
    return [(tree, number) for number in range(len(tree))] if isinstance(tree, list) else []


MOST_BYTES = 3 << 20
"""Of a file after an edit: what large files do is seen in bombs.py."""


@dataclass(frozen=True)
class Edit:
    """One edit: what is done, where (any number: it is taken modulo the places), and with what."""

    what: str
    where: int
    other: int

    def __call__(self, data: bytes) -> bytes:
        """The bytes of a file after the edit, cut where they grow too many."""
        return self._edited(data)[:MOST_BYTES]

    def _edited(self, data: bytes) -> bytes:
        if self.what in TREE_EDITS:
            try:
                return _in_tree(data, self)
            except (ValueError, RecursionError):  # no JSON, or no longer
                pass
        if self.what in TREE_EDITS or self.what in LINE_EDITS:
            return _in_lines(data, self)
        return BYTE_EDITS[self.what](data, self)


def _in_tree(data: bytes, edit: Edit) -> bytes:
    """Edit one part of a JSON document, or of one line of JSONL."""
    text = data.decode()
    try:
        return _edited(text, edit)
    except json.JSONDecodeError:
        lines = [line.encode() for line in text.split("\n")]
        filled = [place for place, line in enumerate(lines) if line.strip()]
        if not filled:
            raise
        place = filled[edit.where % len(filled)]
        deeper = Edit(edit.what, edit.where // len(filled), edit.other)
        lines[place] = _edited(lines[place].decode(), deeper)
        return b"\n".join(lines)


def _edited(text: str, edit: Edit) -> bytes:
    root = [json.loads(text, object_pairs_hook=lambda pairs: Pairs([list(pair) for pair in pairs]))]
    found = list(places(root, 0))
    above, place = found[edit.where % len(found)]
    part, other = above[place], edit.other
    if edit.what == "exchange":
        above[place] = Raw(VALUES[other % len(VALUES)])
    elif edit.what == "graft":  # another part of the same document
        holder, number = found[other % len(found)]
        above[place] = deepcopy(holder[number])
    elif edit.what == "retype":
        size = len(rendered(part)) + 1
        above[place] = (
            [part],
            Pairs([["value", part]]),
            [part, part],
            rendered(part).decode("utf-8", "replace"),
            None,
            [part] * max(2, min(200, MOST_BYTES // size)),
        )[other % 6]
    elif members(part):
        is_object = isinstance(part, Pairs)
        _edit_members(part.items if is_object else part, is_object, edit)
    else:
        above[place] = [part]
    return rendered(root[0])


def _edit_members(rows: list[Any], is_object: bool, edit: Edit) -> None:
    """Edit the pairs of an object or the values of a list."""
    place = edit.other % len(rows)
    row, text = rows[place], TEXTS[edit.other % len(TEXTS)]
    if edit.what == "drop":
        del rows[place]
    elif edit.what == "turn":
        rows.reverse()
    elif edit.what == "repeat":
        most = max(1, MOST_BYTES // (len(rendered(row)) + 1))
        rows += [row] * min(most, 1 + edit.other % 40)
    elif edit.what == "rename" and is_object:
        row[0] = text
    else:
        rows.insert(place, [text, Raw(VALUES[edit.other % len(VALUES)])] if is_object else text)


def _in_lines(data: bytes, edit: Edit) -> bytes:
    """Edit the lines of a text, or the cells of one."""
    lines = data.split(b"\n")
    place = edit.where % len(lines)
    text = TEXTS[edit.other % len(TEXTS)].encode()
    if edit.what in ("drop", "line dropped"):
        del lines[place]
    elif edit.what in ("repeat", "graft", "line repeated"):
        lines.insert(edit.other % len(lines), lines[place])
    elif edit.what in ("exchange", "retype", "cell"):
        cells = lines[place].split(b",")
        cells[edit.other % len(cells)] = text
        lines[place] = b",".join(cells)
    else:
        lines.insert(place, text)
    return b"\n".join(lines)


def _flipped(data: bytes, edit: Edit) -> bytes:
    if not data:
        return b"\xff"
    place = edit.where % len(data)
    return data[:place] + bytes([data[place] ^ (1 + edit.other % 255)]) + data[place + 1 :]


def _inserted(data: bytes, edit: Edit) -> bytes:
    marks = [b"\n", b"\r", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\x80" * 9, b"9" * 70, b"[" * 3000]
    marks += b'\0 \xff " { } [ ] , : \\ \x1a'.split(b" ")
    place = edit.where % (len(data) + 1)
    return data[:place] + marks[edit.other % len(marks)] + data[place:]


def _moved(data: bytes, edit: Edit) -> bytes:
    """A piece of the file over another place of it."""
    start, place = edit.where % (len(data) + 1), edit.other % (len(data) + 1)
    piece = data[start : start + 1 + edit.other % 64]
    return data[:place] + piece + data[place + len(piece) :]


def _deleted(data: bytes, edit: Edit) -> bytes:
    start = edit.where % (len(data) + 1)
    return data[:start] + data[start + 1 + edit.other % 32 :]


BYTE_EDITS: dict[str, Callable[[bytes, Edit], bytes]] = {
    "flip": _flipped,
    "insert": _inserted,
    "move": _moved,
    "delete": _deleted,
    "cut": lambda data, edit: data[: edit.where % (len(data) + 1)],
    "mark": lambda data, _: b"\xef\xbb\xbf" + data,
    "utf-16": lambda data, _: data.decode("utf-8", "replace").encode("utf-16"),
    "gzip": lambda data, _: gzip.compress(data, mtime=0),
    "twice": lambda data, _: data + data,
    "nothing": lambda _, edit: (b"", b"\n", b" \n \n", b"\0" * 50, b"\n" * 3000)[edit.other % 5],
    "crlf": lambda data, _: data.replace(b"\n", b"\r\n"),
}
LINE_EDITS = ("line dropped", "line repeated", "line added", "cell")
TREE_EDITS = ("exchange", "drop", "rename", "repeat", "add", "turn", "graft", "retype")

_NUMBERS = st.integers(0, 1 << 20)
_KINDS = (*TREE_EDITS * 2, "exchange", "exchange", *LINE_EDITS, *BYTE_EDITS)
edits = st.lists(
    st.builds(Edit, st.sampled_from(_KINDS), _NUMBERS, _NUMBERS), min_size=1, max_size=3
)
"""One to three edits."""
