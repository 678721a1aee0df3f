"""Blind labelling on sheets: what readers see, what becomes of their answers, and bad ones."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.core.text import one_line
from memaudit.io.atomic import write_lines
from memaudit.scoring import label_sheets
from tests.boards import UNITS, answer_sheet, answer_sheets, make_board, numbered
from tests.cli.running import done, failure, import_texts, printed_json, run

KEEPS: dict[str, set[str]] = {
    "Ann lives in Graz\nS1. Ann has a dog": {"u1", "u3"},
    "Nights are for work": {"u2"},
}
"""What the new texts keep. The first tries to pass for a statement."""


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A board, a vendor's folder with two stores that nobody labelled, and a place for sheets."""
    board = make_board(tmp_path / "board", {"good": [list(UNITS[2:])]}, conversations=2)
    vendor = tmp_path / "vendor"
    vendor.mkdir()
    for name in ("talk0", "talk1"):
        import_texts(vendor / f"{name}.json", list(KEEPS))
    return board, vendor, tmp_path / "sheets"


def sheets(board: Path, vendor: Path, folder: Path) -> str:
    return done("board", board, "--add", f"secretive={vendor}", "--sheets", folder).stdout


def test_from_sheets_to_labels(folders: tuple[Path, Path, Path]) -> None:
    """Two readers, who differ on one pair per conversation; a third decides for full."""
    board, vendor, folder = folders
    assert "talk0: 2 memories and 5 controls, 4 statements" in sheets(*folders)
    for sheet in sorted(folder.glob("*.md")):
        text = sheet.read_text()
        assert "secretive" not in text
        assert "Who is Ann?" not in text
        assert set(numbered(sheet)[0].values()) == set(UNITS)
        assert "\nS1. Ann has a dog" not in text.split("## Memories")[1]
    assert f"missing in {folder}: talk0.a.txt, talk0.b.txt" in sheets(*folders)
    answer_sheets(folder, KEEPS, partly="u2", reader="b")
    said = sheets(*folders)
    assert "talk0: 8 pairs, 2 full and 0 partial in both, 1 differ, kappa" in said
    assert "third.md: 2 pairs" in said
    assert "controls: kappa 1.000 with the labels of the board" in said
    third = (folder / "third.md").read_text()
    assert third.count("Memory: Nights are for work") == 2
    (folder / "third.txt").write_text("1: full\n2: full\n")
    assert "labels of 4 memories are in" in sheets(*folders)
    texts = {row["memory_id"]: row["text"] for row in rows(vendor / "memories.jsonl")}
    final, second = (
        {(texts[row["memory_id"]], row["unit_id"]): row["coverage"] for row in rows(vendor / name)}
        for name in ("coverage.jsonl", "blind_b.jsonl")
    )
    assert final == {(one_line(text), unit): 1 for text, units in KEEPS.items()
                     for unit in units}  # fmt: skip
    assert second["Nights are for work", "u2"] == 0.5
    row = next(
        one for one in printed_json("board", board, "--add", f"secretive={vendor}")["systems"]
        if one["system"] == "secretive"
    )  # fmt: skip
    assert row["marks"][1] == "imported, not captured"
    (folder / "third.txt").write_text("1: none\n2: full\n")  # another decision replaces it
    sheets(*folders)
    assert len(rows(vendor / "coverage.jsonl")) == len(final) * 2 - 1
    import_texts(vendor / "talk1.json", [*KEEPS, "Ann sings"])
    assert "1 memory on no sheet: run this again with another folder" in sheets(*folders)


def test_labels_are_added_once_if_adding_was_interrupted(
    folders: tuple[Path, Path, Path],
) -> None:
    """The same rows are made again, and stand there once."""
    _, vendor, folder = folders
    sheets(*folders)
    answer_sheets(folder, KEEPS)
    sheets(*folders)
    names = ("memories.jsonl", "blind_a.jsonl", "blind_b.jsonl", "coverage.jsonl")
    complete = [(vendor / name).read_text() for name in names]
    (vendor / "coverage.jsonl").unlink()
    (vendor / "blind_b.jsonl").write_text("")
    sheets(*folders)
    assert [(vendor / name).read_text() for name in names] == complete
    assert len(rows(vendor / "coverage.jsonl")) == 6


@pytest.mark.parametrize("written", [0, 1, 2, 3])
def test_no_board_is_made_of_what_an_interruption_left(
    folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    """A second round of labels, stopped after some of its files: refused, or not scored."""
    board, vendor, folder = folders
    sheets(*folders)
    answer_sheets(folder, KEEPS)
    sheets(*folders)
    import_texts(vendor / "talk0.json", [*KEEPS, "Dogs are hers"])
    again = folder.with_name("again")
    sheets(board, vendor, again)
    answer_sheets(again, {**KEEPS, "Dogs are hers": {"u3"}})
    calls = []

    def write_some(path: Path, lines: Iterator[str]) -> None:
        calls.append(path)
        if len(calls) > written:
            raise MemAuditError("stopped")
        write_lines(path, lines)

    with monkeypatch.context() as patch:
        patch.setattr(label_sheets, "write_lines", write_some)
        words = ("board", board, "--add", f"x={vendor}", "--sheets", again)
        assert run(*words).exit_code == 1
    if written:
        said = failure("board", board, "--add", f"x={vendor}")
        assert "has no memory 'talk0/003' of talk0; if --sheets was interrupted" in said
    else:
        said = done("board", board, "--add", f"x={vendor}").stdout
        assert "x on talk0: 1 memory not labelled" in said
    assert "labels of 1 memory are in" in sheets(board, vendor, again)
    systems = printed_json("board", board, "--add", f"x={vendor}")["systems"]
    assert {row["system"]: row["conversations"] for row in systems} == {"good": 2, "x": 2}


def test_memories_that_keep_nothing_are_scored(folders: tuple[Path, Path, Path]) -> None:
    board, vendor, folder = folders
    sheets(*folders)
    answer_sheets(folder, {text: set() for text in KEEPS})
    assert "labels of 4 memories are in" in sheets(*folders)
    standings = printed_json("board", board, "--add", f"x={vendor}")["standings"]
    assert [one["score"]["mean"] for one in standings if one["system"] == "x"] == [0]


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_nothing_to_label(tmp_path: Path) -> None:
    board = make_board(tmp_path / "board", {"good": [list(UNITS[2:])]}, conversations=1)
    assert "every memory of every store is labelled" in done(
        "board", board, "--sheets", tmp_path / "sheets"
    ).stdout  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("the first keeps S1", "talk0.a.txt:1: expected a number, a colon and an answer"),
        (
            "1: S1, S9",
            "txt:1: expected none, or numbers from S1 to S4 with commas between them, not 'S9'",
        ),
        (
            "1: 2",
            "txt:1: expected none, or numbers from S1 to S4 with commas between them, not '2'",
        ),
        ("1: none\n1: S1", "talk0.a.txt:2: 1 was answered before"),
        ("1: none", "talk0.a.txt: 6 not answered, the first 2"),
        (
            "\n".join(f"{n}: none" for n in range(1, 9)),
            "a.txt:8: begins with '8'; expected a number from 1 to 7",
        ),
        ("1: S1, S1?", "talk0.a.txt:1: names S1 twice"),
        ("1:", "talk0.a.txt:1: expected a number, a colon and an answer"),
    ],
)
def test_answers_that_cannot_be_read(
    folders: tuple[Path, Path, Path], line: str, message: str
) -> None:
    board, vendor, folder = folders
    sheets(*folders)
    answer_sheets(folder, KEEPS)
    (folder / "talk0.a.txt").write_text(line)
    said = failure("board", board, "--add", f"x={vendor}", "--sheets", folder)
    assert message in said
    (folder / "talk1.b.txt").unlink()  # what is there is read before the rest has come
    assert message in failure("board", board, "--add", f"x={vendor}", "--sheets", folder)
    assert not (vendor / "coverage.jsonl").exists()


def test_sheets_make_no_board(folders: tuple[Path, Path, Path]) -> None:
    board, _, folder = folders
    said = failure("board", board, "--sheets", folder, "--out", folder.with_suffix(".html"))
    assert "leave out --out and --json" in said


def test_sheets_of_another_board(folders: tuple[Path, Path, Path]) -> None:
    board, vendor, folder = folders
    sheets(*folders)
    key = folder / "sheets.json"
    key.write_text(key.read_text().replace('"talk1"', '"../talk9"'))
    said = failure("board", board, "--add", f"x={vendor}", "--sheets", folder)
    assert "'../talk9' and its units are not those of this board" in said


def test_sheets_of_another_system(folders: tuple[Path, Path, Path], tmp_path: Path) -> None:
    board, _, folder = folders
    sheets(*folders)
    answer_sheets(folder, KEEPS)
    other = tmp_path / "other"
    other.mkdir()
    import_texts(other / "talk0.json", ["Ann sings"])
    assert "about other stores" in failure(
        "board", board, "--add", f"x={other}", "--sheets", folder
    )
    assert not (other / "coverage.jsonl").exists()


def test_sheets_lie_elsewhere(folders: tuple[Path, Path, Path], tmp_path: Path) -> None:
    board, vendor, _ = folders
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.md").write_text("mine")
    for place, message in (
        (vendor, "lies in"), (board / "sheets", "lies in"), (tmp_path / "full", "is not empty"),
    ):  # fmt: skip
        words = ("board", board, "--add", f"x={vendor}", "--sheets", place)
        assert message in failure(*words)
    assert (tmp_path / "full" / "notes.md").read_text() == "mine"


def test_a_pass_that_changes_after_the_third_reader(folders: tuple[Path, Path, Path]) -> None:
    board, vendor, folder = folders
    sheets(*folders)
    answer_sheets(folder, KEEPS, partly="u2", reader="a")
    sheets(*folders)
    (folder / "third.txt").write_text("1: full\n2: none\n")
    answer_sheet(folder / "talk1.a.md", KEEPS)
    assert "has changed since third.md" in failure(
        "board", board, "--add", f"x={vendor}", "--sheets", folder
    )
