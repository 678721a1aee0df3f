"""The captures that ship: their records, a README that counts them, labels of two blind passes."""

import json
from collections import Counter
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

from memaudit.board.board_folder import BoardFolder, read_board, shipped_board
from memaudit.kernel.stats.agreement_coefficients import kappa_of_pairs
from memaudit.models.record import read_record

FOLDER = Path(str(files("memaudit").joinpath("examples/natural/captures")))
README = (FOLDER / "README.md").read_text("utf-8")
SYSTEMS = ("mem0", "langmem", "letta", "amem")


def table(heading: str) -> dict[str, list[str]]:
    """The rows of the README's table whose heading begins so, by their first cell."""
    lines = README[README.index(heading) :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first: rest for first, *rest in cells}


@pytest.fixture(scope="module")
def board() -> BoardFolder:
    with shipped_board() as folder:
        return read_board(folder)


def test_every_run_is_counted(board: BoardFolder) -> None:
    """Twelve conversations by all systems, three of them twice; no message failed."""
    counts = {
        (run.conversation, run.number, run.system): len(run.store.active) for run in board.runs
    }
    said = {}
    for name, numbers in table("| | mem0 | langmem").items():
        first, _, rest = name.partition(" (")
        number = 2 if rest == "second run)" else 1
        for system, count in zip(SYSTEMS, numbers, strict=True):
            said[first, number, system] = int(count)
    assert said == counts
    assert len({name for name, _, _ in counts}) == 12
    assert len({name for name, number, _ in counts if number == 2}) == 3


@pytest.mark.parametrize("system", SYSTEMS)
def test_records_say_how_stores_were_made(board: BoardFolder, system: str) -> None:
    for run in board.runs:
        if run.system != system:
            continue
        name = run.conversation if run.number == 1 else f"{run.conversation}.run{run.number}"
        record = read_record(FOLDER / system / f"{name}.json.record.jsonl.gz")
        settings = run.store.origin.configuration
        assert record.settings["system"] == system
        assert record.settings["clock"] == settings["clock"] == "conversation"
        assert settings["model"] == "careful-reader"
        assert settings["failed_messages"] == 0
        writing = settings["writing"]
        assert isinstance(writing, dict)
        assert writing["tokens_in"] == "not reported"
        assert writing["calls"] == sum(not call.is_embedding for call in record.calls)


def test_labels(board: BoardFolder) -> None:
    """Every memory is labelled; the third reader decided only where the passes differ; the README
    has their agreement."""
    assert not any(board.unlabelled(run) for run in board.runs)
    cells = {
        name: {
            (row["conversation"], row["memory_id"], row["unit_id"]): Fraction(str(row["coverage"]))
            for row in map(json.loads, (FOLDER / name).read_text("utf-8").splitlines())
        }
        for name in board.passes
    }
    final, first, second = (cells[name] for name in board.passes)
    for pair in {*final, *first, *second}:
        if first.get(pair) == second.get(pair):
            assert final.get(pair) == first.get(pair), pair
    texts = [
        (row["conversation"], row["memory_id"])
        for row in map(json.loads, (FOLDER / "memories.jsonl").read_text("utf-8").splitlines())
    ]
    assert len(texts) == 1_671 + 12
    assert "the 1,671 different texts of the active memories and 12 headings" in README
    nothing = Fraction(0)
    said = table("| | pairs | full in both")
    for package in board.packages:
        pairs = Counter(
            (first.get((name, id, unit.id), nothing), second.get((name, id, unit.id), nothing))
            for name, id in texts
            if name == package.name
            for unit in package.units
        )
        full, partial = pairs[Fraction(1), Fraction(1)], pairs[Fraction(1, 2), Fraction(1, 2)]
        differ = sum(number for (a, b), number in pairs.items() if a != b)
        kappa = kappa_of_pairs(pairs)
        assert kappa is not None
        assert said[package.name] == [
            f"{pairs.total():,}",
            str(full),
            str(partial),
            str(differ),
            f"{float(kappa):.3f}",
        ]
