"""Rows of a part, appended task by task: a killed run goes on after its last whole row."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from memaudit.experiments.engines.local import Engine
from memaudit.io.journal import Journal

Task = TypeVar("Task")
Key = tuple[object, ...]


def journaled(
    path: Path,
    tasks: Sequence[Task],
    work: Callable[[Task], list[str]],
    fields: Sequence[str],
    keys: Sequence[Key],
    engine: Engine,
) -> None:
    """Append the lines of every task, each of which has the same number of rows.

    `keys` says what the `fields` of each row must be; from the first row on that is another one,
    rows are cut off and made again.
    """

    def fits(place: int, row: dict[str, Any]) -> bool:
        return place < len(keys) and tuple(row.get(name) for name in fields) == keys[place]

    rows_a_task = len(keys) // len(tasks)
    with Journal(path, fits) as journal:
        first, skip = divmod(journal.rows, rows_a_task)
        for lines in engine.map(work, tasks[first:]):
            journal.append(lines[skip:])
            skip = 0
