"""Tasks with their results in a file: a killed command resumes after the last complete result.

The first row of the file says what is run. Results follow in the order of the tasks, so at any
moment the file is the beginning of the finished one, whoever computed them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar, get_type_hints

from memaudit.kernel.errors import LostWorker, MemAuditError
from memaudit.kernel.io.files import open_regular, refuse_to_write
from memaudit.kernel.version import VERSION
from memaudit.workspace.journal import LONGEST_LINE, Journal, intact_row, read_journal, to_line
from memaudit.workspace.run_folder import different_settings
from memaudit.workspace.typed_json import from_json, to_json

FORMAT = "memaudit-journal"
MARK = b'{"format":"memaudit-journal",'

Task = TypeVar("Task")
Result = TypeVar("Result")


class TaskRunner(Protocol):
    """Runs a function over tasks, in parallel or not; results come in the order of the tasks."""

    def __call__(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], /
    ) -> Iterator[Result]: ...


def one_by_one(function: Callable[[Task], Result], tasks: Iterable[Task], /) -> Iterator[Result]:
    """The TaskRunner without parallelism."""
    yield from map(function, tasks)


class TaskJournal:
    """An open file of results, of which the first `existing` were there before."""

    def __init__(self, journal: Journal, run: TaskRunner) -> None:
        self.existing = journal.rows - 1
        self._journal, self._run = journal, run
        self._before = islice(read_journal(journal.path), 1, journal.rows)

    def results(self, kind: type[Result]) -> Iterator[Result]:
        """All results, read again from the file."""
        for row in islice(read_journal(self._journal.path), 1, None):
            yield from_json(kind, row["result"])

    @property
    def cut(self) -> int:
        """Bytes of damaged results that were removed."""
        return self._journal.cut

    @property
    def rows(self) -> int:
        """How many results the file has."""
        return self._journal.rows - 1

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """A TaskRunner: results from the file first, then those of the other tasks.

        By its annotation, the function says what it returns.
        """
        kind = get_type_hints(getattr(function, "func", function))["return"]
        waiting = iter(tasks)
        for task in waiting:
            row = next(self._before, None)
            if row is None:
                waiting = chain([task], waiting)
                break
            yield from_json(kind, row["result"])
        for result in self._run(function, waiting):
            data = to_json(result)
            self._journal.append([to_line({"task": self.rows, "result": data})])
            yield from_json(kind, data)


@contextmanager
def task_journal(
    path: Path,
    command: str,
    settings: Mapping[str, Any],
    run: TaskRunner,
    is_valid: Callable[[Any], bool] = lambda _: True,
    temporary: bool = False,
) -> Iterator[TaskJournal]:
    """Open a file of results for one command at a time.

    `settings` are everything that decides the results. A file of other settings is refused. From
    the first result that is not valid any more, all are computed again. A command that fails
    before its first result leaves no file.

    A `temporary` file replaces one of other settings. It is there only while the command runs, or
    after it was killed or lost a worker.
    """

    def refused(names: Sequence[str]) -> MemAuditError:
        return MemAuditError(
            f"{path} is the journal of another run (different: {', '.join(names)}); remove it or "
            "choose another place"
        )

    def fits(place: int, row: dict[str, Any]) -> bool:
        if place:
            return row.get("task") == place - 1 and is_valid(row.get("result"))
        if (names := _different(row, command, settings)) and not temporary:
            raise refused(names)
        return not names

    head = _first_row(path)  # before the file is opened: what is no journal would be cut off
    if head is not None and (names := _different(head, command, settings)) and not temporary:
        raise refused(names)
    with Journal(path, fits) as journal:
        if not journal.rows:
            own = _own(settings)
            row = {"format": FORMAT, "version": 1, "command": command, "settings": own}
            journal.append([to_line(row)])
        kept = TaskJournal(journal, run)
        try:
            yield kept
        except LostWorker:
            raise
        except MemAuditError:
            if temporary or not kept.rows:
                path.unlink()
            raise
        if temporary:
            path.unlink()


def _own(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"memaudit": VERSION, **settings}


def _first_row(path: Path) -> dict[str, Any] | None:
    """The first row of a journal, if it has one; an error where the file is something else."""
    refuse_to_write(path)
    if not path.exists():
        return None
    with open_regular(path) as file:
        line = file.readline(LONGEST_LINE)
    if line and not line.startswith(MARK[: len(line)]):
        raise MemAuditError(f"{path} already exists and is not a journal; choose another file")
    return intact_row(line)  # none if a process was killed while it wrote it


def _different(row: Mapping[str, Any], command: str, settings: Mapping[str, Any]) -> list[str]:
    """The settings in which a journal differs, by its first row."""
    before = {"command": row.get("command"), **(row.get("settings") or {})}
    return different_settings(before, {"command": command, **_own(settings)})
