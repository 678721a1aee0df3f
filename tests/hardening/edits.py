"""Edits of files, drawn by hypothesis: of the tree where it is JSON, else of lines and bytes."""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.hardening.junk import TEXTS, VALUES
from tests.hardening.tree import Pairs, Raw, at, parsed, parts_of, rendered, ways, with_part

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
        return rendered(_edited(parsed(text), edit))
    except json.JSONDecodeError:
        lines = text.split("\n")
        places = [place for place, line in enumerate(lines) if line.strip()]
        if not places:
            raise
        place = places[edit.where % len(places)]
        deeper = Edit(edit.what, edit.where // len(places), edit.other)
        new = rendered(_edited(parsed(lines[place]), deeper))
        return b"\n".join([*(line.encode() for line in lines[:place]), new,
                           *(line.encode() for line in lines[place + 1 :])])  # fmt: skip


def _edited(tree: Any, edit: Edit) -> Any:
    found = list(ways(tree))
    way = found[edit.where % len(found)]
    part = at(tree, way)
    if edit.what == "exchange":
        return with_part(tree, way, Raw(VALUES[edit.other % len(VALUES)]))
    if edit.what == "graft":  # another part of the same document
        return with_part(tree, way, at(tree, found[edit.other % len(found)]))
    if edit.what == "retype":
        kinds: list[Callable[[Any], Any]] = [
            lambda one: [one], lambda one: Pairs([("value", one)]), lambda one: [one, one],
            lambda one: rendered(one).decode("utf-8", "replace"), lambda _: None,
            lambda one: [one] * max(2, min(200, MOST_BYTES // (len(rendered(one)) + 1))),
        ]  # fmt: skip
        return with_part(tree, way, kinds[edit.other % len(kinds)](part))
    return with_part(tree, way, _members(part, edit))


def _members(part: Any, edit: Edit) -> Any:
    """Edit the members of an object or a list; anything else becomes a list with itself."""
    members = parts_of(part)
    if not members:
        return [part]
    place = edit.other % len(members)
    text = TEXTS[edit.other % len(TEXTS)]
    if isinstance(part, Pairs):
        items = list(part.items)
        key, value = items[place]
        if edit.what == "drop":
            del items[place]
        elif edit.what == "rename":
            items[place] = (text, value)
        elif edit.what == "repeat":
            items.append((key, value))
        elif edit.what == "add":
            items.insert(place, (text, Raw(VALUES[edit.other % len(VALUES)])))
        elif edit.what == "turn":
            items.reverse()
        return Pairs(items)
    values = list(part)
    if edit.what == "drop":
        del values[place]
    elif edit.what in ("rename", "add"):
        values.insert(place, text)
    elif edit.what == "repeat":
        most = max(1, MOST_BYTES // (len(rendered(values[place])) + 1))
        values += [values[place]] * min(most, 1 + edit.other % 40)
    else:
        values.reverse()
    return values


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
    marks = (b"\0", b"\xff", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\n", b"\r", b"\x1a",
             b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\x80" * 9, b"9" * 70, b"[" * 3000)  # fmt: skip
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
