"""Folders of runs that say more, less or something else than their rows."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.summary import count_rows, open_finished, summarise
from memaudit.lab.sweeps.runs.sweep import RUN, read_run, run
from memaudit.workspace.engines import Serial
from memaudit.workspace.journal import read_journal, to_line
from memaudit.workspace.run_folder import ROWS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One distribution, two seeds, two writers."""
    run(RunSpec(("base",), (3, 5), ("2",), ("opt", "gvt")), tmp_path / "r", Serial())
    return tmp_path / "r"


def restate(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    data = json.loads((folder / RUN).read_text())
    change(data)
    (folder / RUN).write_text(json.dumps(data))


def rewrite(folder: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the rows, checksums and all."""
    rows = list(read_journal(folder / ROWS))
    change(rows)
    (folder / ROWS).write_text("".join(map(to_line, rows)))


def test_a_finished_run(folder: Path) -> None:
    """Every row in the order of the spec."""
    found = open_finished(folder)
    assert (found.spec.seeds, found.spec.rows, count_rows(folder)) == ((3, 5), 4, 4)
    assert [(row["seed"], row["writer"]) for row in found.rows()] == [
        (3, "opt"),
        (3, "gvt"),
        (5, "opt"),
        (5, "gvt"),
    ]


@pytest.mark.parametrize("seeds", ["0-29999999", "0-9999999,10000000-29999999"])
def test_more_seeds_than_rows(folder: Path, seeds: str) -> None:
    """Refused before seeds are written out, whether or not the number of rows says the same."""
    count = 30_000_000
    tracemalloc.start()
    restate(folder, lambda data: data["spec"].update(seeds=seeds))
    with pytest.raises(MemAuditError, match=f"it says 4 rows, its spec gives {2 * count}"):
        open_finished(folder)
    restate(folder, lambda data: data.update(rows=2 * count))
    with pytest.raises(MemAuditError, match=f"holds 4 of {2 * count} rows; finish the run"):
        summarise(folder)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 6 * 10**8  # a file's buffer is 512 MB at first; the seeds take some 1.5 GB


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("writers", 5, r"spec\.writers: input should be a valid list"),
        ("writers", ["opt", {}], r"spec\.writers\.1: input should be a valid string"),
        ("writers", [], r"spec\.writers: list should have at least 1 item"),
        ("writers", ["opt", "opt"], r"spec\.writers: names one of them twice"),
        ("budgets", None, r"spec\.budgets: input should be a valid list"),
        ("budgets", ["1e999999999"], r"spec\.budgets\.0: 1e999999999 is out of range"),
        ("budgets", ["3"], "its budgets are not those of its spec"),
        ("seeds", None, r"spec\.seeds: input should be a valid string"),
        ("seeds", "", r"spec\.seeds: names no seed"),
        ("seeds", "9" * 5000, r"spec\.seeds: seeds '9{60}' are too many"),
        ("seeds", "\u0663", r"spec\.seeds: cannot read seeds"),
        ("distributions", "base", r"spec\.distributions: input should be a valid list"),
        ("seconds", -1, r"spec\.seconds: input should be greater than 0"),
    ],
)
def test_specs_of_another_form(folder: Path, part: str, value: object, said: str) -> None:
    """One line that names the part."""
    restate(folder, lambda data: data["spec"].update({part: value}))
    with pytest.raises(MemAuditError, match=said):
        read_run(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[1].pop("ratio"), "line 2: ratio: field required"),
        (lambda rows: rows[1].update(ratio=1.5), "line 2: ratio: input should be less than or eq"),
        (lambda rows: rows[0].update(value=None), "line 1: a store without a value or a cost says"),
        (lambda rows: rows[0].update(unit_values={"x": []}), r"line 1: unit_values\.x: input sho"),
        (lambda rows: rows[0].update(cost="1e999999999"), r"line 1: cost: .*out of range"),
        (lambda rows: rows[2].update(seed=4), "line 3: it is not the row that belongs here"),
        (lambda rows: rows.reverse(), "line 1: it is not the row that belongs here"),
        (lambda rows: rows.__setitem__(3, rows[2]), "line 4: it is not the row that belongs here"),
        (lambda rows: rows.pop(), "holds 3 of 4 rows; finish the run with the same command"),
        (lambda rows: rows.append(rows[0]), "holds 5 of 4 rows"),
    ],
)
def test_rows_of_another_form(
    folder: Path, change: Callable[[list[dict[str, Any]]], object], said: str
) -> None:
    """One line that names the row, whose checksum is right."""
    rewrite(folder, change)
    with pytest.raises(MemAuditError, match=said):
        summarise(folder)
