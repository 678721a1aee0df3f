"""Blind labelling on sheets: what readers see, what becomes of their answers, and bad ones."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memaudit.board import board_files
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_lines
from memaudit.kernel.words.text import one_line
from tests.boards import UNITS, answer_sheet, answer_sheets, make_board, numbered, write_jsonl
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
    return done("label", "sheets", board, "--add", f"secretive={vendor}", "--out", folder).stdout


def refusal(board: Path, vendor: Path, folder: Path) -> str:
    return failure("label", "sheets", board, "--add", f"secretive={vendor}", "--out", folder)


def label(board: Path, vendor: Path, folder: Path) -> None:
    """Both readers say what is true, so that no third is needed."""
    sheets(board, vendor, folder)
    answer_sheets(folder, KEEPS)
    sheets(board, vendor, folder)


def test_from_sheets_to_labels(folders: tuple[Path, Path, Path]) -> None:
    """Two readers, who differ on one pair per conversation; a third decides for full."""
    board, vendor, folder = folders
    assert "talk0: 2 memories and 4 controls, 4 statements" in sheets(*folders)
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
    assert "kappa 1.00 with the board's labels on 8 controls" in said
    third = (folder / "third.md").read_text()
    assert third.count("Memory: Nights are for work") == 2
    (folder / "third.txt").write_text("1: full\n2: full\n")
    assert "labels of 4 memories are in" in sheets(*folders)
    texts = {row["memory_id"]: row["text"] for row in rows(vendor / "memories.jsonl")}
    final, second = (
        {(texts[row["memory_id"]], row["unit_id"]): row["coverage"] for row in rows(vendor / name)}
        for name in ("coverage.jsonl", "blind_b.jsonl")
    )
    assert final == {(one_line(text), unit): 1 for text, units in KEEPS.items() for unit in units}
    assert second["Nights are for work", "u2"] == 0.5
    row = next(
        one
        for one in printed_json("board", board, "--add", f"secretive={vendor}")["systems"]
        if one["system"] == "secretive"
    )
    assert row["marks"] == [
        "imported, not captured",
        "no times: its newest memories are the last ones of the file",
        "two passes of its labels agree little: kappa 0.76",
        "its row.json does not say that its labels are blind",
    ]
    # Of 8 pairs 3 are full by one reader, one of them half by the other: (7/8 - 31/64) / (33/64).
    assert row["origin"]["labels"] == (
        "its own; two passes, kappa 0.76; kappa 1.00 with the board's labels on 8 controls"
    )
    (folder / "third.txt").write_text("1: none\n2: full\n")  # another decision replaces it
    sheets(*folders)
    assert len(rows(vendor / "coverage.jsonl")) == len(final) * 2 - 1
    import_texts(vendor / "talk1.json", [*KEEPS, "Ann sings"])
    assert "talk1: 1 memory on no sheet; when these sheets are done, run this" in sheets(*folders)


def test_labels_are_added_once_if_adding_was_interrupted(
    folders: tuple[Path, Path, Path],
) -> None:
    """The same rows are made again, and stand there once."""
    _, vendor, _ = folders
    label(*folders)
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
    label(*folders)
    import_texts(vendor / "talk0.json", [*KEEPS, "Dogs are hers"])
    again = folder.with_name("again")
    sheets(board, vendor, again)
    answer_sheets(again, {**KEEPS, "Dogs are hers": {"u3"}})
    calls = []

    def write_some(path: Path, lines: Iterator[str]) -> None:
        calls.extend([path] if path.name != "controls.jsonl" else [])
        if len(calls) > written:
            raise MemAuditError("stopped")
        write_lines(path, lines)

    with monkeypatch.context() as patch:
        patch.setattr(board_files, "write_lines", write_some)
        words = ("label", "sheets", board, "--add", f"x={vendor}", "--out", again)
        assert run(*words).exit_code == 1
    if written:
        said = failure("board", board, "--add", f"x={vendor}")
        assert (
            "has no memory 'talk0/003' of talk0; if memaudit label sheets was interrupted" in said
        )
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
    assert [one["score"]["mean"] for one in standings if one["store"] == "x"] == [0]


def test_a_reader_who_says_that_everything_is_kept_is_refused(
    folders: tuple[Path, Path, Path],
) -> None:
    """His labels would raise OPT, and so lower the scores of all others. Another reader helps."""
    folder = folders[2]
    sheets(*folders)
    sheet = folder / "talk0.a.md"
    statements, memories = numbered(sheet)
    answer = sheet.with_suffix(".txt")
    answer.write_text("".join(f"{number}: {', '.join(statements)}\n" for number in memories))
    said = refusal(*folders)
    assert f"{answer}: kappa 0.00 with the board's labels on 4 controls; below 0.6" in said
    answer_sheets(folder, KEEPS)
    assert "labels of 4 memories are in" in sheets(*folders)


def test_labels_of_readers_who_often_differ_on_controls_are_marked(
    folders: tuple[Path, Path, Path],
) -> None:
    """The controls keep 16 of 64 pairs, of which both readers find 8: (56 - 44) / (64 - 44)."""
    board, vendor, _ = folders
    label(*folders)
    path = vendor / "controls.jsonl"
    write_jsonl(
        path,
        [
            {**row, "coverage": 0 if row["unit_id"] in ("u1", "u2") else row["coverage"]}
            for row in rows(path)
        ],
    )
    (row,) = (
        one
        for one in printed_json("board", board, "--add", f"x={vendor}")["systems"]
        if one["system"] == "x"
    )
    assert row["marks"][-1] == (
        "its readers do not label as the board's do: kappa 0.60 with the board's labels on 8 "
        "controls"
    )
    path.unlink()
    told = done("board", board, "--add", f"x={vendor}").stdout
    assert "no controls: not known whether its readers label as the board's do" in told


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"conversation": "talk9"}, "the board has no labels of 'talk0/Ann has a dog' of 'talk9'"),
        ({"memory_id": "m1"}, "the board has no labels of 'm1' of 'talk0'"),
        ({"unit_id": "u9"}, "talk0 has no unit 'u9'"),
        ({"reader": "c"}, "has reader 'c'; expected a or b"),
        ({}, "says again what reader a says of 'talk0/Ann has a dog' and 'u3'"),
    ],
)
def test_controls_that_nobody_was_asked_about(
    folders: tuple[Path, Path, Path], change: dict[str, object], message: str
) -> None:
    board, vendor, _ = folders
    label(*folders)
    path = vendor / "controls.jsonl"
    said = rows(path)
    row = {
        "conversation": "talk0",
        "memory_id": "talk0/Ann has a dog",
        "reader": "a",
        "unit_id": "u3",
        "coverage": 1,
        **change,
    }
    write_jsonl(path, [*said, row])
    assert f"controls.jsonl:{len(said) + 1}: {message}" in failure(
        "board", board, "--add", f"x={vendor}"
    )


def test_controls_of_a_conversation_that_left_the_board(folders: tuple[Path, Path, Path]) -> None:
    board, vendor, _ = folders
    label(*folders)
    for place in (board / "good", vendor):
        for path in place.glob("talk1.json*"):
            path.unlink()
    assert "the board has no labels of 'talk1/Ann " in failure(
        "board", board, "--add", f"x={vendor}"
    )


def test_passes_are_compared_on_what_they_are_about(folders: tuple[Path, Path, Path]) -> None:
    """Texts that the board labels do not raise the agreement of a vendor's readers: as above, 0.76
    over the new texts."""
    board, vendor, folder = folders
    for name in ("talk0", "talk1"):
        import_texts(vendor / f"{name}.json", [*KEEPS, *UNITS])
    sheets(*folders)
    answer_sheets(folder, KEEPS, partly="u2", reader="b")
    sheets(*folders)
    (folder / "third.txt").write_text("1: full\n2: full\n")
    sheets(*folders)
    told = done("board", board, "--add", f"x={vendor}").stdout
    assert "two passes of its labels agree little: kappa 0.76" in " ".join(told.split())


def test_the_two_orders_say_nothing(folders: tuple[Path, Path, Path]) -> None:
    """Neither the order of files nor the alphabet, and another one for each reader."""
    sheets(*folders)
    orders = []
    for name in ("talk0.a.md", "talk0.b.md"):
        statements, memories = numbered(folders[2] / name)
        orders += [list(statements.values()), list(memories.values())]
    for order in orders:
        assert order not in (sorted(order), list(UNITS))
    assert orders[0] != orders[2]
    assert orders[1] != orders[3]


def test_sheets_for_an_added_system_are_about_it_alone(folders: tuple[Path, Path, Path]) -> None:
    """A system of the board without labels waits for sheets of the board."""
    board, _, folder = folders
    (board / "fresh").mkdir()
    import_texts(board / "fresh" / "talk0.json", ["Ann sings"])
    sheets(*folders)
    assert "Ann sings" not in (folder / "talk0.a.md").read_text()
    told = done("label", "sheets", board, "--out", folder.with_name("of-board")).stdout
    assert "talk0: 1 memory and 4 controls" in told


def test_an_empty_store_is_said_before_anybody_reads(folders: tuple[Path, Path, Path]) -> None:
    vendor = folders[1]
    (vendor / "talk0.json").write_text('{"results": []}')
    assert "secretive on talk0: the store is empty" in sheets(*folders)


def test_answers_as_language_models_write_them(folders: tuple[Path, Path, Path]) -> None:
    """With a sentence before them, as a list, bold, as code, and with full stops."""
    _, vendor, folder = folders
    label(*folders)
    plain = (vendor / "coverage.jsonl").read_text()
    forms = ("- **{}**: {}.", "{}: {}", "`{}: {}.`", "* {}: **{}**", "**{}:** {}")
    for path in folder.glob("*.?.txt"):
        lines = [line.split(": ") for line in path.read_text().splitlines()]
        form = "\n".join(
            forms[at % len(forms)].format(left, right.replace("?", " ?").lower())
            for at, (left, right) in enumerate(lines)
        )
        path.write_text(f"Here are the labels:\n\n```\n{form}\n```\n\nTell me if more is due.\n")
    (vendor / "coverage.jsonl").unlink()
    sheets(*folders)
    assert (vendor / "coverage.jsonl").read_text() == plain


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_nothing_to_label(tmp_path: Path) -> None:
    board = make_board(tmp_path / "board", {"good": [list(UNITS[2:])]}, conversations=1)
    assert (
        "every memory of every store is labelled"
        in done("label", "sheets", board, "--out", tmp_path / "sheets").stdout
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Correction: 1: S2", "a.txt:1: expected a line such as '17: S3, S5?', not 'Corr"),
        ("1: S1\n   and S2", "a.txt:2: expected a line such as '17: S3, S5?', not 'and S2'"),
        ("1: S1*", "from S1 to S4 with commas between them, not 'S1*'"),
        ("1 keeps S1", "a.txt:1: expected a line such as '17: S3, S5?', not '1 keeps S1'"),
        ("Nothing is kept.", "talk0.a.txt: 6 memories without a line, the first is 1"),
        (
            "1: S1, S9",
            "txt:1: expected none, or numbers from S1 to S4 with commas between them, not 'S9'",
        ),
        (
            "1: S1 (its home)",
            "from S1 to S4 with commas between them, not 'S1 (its home)'",
        ),
        ("1: none\n1: S1", "talk0.a.txt:2: 1 was answered before"),
        ("1: none", "talk0.a.txt: 5 memories without a line, the first is 2"),
        (
            "\n".join(f"{n}: none" for n in range(1, 8)),
            "a.txt:7: begins with '7'; expected a number from 1 to 6",
        ),
        ("1: S1, S1?", "talk0.a.txt:1: names S1 twice"),
        ("1:", "talk0.a.txt:1: expected a line such as '17: S3, S5?', not '1:'"),
    ],
)
def test_answers_that_cannot_be_read(
    folders: tuple[Path, Path, Path], line: str, message: str
) -> None:
    _, vendor, folder = folders
    sheets(*folders)
    answer_sheets(folder, KEEPS)
    (folder / "talk0.a.txt").write_text(line)
    said = refusal(*folders)
    assert message in said
    (folder / "talk1.b.txt").unlink()  # what is there is read before the rest has come
    assert message in refusal(*folders)
    assert not (vendor / "coverage.jsonl").exists()


def test_sheets_of_another_board(folders: tuple[Path, Path, Path]) -> None:
    folder = folders[2]
    sheets(*folders)
    key = folder / "sheets.json"
    key.write_text(key.read_text().replace('"talk1"', '"../talk9"'))
    said = refusal(*folders)
    assert "'../talk9' and its units are not those of this board" in said


def test_sheets_of_another_system(folders: tuple[Path, Path, Path], tmp_path: Path) -> None:
    board, _, folder = folders
    sheets(*folders)
    answer_sheets(folder, KEEPS)
    other = tmp_path / "other"
    other.mkdir()
    import_texts(other / "talk0.json", ["Ann sings"])
    assert "about other stores" in failure(
        "label", "sheets", board, "--add", f"x={other}", "--out", folder
    )
    assert not (other / "coverage.jsonl").exists()


def test_sheets_lie_elsewhere(folders: tuple[Path, Path, Path], tmp_path: Path) -> None:
    board, vendor, _ = folders
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.md").write_text("mine")
    for place, message in (
        (vendor, "a folder outside"),
        (board / "sheets", "a folder outside"),
        (tmp_path / "full", "is not empty"),
    ):
        words = ("label", "sheets", board, "--add", f"x={vendor}", "--out", place)
        assert message in failure(*words)
    assert (tmp_path / "full" / "notes.md").read_text() == "mine"


def test_decisions_about_other_pairs(folders: tuple[Path, Path, Path]) -> None:
    """Nobody was asked for them, or a pass changed after the third reader."""
    folder = folders[2]
    sheets(*folders)
    answer_sheets(folder, KEEPS, partly="u2", reader="a")
    (folder / "third.txt").write_text("1: full\n2: none\n")
    assert "has third.txt without third.md, which says what it decides" in refusal(*folders)
    (folder / "third.txt").unlink()
    sheets(*folders)
    (folder / "third.txt").write_text("1: full\n2: none\n")
    answer_sheet(folder / "talk1.a.md", KEEPS)
    assert "has changed since third.md" in refusal(*folders)
