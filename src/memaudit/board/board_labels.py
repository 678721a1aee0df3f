"""Label files of a board: which texts they cover, and mistakes that would silently score as 0.

memories.jsonl    conversation, memory_id, text
coverage.jsonl    conversation, memory_id, unit_id, coverage: the adjudicated labels
blind_a.jsonl     the same of a blind pass; board.json names all of these files
controls.jsonl    what the readers of a system's own labels said about memories of the board
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from memaudit.board.board_file import BoardPlan
from memaudit.judges.label_files import (
    CELL_COLUMNS,
    MEMORY_COLUMNS,
    LabelRow,
    cell_rows,
    label_rows,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_lines
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.foreign_json import json_lines
from memaudit.kernel.words.text import one_line

Known = Mapping[str, Mapping[str, str]]
"""By conversation, the texts that labels are about, each on one line, with their ids."""

CONTROLS = "controls.jsonl"

AGAIN = "if memaudit label sheets was interrupted while adding labels, run it again"


def labelled_texts(file: Path) -> dict[str, dict[str, str]]:
    """The texts in a file of memories; a file that is not there holds none."""
    found: dict[str, dict[str, str]] = {}
    with errors_in(file):
        for row in _memories(file) if file.is_file() else ():
            own = found.setdefault(row.text("conversation"), {})
            own[one_line(row.text("text"))] = row.text("memory_id")
    return found


def has_labels(folder: Path, plan: BoardPlan) -> bool:
    """Whether a folder has labels of its own; incomplete ones are refused before scoring."""
    return _any_file(folder, (plan.labels, *plan.passes))


def _any_file(folder: Path, names: Iterable[str]) -> bool:
    return any((folder / name).is_file() for name in names)


def check_labels(folder: Path, plan: BoardPlan, may_lack_passes: bool = False) -> None:
    """Refuse labels of unknown memories, and a pass without labels of a conversation."""
    passes = [] if may_lack_passes and not _any_file(folder, plan.passes) else plan.passes
    for name in (plan.labels, *passes, plan.memories):
        if not (folder / name).is_file():
            raise MemAuditError(
                f"{folder / name}: does not exist, although other label files do; {AGAIN}"
            )
    texts: dict[tuple[str, str], str] = {}
    with errors_in(folder / plan.memories):
        for row in _memories(folder / plan.memories):
            about = row.text("conversation"), row.text("memory_id")
            if texts.setdefault(about, row.text("text")) != row.text("text"):
                raise row.wrong(f"gives {about[1]!r} of {about[0]} a second text")
    for name in (plan.labels, *passes):
        with errors_in(folder / name):
            _check_pass(folder / name, plan.memories, texts)


def _check_pass(path: Path, memories: str, texts: Mapping[tuple[str, str], str]) -> None:
    missing = {conversation for conversation, _ in texts}
    for row in cell_rows(path, CELL_COLUMNS):
        about = row.text("conversation"), row.text("memory_id")
        if about not in texts:
            raise row.wrong(f"{memories} has no memory {about[1]!r} of {about[0]}; {AGAIN}")
        if row.has("coverage"):
            row.share("coverage")
        missing.discard(about[0])
    if missing:
        raise MemAuditError(
            f"{path.name}: has no label for {min(missing)}, although {memories} has memories of "
            "it; if they keep nothing, say so with a label of 0"
        )


def replace_rows(
    path: Path, ids: Collection[tuple[object, object]], rows: Iterable[Mapping[str, object]]
) -> None:
    """Put rows into a file of labels, in place of its rows about these conversations and
    memories."""
    lines = _lines_about_others(path, ids)
    lines += [json.dumps(row, ensure_ascii=False) for row in rows]
    write_lines(path, (f"{line}\n" for line in lines))


def _lines_about_others(path: Path, ids: Collection[tuple[object, object]]) -> list[str]:
    """The lines of a file of labels that are about no memory of these, as they are."""
    if not path.exists():
        return []
    about = {at: (row.get("conversation"), row.get("memory_id")) for at, row in json_lines(path)}
    lines = read_text(path).split("\n")
    return [line for at, line in enumerate(lines, 1) if at in about and about[at] not in ids]


def _memories(file: Path) -> list[LabelRow]:
    return label_rows(file, MEMORY_COLUMNS, frozenset({"conversation", "memory_id", "text"}))


@contextmanager
def errors_in(file: Path) -> Iterator[None]:
    """Errors that begin with the name of the file say where it is."""
    try:
        yield
    except MemAuditError as error:
        if str(error).startswith(file.name):
            raise MemAuditError(f"{file.parent}/{error}") from None
        raise
