"""A record of a capture: every request to the model and its reply, what was fed, what it cost.

A journal of JSON lines. Values that come again, such as the messages of a growing chat or a vector,
are stored once, as parts. It holds no key and no address.
"""

import difflib
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked_dataclass

from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.io.files import open_regular
from memaudit.kernel.words.text import shortened
from memaudit.workspace.journal import LONGEST_LINE, Journal, intact_row, to_line

VERSION = 1
SUFFIX = ".record.jsonl"
"""Of a record beside its store."""
EMBEDDINGS = "embeddings"
SHORT = 80
"""Characters of JSON below which a value is not worth a part."""

# Gzip and repeated parts let a small file grow without end; real records stay far below.
LONGEST_RECORD, LONGEST_UNPACKED = 1 << 30, 1 << 31
"""Bytes of a record without gzip, and of its calls with all their parts."""


Count = Annotated[int, Field(ge=0)]
STRICT = ConfigDict(strict=True, allow_inf_nan=False)


@checked_dataclass(frozen=True, slots=True, config=STRICT)
class Call:
    """One request that was answered; `reply` is JSON if the server sent JSON, else text."""

    example: str
    place: Count
    """Which feeding it belongs to: 0 for opening the system, then 1, 2, ..."""
    path: str
    request: dict[str, Any]
    status: Annotated[int, Field(ge=100, le=599)]
    reply: Any
    tokens_in: Count | None = None
    tokens_out: Count | None = None

    @property
    def key(self) -> str:
        return call_key(self.path, self.request)

    @property
    def is_embedding(self) -> bool:
        return self.path == EMBEDDINGS


@checked_dataclass(slots=True, config=STRICT)
class Spent:
    """What one feeding cost; tokens are None where the provider reported none."""

    calls: Count = 0
    tokens_in: Count | None = None
    tokens_out: Count | None = None
    embedding_calls: Count = 0
    embedded_texts: Count = 0
    seconds: Annotated[float, Field(ge=0, lt=1e12)] = 0.0

    @classmethod
    def of(cls, calls: Sequence[Call], seconds: float) -> "Spent":
        """Refused calls cost nothing that is known."""
        done = [call for call in calls if call.status < 300]
        chats = [call for call in done if not call.is_embedding]
        texts = [call.request.get("input") for call in done if call.is_embedding]
        return cls(
            calls=len(chats),
            tokens_in=total(call.tokens_in for call in chats),
            tokens_out=total(call.tokens_out for call in chats),
            embedding_calls=len(texts),
            embedded_texts=sum(len(text) if isinstance(text, list) else 1 for text in texts),
            seconds=round(seconds, 3),
        )


def total(numbers: "Iterator[int | None] | Sequence[int | None]") -> int | None:
    """The sum; None if there is nothing to add or some number is not known."""
    counts = list(numbers)
    reported = [number for number in counts if number is not None]
    return sum(reported) if reported and len(reported) == len(counts) else None


def call_key(path: str, request: Any) -> str:
    """What identifies a request: its content, whatever the order of its fields."""
    text = json.dumps([path, request], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(slots=True)
class Record:
    """What a record holds. `next_reply` gives the answers to equal requests in their order."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    spent: dict[tuple[str, int], Spent] = field(default_factory=dict)
    _answers: dict[tuple[str, str], list[Call]] = field(default_factory=dict)
    _used: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, call: Call) -> None:
        self.calls.append(call)
        answers = self._answers.setdefault((call.example, call.key), [])
        if call.status < 300:
            # A refusal that was followed by an answer is not repeated.
            answers[:] = [answer for answer in answers if answer.status < 300]
            answers.append(call)
        elif not any(answer.status < 300 for answer in answers):
            answers.append(call)

    def begin(self, example: str) -> None:
        """Answer the requests of an example from its first one again."""
        self._used = {key: count for key, count in self._used.items() if key[0] != example}

    def next_reply(self, example: str, path: str, request: Any) -> Call | None:
        key = (example, call_key(path, request))
        answers = self._answers.get(key, [])
        at = self._used.get(key, 0)
        if path == EMBEDDINGS and answers:  # the same text has the same vector
            return answers[min(at, len(answers) - 1)]
        self._used[key] = at + 1
        return answers[at] if at < len(answers) else None

    def nearest(self, example: str, path: str, request: Any) -> str:
        """How a request differs from the recorded one that is most like it."""
        asked, words = _lines(request), _words(request)
        best, highest = None, -1.0
        for call in self.calls:
            if call.example == example and call.path == path:
                other = _words(call.request)
                alike = len(words & other) / (len(words | other) or 1)
                if alike > highest:
                    best, highest = call, alike
        if best is None:
            return f"nothing was recorded for {path} of {example!r}"
        changes = [
            line
            for line in difflib.unified_diff(_lines(best.request), asked, lineterm="", n=0)
            if line[:2] not in ("--", "++", "@@")
        ]
        shown = "; ".join(shortened(line, 160) for line in changes[:6])
        return f"the nearest recorded request differs in {len(changes)} lines: {shown}"


def _lines(value: Any) -> list[str]:
    """A request as lines: a text of several lines counts line by line."""
    lines: list[str] = []

    def walk(value: Any, name: str) -> None:
        if isinstance(value, dict):
            for key in sorted(value):
                walk(value[key], f"{name}.{key}" if name else key)
        elif isinstance(value, list):
            for at, item in enumerate(value):
                walk(item, f"{name}[{at}]")
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            lines.extend(f"{name}: {line}" for line in text.splitlines() or [""])

    walk(value, "")
    return lines


def _words(value: Any) -> set[str]:
    return set(re.findall(r"\w+", json.dumps(value)))


class RecordFile:
    """A record that is being written; what a killed run left is read first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journal = Journal(path)
        self._parts: dict[str, int] = {}

    def __enter__(self) -> "RecordFile":
        self._journal.__enter__()
        self.record = _read(self.path, self._parts)
        return self

    def __exit__(self, *error: Any) -> None:
        self._journal.__exit__(*error)

    def begin(self, settings: Mapping[str, Any]) -> None:
        """State the settings of a new record; those of an old one must be the same."""
        if not self.record.settings:
            self.record.settings = dict(settings)
            self._append({"kind": "record", "version": VERSION, **settings})
        for name, wanted in settings.items():
            # Where a model was served may change between runs, and decides nothing that is asked.
            if self.record.settings.get(name) != wanted and name != "model_at":
                before, now = json.dumps(self.record.settings.get(name)), json.dumps(wanted)
                raise ParameterError(
                    "{path} was recorded with {setting} {before}, not {now}; delete it, or choose "
                    "another {out} or {record}",
                    path=self.path,
                    setting=name,
                    before=before,
                    now=now,
                )

    def keep(self, call: Call) -> None:
        row = {
            "kind": "call",
            "example": call.example,
            "place": call.place,
            "path": call.path,
            "request": self._packed(call.request),
            "status": call.status,
            "reply": self._packed(call.reply),
            "tokens_in": call.tokens_in,
            "tokens_out": call.tokens_out,
        }
        self._append(row)
        self.record.add(call)

    def fed(self, example: str, place: int, spent: Spent) -> None:
        self._append({"kind": "fed", "example": example, "place": place, **asdict(spent)})
        self.record.spent[example, place] = spent

    def _packed(self, value: Any) -> Any:
        """An object field by field and a list item by item, long ones as numbers of parts."""
        if not isinstance(value, dict):
            return ["value", value]
        return {
            name: ["list", [self._part(element) for element in item]]
            if isinstance(item, list)
            else ["part", self._part(item)]
            if len(json.dumps(item)) > SHORT
            else ["value", item]
            for name, item in value.items()
        }

    def _part(self, value: Any) -> int:
        text = json.dumps(value, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        if digest not in self._parts:
            self._append({"kind": "part", "value": value})
            self._parts[digest] = len(self._parts)
        return self._parts[digest]

    def _append(self, row: dict[str, Any]) -> None:
        self._journal.append([to_line(row)])


def read_record(path: Path) -> Record:
    """A record for a replay; it may be compressed with gzip."""
    record = _read(path, {})
    if not record.settings:
        raise MemAuditError(f"{path.name}: is not a record of a capture")
    return record


def _read(path: Path, parts: dict[str, int]) -> Record:
    record = Record(path.name)
    values = _Parts()
    for number, row in _rows(path):
        try:
            kind = row.pop("kind")
            if kind == "record":
                if row.pop("version") != VERSION:
                    raise MemAuditError(f"{path.name}: has another version; this reads {VERSION}")
                record.settings = _checked_settings(row)
            elif kind == "part":
                text = json.dumps(row["value"], sort_keys=True)
                parts[hashlib.sha256(text.encode()).hexdigest()] = len(values.found)
                values.add(row["value"], len(text))
            elif kind == "call":
                for name in ("request", "reply"):
                    row[name] = values.unpacked(row[name])
                record.add(Call(**row))
            elif kind == "fed":
                example, place = row.pop("example"), row.pop("place")
                record.spent[example, place] = Spent(**row)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise MemAuditError(f"{path.name}, line {number}: is not of a record") from None
    return record


class _Parts:
    """Values by number, and how much all calls together may unpack."""

    def __init__(self) -> None:
        self.found: list[Any] = []
        self._sizes: list[int] = []
        self._left = LONGEST_UNPACKED

    def add(self, value: Any, size: int) -> None:
        self.found.append(value)
        self._sizes.append(size)

    def unpacked(self, value: Any) -> Any:
        if isinstance(value, list):
            return value[1]
        return {
            name: [self._at(element) for element in item]
            if how == "list"
            else self._at(item)
            if how == "part"
            else item
            for name, (how, item) in value.items()
        }

    def _at(self, number: int) -> Any:
        # Python would count from the end.
        if number < 0:
            raise IndexError
        self._left -= self._sizes[number]
        if self._left < 0:
            raise ValueError
        return self.found[number]


def _checked_settings(row: dict[str, Any]) -> dict[str, Any]:
    """The settings of a capture, each of its type."""
    kinds: dict[str, tuple[type, ...]] = {
        "system": (str,),
        "model": (str,),
        "model_at": (str,),
        "name": (str,),
        "feed": (str,),
        "clock": (str,),
        "embedder": (str, type(None)),
        "view": (str, type(None)),
        "options": (dict,),
        "versions": (dict,),
        "per_person": (bool,),
        "counts_tokens": (bool,),
    }
    for name, value in row.items():
        if name in kinds and not isinstance(value, kinds[name]):
            raise TypeError
    return row


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with open_regular(path) as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        file = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if packed else raw
        number = size = 0
        try:
            while line := file.readline(LONGEST_LINE):
                number, size = number + 1, size + len(line)
                row = intact_row(line)
                if row is None or size > LONGEST_RECORD:
                    what = "is damaged or cut off" if row is None else "makes the record too large"
                    raise MemAuditError(f"{path.name}, line {number}: {what}")
                del row["crc"]
                yield number, row
        except (OSError, EOFError, zlib.error) as error:
            raise MemAuditError(f"{path.name}: cannot be read: {error}") from None
