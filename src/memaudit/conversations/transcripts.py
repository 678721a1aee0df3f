"""A folder of Markdown or text transcripts: each file a session, the folder one conversation."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memaudit.conversations.conversation import Conversation, Session, Turn, numbered_by_time
from memaudit.conversations.records import IdRegistry, LoadedConversation, Notes
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import names_in, open_regular, read_text
from memaudit.kernel.io.foreign_json import CHUNK, encodable, read_piece
from memaudit.kernel.io.timestamps import iso_time

BOLD = re.compile(r"\*\*(?P<name>[^*:]{1,60})(?::\*\*|\*\*:)(?P<text>.*)")
HEADING = re.compile(r"##[ \t]+(?P<name>[^#].{0,59}?):?[ \t]*")
PLAIN = re.compile(r"(?P<name>[^\W\d_][\w.'-]*(?: [\w.'-]+){0,2}):(?:[ \t]+(?P<text>.*))?")
STYLES = (BOLD, HEADING, PLAIN)
"""How turns begin; a file uses the first of these that occurs in it."""

FENCE = ("```", "~~~")
ASSISTANTS = frozenset({"assistant", "ai", "bot", "chatgpt", "claude", "gemini", "gpt"})
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
DATE_LINE = re.compile(r"[#*_>\s]*(?:date[*_]*:[*_]*)?(?P<date>[^*_]*)[*_\s]*", re.IGNORECASE)
LONGEST_DATE_LINE = 60


class Transcripts:
    """Turns begin with `**Name:**`, `## Name` or `Name:` at the start of a line."""

    name = "transcripts"
    about = "a folder of Markdown or text transcripts: each file a session with named turns"

    def recognises(self, keys: frozenset[str]) -> bool:  # noqa: ARG002
        """No record is one: a folder is told by the files in it."""
        return False

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        if path.exists() and not path.is_dir():
            raise MemAuditError(f"{path.name}: is not a folder; transcripts are read from a folder")
        notes, ids, heard = Notes(), IdRegistry(), Counter[str]()
        id = encodable(path.resolve().name) or "transcripts"
        files = transcript_files(path)
        for name in other_entries(path):
            notes.add("not a transcript", "folder", encodable(name))
        sessions = [_session(file, ids, notes, heard) for file in files]
        # `Note:` looks like a speaker too. Whoever speaks twice in the whole folder is one.
        for name in sorted(name for name, count in heard.items() if count == 1):
            notes.add("speaker named once", "name", name)
        yield LoadedConversation(Conversation(id, numbered_by_time(sessions)), notes.of(id))


@dataclass(slots=True)
class _Spoken:
    """A turn while its lines come in."""

    name: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


def _session(path: Path, ids: IdRegistry, notes: Notes, heard: Counter[str]) -> Session:
    name = encodable(path.name)
    id = ids.assign_noted(encodable(path.stem), name, notes, "file")
    lines = read_text(path).replace("\r\n", "\n").split("\n")
    style = _style(lines)
    first = next((line for line in lines if line.strip()), "")
    day, dated_line = _date(name, first, style, notes)
    before, spoken = _split(lines, style)
    if dated_line and first in before:
        before.remove(first)
    if left := " ".join(" ".join(before).split()):
        notes.add("text before the first turn", "file", name, left)
    if style is PLAIN:
        heard.update(turn.name for turn in spoken)
    turns = []
    for place, turn in enumerate(spoken):
        turn_id = f"{id}:{place + 1}"
        if not turn.text:
            notes.add("empty text", "file", turn_id)
        turns.append(Turn(turn_id, id, place, turn.name, _role(turn.name), turn.text, day))
    if not turns:
        notes.add("empty session", "file", name)
    return Session(id, 0, day, tuple(turns))


def _style(lines: list[str]) -> re.Pattern[str]:
    # A file keeps one style: in a text with bold names, `Note:` at the start of a line is text.
    outside = [line for line, fenced in _fences(lines) if not fenced]
    for style in STYLES:
        if any(style.fullmatch(line) and not _is_date_line(line) for line in outside):
            return style
    return PLAIN


def _fences(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is code, where nobody begins to speak."""
    fenced = False
    for line in lines:
        mark = line.lstrip().startswith(FENCE)
        yield line, fenced or mark
        fenced ^= mark


def _split(lines: list[str], style: re.Pattern[str]) -> tuple[list[str], list[_Spoken]]:
    """What stands before the first turn, and the turns."""
    before: list[str] = []
    spoken: list[_Spoken] = []
    for line, fenced in _fences(lines):
        begins = None if fenced else style.fullmatch(line)
        if begins is not None and not _is_date_line(line):
            words = begins.groupdict().get("text") or ""
            spoken.append(_Spoken(begins["name"].strip(), [words.strip()]))
        elif spoken:
            spoken[-1].lines.append(line)
        else:
            before.append(line)
    return before, spoken


def _is_date_line(line: str) -> bool:
    """Whether a line is a date and nothing else, as `Date: 2024-05-03`."""
    return _line_date(line) is not None


def _line_date(line: str) -> str | None:
    match = DATE_LINE.fullmatch(line) if len(line) <= LONGEST_DATE_LINE else None
    return iso_time(match["date"]) if match else None


def _date(name: str, first: str, style: re.Pattern[str], notes: Notes) -> tuple[str | None, bool]:
    """The date in the file's name or else in its first line, and whether that line is a date."""
    line_date = _line_date(first)
    if written := DATE.search(name):
        time = iso_time(written[0])
        if time is None:
            notes.add("time not understood", "file", name, written[0])
        return time, line_date is not None
    if line_date is not None:
        return line_date, True
    written = None if style.fullmatch(first) else DATE.search(first)
    if written and (time := iso_time(written[0])):
        return time, False
    notes.add("missing field", "date", name)
    return None, False


def _role(name: str) -> str:
    known = name.casefold()
    return "assistant" if known in ASSISTANTS else "system" if known == "system" else "user"


ENDINGS = frozenset({".md", ".markdown", ".txt"})


def transcript_files(folder: Path) -> list[Path]:
    """The folder's own Markdown and text files by name; an error if there are none."""
    files = [path for path in _visible(folder) if is_transcript(path)]
    if not files:
        raise MemAuditError(
            f"{folder.name or folder}: is a folder without transcripts "
            f"({', '.join(sorted(ENDINGS))}); give a file or a folder that holds some"
        )
    return files


def other_entries(folder: Path) -> list[str]:
    """The names of everything else in the folder that is not hidden."""
    return [path.name for path in _visible(folder) if not is_transcript(path)]


def is_transcript(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and not path.is_dir()


def _visible(folder: Path) -> list[Path]:
    return [folder / name for name in names_in(folder) if not name.startswith(".")]


def dataset_hash(path: Path) -> str:
    """The SHA-256 of a file, or of the names and contents of a folder's transcripts."""
    total = hashlib.sha256()
    if path.is_dir():
        for file_path in transcript_files(path):
            total.update(
                # Names as well as contents: the name of a file is its session and may hold its
                # date.
                f"{file_path.name}\0{dataset_hash(file_path)}\n".encode("utf-8", "surrogateescape")
            )
        return total.hexdigest()
    with open_regular(path) as file:
        while piece := read_piece(file, CHUNK, path.name):
            total.update(piece)
    return total.hexdigest()
