"""Results that a killed command left are used, and everything else is computed."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.workspace.journal import to_line
from memaudit.workspace.task_journal import one_by_one, task_journal

SETTINGS = {"budgets": ["1", "2"]}
asked: list[int] = []


def third(factor: int, task: int) -> Fraction:
    asked.append(task)
    return Fraction(factor * task, 3)


def names(task: str) -> dict[str, Any]:
    return {"name": task}


def run(path: Path, tasks: int = 4, **changes: object) -> list[object]:
    """Two steps in one journal; what was computed anew is in `asked`."""
    asked.clear()
    with task_journal(path, "score", {**SETTINGS, **changes}, one_by_one) as kept:
        numbers = list(kept.map(partial(third, 2), range(tasks)))
        return [*numbers, *kept.map(names, ["a", "b"])]


def test_cut_anywhere_it_goes_on(tmp_path: Path) -> None:
    """Whatever row a killed process stopped in, the same results and the same bytes."""
    path = tmp_path / "j.jsonl"
    results = run(path)
    assert results == [*(Fraction(2 * n, 3) for n in range(4)), {"name": "a"}, {"name": "b"}]
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for stop in (0, 5, ends[0] - 1, *ends, ends[2] + 7):
        path.write_bytes(whole[:stop])
        assert run(path) == results
        done = max(0, sum(end <= stop for end in ends) - 1)
        assert asked == list(range(done, 4)), stop
        assert path.read_bytes() == whole


def test_tasks_are_not_skipped_beyond_the_file(tmp_path: Path) -> None:
    """An error in the tasks, or one that stops a run, leaves what was finished before it."""

    def broken() -> Iterator[int]:
        yield 0
        yield 1
        raise MemAuditError("line 3 is not JSON")

    path = tmp_path / "j.jsonl"
    with (
        pytest.raises(MemAuditError, match="line 3"),
        task_journal(path, "score", SETTINGS, one_by_one) as kept,
    ):
        list(kept.map(partial(third, 2), broken()))
    run(path)
    assert asked == [2, 3]


def test_other_runs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    run(path)
    before = path.read_bytes()
    with pytest.raises(MemAuditError, match=r"different: budgets, judge\); remove it or"):
        run(path, budgets=["1"], judge="pointer")
    with (
        pytest.raises(MemAuditError, match=r"different: command"),
        task_journal(path, "sensitivity", SETTINGS, one_by_one),
    ):
        pass
    with (
        task_journal(path, "score", SETTINGS, one_by_one),
        pytest.raises(MemAuditError, match="being written by another run"),
    ):
        run(path)
    assert path.read_bytes() == before


def test_a_temporary_file_belongs_to_whoever_has_it_open(tmp_path: Path) -> None:
    """It replaces that of other settings, but never one that is in use; it is gone at the end."""
    path = tmp_path / "j.jsonl"
    run(path)
    with task_journal(path, "score", {}, one_by_one, temporary=True) as kept:
        assert kept.existing == 0
        list(kept.map(partial(third, 1), [5]))
        before = path.read_bytes()
        for settings in ({}, SETTINGS):
            with (
                pytest.raises(MemAuditError, match="being written by another run"),
                task_journal(path, "score", settings, one_by_one, temporary=True),
            ):
                pass
        assert path.read_bytes() == before
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "my notes\n", to_line({"format": "other"})])
def test_other_files_stay(text: str, tmp_path: Path) -> None:
    """Only an empty file becomes a journal."""
    path = tmp_path / "notes.txt"
    path.write_text(text)
    if not text:
        assert len(run(path)) == 6
        return
    with pytest.raises(MemAuditError, match="already exists and is not a journal"):
        run(path)
    assert path.read_text() == text


def test_results_that_do_not_count_any_more(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    run(path)
    whole = path.read_bytes()
    asked.clear()
    valid = {"0", "2/3"}.__contains__
    with task_journal(path, "score", SETTINGS, one_by_one, valid) as kept:
        assert (kept.existing, kept.rows) == (2, 2)
        assert kept.cut > 0
        assert len(list(kept.map(partial(third, 2), range(4)))) == 4
        list(kept.map(names, ["a", "b"]))
    assert asked == [2, 3]
    assert path.read_bytes() == whole
