"""Boards of memory systems: numbers worked by hand, ranks, marks, and the shipped board."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from memaudit.board.board import Board
from memaudit.board.board_folder import read_board, shipped_board
from memaudit.board.board_of_systems import SystemsBasis, board_of_systems
from memaudit.board.board_page import board_data, build_board_page, write_board_page
from memaudit.board.board_scores import score_board
from memaudit.board.board_text import cut_note, notes, remarks
from memaudit.kernel.errors import MemAuditError
from memaudit.lab.explorer.library.library import Library
from tests.boards import FULL, HALF, UNITS, Labels, make_board, write_jsonl, write_labels
from tests.cli.running import done, failure, import_texts, printed_json


def basis(board: Board) -> SystemsBasis:
    assert board.systems is not None
    return board.systems


FILES = ("coverage.jsonl", "blind_a.jsonl", "blind_b.jsonl")


def relabel(folder: Path, labels: Labels, *nothing: str) -> None:
    """The same labels in all three files, for all six conversations."""
    names = [f"talk{number}" for number in range(6)]
    write_labels(folder, names, dict.fromkeys(FILES, labels), nothing)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    return partial(make_board, tmp_path / "board")


def test_means_and_ranks_by_hand(make: Callable[..., Path]) -> None:
    """At 7 words OPT is 2 of 4 units, for example work and Graz: 3 + 4 words.

    `good` keeps these two: 2 of 2. Its second run in the first conversation keeps only the dog, 0.5
    there, so the mean is (0.75 + 5) / 6. The second pass gives Graz half. In the first
    conversation work and dog are then worth 2 and the first run 1.5 of that: (0.625 + 5) / 6.
    `poor` kept a greeting.
    """
    folder = make({"good": [list(UNITS[1:3]), [UNITS[3]]], "poor": [["Hello Ann"]]})
    board = board_of_systems(read_board(folder))
    ((_, (first, second)),) = board.budgets
    (optima,) = basis(board).optima.values()
    assert (optima.share, optima.certified, optima.number) == (0.5, 6, 6)
    assert first.store == "good"
    assert first.score.mean == pytest.approx(5.75 / 6)
    assert first.by_pass is not None
    assert first.by_pass["score"]["blind_b.jsonl"] == pytest.approx(5.625 / 6)
    assert first.between_runs is not None
    assert first.between_runs["score"] == pytest.approx(0.5)
    assert second.score.mean == 0
    assert (first.rank, second.rank) == (1, 2)
    assert first.score.low < first.score.mean
    assert basis(board).largest_pass_shift == pytest.approx(0.125 / 6)
    # Graz differs once per conversation; the first has another text, the dog of the second run.
    agreement = basis(board).agreement
    assert agreement is not None
    assert (agreement.differ, agreement.pairs) == (6, 4 * 4 + 5 * 3 * 4)
    assert first.shares is not None
    assert first.shares["kept"] == pytest.approx(first.score.mean)
    assert sum(first.shares.values()) == pytest.approx(1)
    assert second.shares is not None
    assert sum(second.shares.values()) == pytest.approx(1)
    row = basis(board).row("poor")
    assert "to generation" in row.loses
    assert row.examples[0].memory is None


def test_optima_under_another_pass_by_hand(make: Callable[..., Path]) -> None:
    """Graz and nights, worth 2 by the first pass and 1.5 by the second. The package has all units
    in 15 words, so the system's memories alone are worth as much at 7."""
    (optima,) = basis(
        board_of_systems(read_board(make({"good": [list(UNITS[1:3])]})))
    ).optima.values()
    assert optima.survival == pytest.approx((1.5 / 2 + 2 / 1.5) / 2)
    assert optima.systems_alone == 1


def test_what_opt_owes_to_the_package(make: Callable[..., Path]) -> None:
    """At 15 words the package's candidate is worth 4, the memories 2."""
    folder = make({"good": [list(UNITS[1:3])]})
    planned(folder, budgets=["15"])
    board = board_of_systems(read_board(folder))
    (optima,) = basis(board).optima.values()
    assert optima.systems_alone == 0.5
    assert notes(board)[2].startswith(
        "15 words: OPT is 1.00 of all weight (0.50 of OPT with the systems' memories alone, 1.00 "
        "of what it would be if partial labels added up), 6 of"
    )


def test_what_opt_owes_to_partial_labels(make: Callable[..., Path]) -> None:
    """Two memories say half of Graz each, perhaps the same half. At 7 words both are OPT."""
    other = "Graz is home"
    folder = make({"good": [[UNITS[1], other]]})
    relabel(folder, {(UNITS[1], "u1"): 0.5, (other, "u1"): 0.5})
    (optima,) = basis(board_of_systems(read_board(folder))).optima.values()
    assert (optima.share, optima.added_up) == (0.125, 0.5)


def test_a_conversation_where_nothing_can_be_kept_does_not_count(make: Callable[..., Path]) -> None:
    """It takes no rank from anybody, and the board says so."""
    folder = make({"good": [list(UNITS[2:])], "poor": [["Hello Ann"]]}, conversations=7)
    for name in FILES:
        rows = list(map(json.loads, (folder / name).read_text().splitlines()))
        for row in rows:
            row["coverage"] *= row["conversation"] != "talk0"
        write_jsonl(folder / name, rows)
    board = board_of_systems(read_board(folder))
    ((_, standings),) = board.budgets
    (optima,) = basis(board).optima.values()
    assert [(one.store, one.rank) for one in standings] == [("good", 1), ("poor", 2)]
    assert (optima.number, optima.counted) == (7, 6)
    assert any("7 words: 1 conversation without scores" in line for line in notes(board))


def test_an_open_optimum_does_not_count(
    make: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One optimum under one blind pass is not certified: so the conversation has no scores."""
    folder = read_board(make({"good": [list(UNITS[2:])]}))
    scored = score_board(folder)
    passes = dict(scored[2].results)
    (row,) = passes["blind_b.jsonl"].rows
    open_optimum = replace(row.optimum, status="bound", certificate=None)
    ratio = replace(row.numbers.kept.ratio, optimum=open_optimum)
    numbers = replace(row.numbers, kept=replace(row.numbers.kept, ratio=ratio))
    passes["blind_b.jsonl"] = replace(
        passes["blind_b.jsonl"], rows=(replace(row, numbers=numbers),)
    )
    scored[2] = replace(scored[2], results=passes)
    monkeypatch.setattr("memaudit.board.board_of_systems.score_board", lambda *_: scored)
    board = board_of_systems(folder)
    ((_, (good,)),) = board.budgets
    (optima,) = basis(board).optima.values()
    assert (optima.certified, optima.counted, optima.number) == (5, 5, 6)
    assert not basis(board).every_optimum_is_certified
    assert good.by_conversation is not None
    assert "talk2" not in good.by_conversation["score"]


def test_an_added_store_of_another_conversation_is_refused(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    """The package is there, but no system of the board was run on it: ranks stay as they are. Nor
    may own labels say again what the board labels."""
    folder = make({"good": [list(UNITS[2:])]})
    other = make_board(tmp_path / "other", {"x": [["Hello Ann"]]}, conversations=7)
    package = other / "packages" / "talk6.json"
    (folder / "packages" / "talk6.json").write_text(package.read_text())
    assert "no conversation of the board is called 'talk6'" in failure(
        "board", folder, f"--add x={other / 'x'}"
    )
    assert "NAME=DIR" in failure("board", folder, "--add", "vendor")
    new = added(tmp_path / "new", [UNITS[1]])
    assert "labels memories of talk0 that the board labels" in failure(
        "board", folder, f"--add vendor={new}"
    )


def test_what_a_system_said_only_in_part(make: Callable[..., Path]) -> None:
    """Graz is only half in the memory of `half`; `full` has better words for it. OPT is 2, `half`
    keeps 1.5."""
    better = "Graz is her home"
    folder = make({"full": [[better, UNITS[2]]], "half": [[UNITS[1], UNITS[2]]]})
    relabel(folder, {**HALF, (better, "u1"): 1.0})
    row = basis(board_of_systems(read_board(folder))).row("half")
    assert "At 7 words it keeps 75% of OPT" in row.loses
    example = row.examples[0]
    assert (example.unit, example.share, example.in_part) == (UNITS[1], 0.25, True)
    assert example.memory is not None
    assert example.memory.text == UNITS[1]


def test_marks_of_stores(make: Callable[..., Path], tmp_path: Path) -> None:
    """An empty store, a run that repeats another, one time of two, and a document without times."""
    folder = make({"good": [list(UNITS[2:])]})
    new = tmp_path / "new"
    new.mkdir()
    import_texts(new / "talk0.json", [UNITS[2]])
    import_texts(new / "talk0.run2.json", [UNITS[2]])
    (new / "talk1.json").write_text(
        json.dumps(
            {
                "results": [
                    {"id": "m1", "memory": UNITS[2], "created_at": "2025-01-06T12:31:00Z"},
                    {"id": "m2", "memory": UNITS[3]},
                ]
            }
        )
    )
    (new / "talk2.json").write_text('{"results": []}')
    notes = tmp_path / "notes.md"
    notes.write_text(f"- {UNITS[2]}\n- {UNITS[3]}\n")
    done("import", notes, "--out", new / "talk3.json")
    marks = basis(board_of_systems(read_board(folder, [("new", new)]))).row("new").marks
    assert marks[2:] == (
        "1 store without memories, the first talk2",
        "1 run equal to an earlier one: talk0 (run 2)",
        "no times of entries: its documents are cut from the top",
        "3 of 6 memories without a time, the first line-1 on talk0: the order of the file counts "
        "there",
    )


def test_runs_widen_the_interval(make: Callable[..., Path]) -> None:
    """A system whose second run differs has a wider interval than one that repeats itself. Equal
    systems share a rank, and two of one name are refused."""
    both = [list(UNITS[2:]), list(UNITS[2:])]
    folder = make({"steady": both, "again": both, "moody": [list(UNITS[2:]), ["Hello Ann"]]})
    ((_, standings),) = board_of_systems(read_board(folder)).budgets
    width = {one.store: one.score.high - one.score.low for one in standings}
    assert width["moody"] > width["steady"]
    assert np.isclose(width["steady"], 0)
    assert {one.rank for one in standings if one.store != "moody"} == {1}
    with pytest.raises(MemAuditError, match="two systems are called 'steady'"):
        read_board(folder, [("steady", folder / "steady")])


def added(folder: Path, texts: list[str], notes: dict[str, object] | None = None) -> Path:
    """A vendor's folder: one store, all of whose texts keep all units, labelled once."""
    folder.mkdir()
    import_texts(folder / "talk0.json", texts)
    (folder / "row.json").write_text(json.dumps(notes or {}))
    write_labels(
        folder,
        ["talk0"],
        {"coverage.jsonl": {(text, f"u{at}"): 1.0 for text in texts for at in range(4)}},
    )
    return folder


def test_added_rows_are_marked_and_change_the_digest(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    """A vendor's folder with labels of its own: solved with all others, with its marks."""
    folder = make({"good": [list(UNITS[2:])]})
    new = added(tmp_path / "new", ["Ann: no nuts, Graz, nights, dog"], {"notes": ["Beta."]})
    before = printed_json("board", folder)
    after = printed_json("board", folder, "--add", f"vendor={new}")
    assert before["digest"] != after["digest"]
    (row,) = (row for row in after["systems"] if row["system"] == "vendor")
    assert row["marks"] == [
        "on 1 of 6 conversations, so not ranked",
        "imported, not captured",
        "no times: its newest memories are the last ones of the file",
        "labelled once: its labels are the same in every pass",
        "its row.json does not say that its labels are blind",
        "no controls: not known whether its readers label as the board's do",
    ]
    (standing,) = (one for one in after["standings"] if one["store"] == "vendor")
    assert standing["score"]["ci_low"] is None  # of one conversation
    assert before["agreement"] == after["agreement"]
    old = [one["score"]["mean"] for one in before["standings"]]
    (good,) = (one for one in after["standings"] if one["store"] == "good")
    assert good["score"]["mean"] < old[0]  # the denominator of talk0 has grown
    text = done("board", folder, "--add", f"vendor={new}").stdout
    assert "vendor *" in text
    assert "Beta." in text
    (new / "row.json").write_text('{"blnd": false}')
    said = failure("board", folder, "--add", f"vendor={new}")
    assert "row.json: blnd: unknown field; known fields: blind, version, model" in said
    (new / "row.json").write_text('{"blind": true,}')
    said = failure("board", folder, "--add", f"vendor={new}")
    assert "property name enclosed in double quotes, line 1, column" in said


def test_a_system_on_few_conversations_is_listed_last_and_moves_no_rank(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    folder = make({"good": [list(UNITS)], "poor": [["Hello Ann"]]})
    ((_, before),) = board_of_systems(read_board(folder)).budgets
    new = added(tmp_path / "new", ["All of Ann"])
    export = {
        "results": [{"id": "m1", "memory": "All of Ann"}, {"id": "m2", "memory": "Hello Ann"}]
    }
    (new / "talk0.json").write_text(json.dumps(export))  # as Mem0 exports it, without times
    board = board_of_systems(read_board(folder, [("vendor", new)]))
    ((_, after),) = board.budgets
    mark = basis(board).row("vendor").marks[2]
    assert mark.startswith("no times: its newest memories are the last")
    assert [(one.store, one.rank) for one in before] == [("good", 1), ("poor", 2)]
    assert [(one.store, one.rank) for one in after] == [("good", 1), ("poor", 2), ("vendor", None)]
    assert after[1].ahead == ("good",)
    assert after[2].score.mean == 1
    assert remarks(board)[0] == (
        "At 7 words the 2 ranked systems kept 0% to 92%; the best choice "
        "of their own memories would keep 0% to 92%."
    )
    assert cut_note(board).startswith("6 of 12 stores of the ranked systems do not fit the budget")
    assert "moves a mean of the ranked systems by at most" in notes(board)[0]
    assert build_board_page(board).count('class="interval" role="img"') == 2


def test_a_row_says_what_its_exports_do_not(make: Callable[..., Path], tmp_path: Path) -> None:
    """Mem0 exports 20 memories at a time, and says nothing of its model."""
    folder = make({"good": [list(UNITS[2:])]})
    texts = [f"Ann is number {number}" for number in range(20)]
    new = added(tmp_path / "new", texts, {"model": "of ours", "version": "Beta 3"})
    rows = [{"id": text, "memory": text} for text in texts]
    (new / "talk0.json").write_text(json.dumps({"results": rows}))
    board = board_of_systems(read_board(folder, [("vendor", new)]))
    row = basis(board).row("vendor")
    assert row.provenance["model"] == "of ours"
    assert row.provenance["version"] == "Beta 3"
    assert row.provenance["embedder"] == "not known"
    assert "1 export may be missing memories; talk0: maybe truncated" in row.marks[3]


def test_neither_the_order_of_rows_nor_hidden_folders_count(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    folder = make({"good": [list(UNITS[2:])]})
    (folder / ".git").mkdir()
    (folder / ".git" / "config.json").write_text("{}")
    two = [(name, added(tmp_path / name, [f"All of {name}"])) for name in ("one", "other")]
    digests = {
        basis(board_of_systems(read_board(folder, rows))).digest for rows in (two, two[::-1])
    }
    assert len(digests) == 1


def test_a_store_that_fits_is_not_cut_at_random(make: Callable[..., Path]) -> None:
    """Graz and a greeting as long as the budget exclude each other: half of the shuffles keep Graz,
    which is half of OPT. The greeting is the newest."""
    long = "Hello Ann, how are you doing today"
    folder = make({"good": [list(UNITS[2:])], "wordy": [[UNITS[1], long]]})
    relabel(folder, FULL, "Hello Ann", long)
    ((_, standings),) = board_of_systems(read_board(folder)).budgets
    good, wordy = sorted(standings, key=lambda one: one.store)
    assert (good.score.mean, good.random_cut) == (1, 1)
    assert wordy.score.mean == 0
    assert wordy.random_cut is not None
    assert 0.2 < wordy.random_cut < 0.3


def test_nothing_can_be_kept_at_a_budget_of_nothing(make: Callable[..., Path]) -> None:
    """OPT is 0, so that nothing is defined, and nothing is drawn."""
    folder = make({"good": [list(UNITS[2:])]})
    plan = json.loads((folder / "board.json").read_text())
    (folder / "board.json").write_text(json.dumps({**plan, "budgets": ["0", "50%", "7.0"]}))
    page = build_board_page(board_of_systems(read_board(folder)))
    assert "nan" not in page
    assert "At 50% it keeps" in page


def test_unlabelled_runs_are_left_out_and_counted(make: Callable[..., Path]) -> None:
    folder = make({"good": [list(UNITS[2:]), ["Ann is at work"]], "new": [["Ann is an agent"]]})
    board = board_of_systems(read_board(folder))
    assert [row.system for row in basis(board).systems] == ["good"]
    assert basis(board).left_out[:2] == (
        "good (run 2) on talk0: 1 memory not labelled; memaudit label sheets makes sheets",
        "new on talk0: 1 memory not labelled; memaudit label sheets makes sheets",
    )
    assert len(basis(board).left_out) == 7
    assert "1 run without scores" in basis(board).row("good").marks


def renamed(folder: Path, name: str) -> None:
    (folder / "good" / "talk0.jsonl").unlink()  # what it was imported from
    (folder / "good" / "talk0.json").rename(folder / "good" / name)


def relabelled(folder: Path, change: dict[str, object], id: str = "") -> None:
    """Change the first label of a blind pass; None removes a field."""
    first, *others = (folder / "blind_b.jsonl").read_text().splitlines()
    row = {**json.loads(first), **change, **({"memory_id": id} if id else {})}
    row = {name: value for name, value in row.items() if value is not None}
    (folder / "blind_b.jsonl").write_text("\n".join([json.dumps(row), *others]))


def without(folder: Path, conversation: str) -> None:
    lines = (folder / "blind_b.jsonl").read_text().splitlines()
    kept = [line for line in lines if f'"{conversation}"' not in line]
    (folder / "blind_b.jsonl").write_text("\n".join(kept))


def planned(folder: Path, **fields: object) -> None:
    plan = json.loads((folder / "board.json").read_text())
    (folder / "board.json").write_text(json.dumps({**plan, **fields}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "board.json").unlink(), "board.json"),
        (lambda folder: (folder / "board.json").write_text("{}"), "board.json"),
        (lambda folder: (folder / "blind_a.jsonl").unlink(), "blind_a.jsonl: does not exist"),
        (lambda folder: (folder / "coverage.jsonl").unlink(), "coverage.jsonl: does not exist"),
        (lambda folder: relabelled(folder, {}, "talk0/nobody"), "has no memory 'talk0/nobody'"),
        (
            lambda folder: relabelled(folder, {"conversation": None}),
            "lacks the field 'conversation'",
        ),
        (
            lambda folder: relabelled(folder, {"coverage": 7}),
            "board/blind_b.jsonl:1: has coverage 7",
        ),
        (lambda folder: without(folder, "talk3"), "blind_b.jsonl: has no label for talk3"),
        (lambda folder: renamed(folder, "talk0.run2.json"), "talk0 has run 2 but no first run"),
        (lambda folder: planned(folder, budgets=["7", "7.0"]), "budget 7 is given twice"),
        (lambda folder: renamed(folder, "no.json"), "no conversation of the board is called 'no'"),
        (lambda folder: renamed(folder, "talk0.run1.json"), "CONVERSATION.run2.json"),
        (lambda folder: renamed(folder, "talk0.jsonl"), "run memaudit import talk0.jsonl"),
        (lambda folder: planned(folder, labels="../x.jsonl"), "'../x.jsonl' is not the name"),
        (lambda folder: planned(folder, memories="coverage.jsonl"), "two of labels, passes and"),
        (lambda folder: planned(folder, budgets=["own"]), "the same for all systems, not own"),
        (lambda folder: planned(folder, pases=[]), "pases"),
    ],
)
def test_broken_folders_get_one_line(
    make: Callable[..., Path], change: Callable[[Path], object], message: str
) -> None:
    folder = make({"good": [list(UNITS[2:])]})
    change(folder)
    assert message in failure("board", folder)


@pytest.fixture(scope="module")
def shipped() -> Board:
    with shipped_board() as folder:
        return board_of_systems(read_board(folder))


@pytest.mark.slow
def test_the_shipped_board_holds(shipped: Board) -> None:
    """Every optimum is certified and within the range; passes agree; optima survive."""
    assert basis(shipped).every_optimum_is_certified
    assert basis(shipped).largest_pass_shift <= 0.03
    for budget, standings in shipped.budgets:
        optima = basis(shipped).optima[budget]
        assert 0.3 <= optima.lowest <= optima.highest <= 0.95
        assert optima.survival is not None
        assert optima.survival >= 0.95
        assert {one.store for one in standings} == {"amem", "langmem", "letta", "mem0"}
    for row in basis(shipped).systems:
        assert not row.marks
        shares = [example.share for example in row.examples]
        assert len(shares) == 3
        assert shares == sorted(shares, reverse=True)


@pytest.mark.slow
def test_ranks_can_be_checked_from_the_data(shipped: Board) -> None:
    """Means follow from the values by conversation, ranks from the differences."""
    data = board_data(shipped)
    for one in data["standings"]:
        own = one["by_conversation"]["score"]
        assert one["score"]["mean"] == pytest.approx(sum(own.values()) / 12, abs=1e-8)
        ahead = {
            gap["first"] if gap["difference"]["mean"] > 0 else gap["second"]
            for gap in data["differences"]
            if (gap["budget"], gap["measure"]) == (one["budget"], "score")
            and gap["p_holm"] < 0.05
            and not gap["difference"]["ci_low"] <= 0 <= gap["difference"]["ci_high"]
            and one["store"] in (gap["first"], gap["second"])
        }
        assert one["rank"] == 1 + len(ahead - {one["store"]})


@pytest.mark.slow
def test_the_page_shows_every_number_and_runs_nothing(shipped: Board, tmp_path: Path) -> None:
    page = build_board_page(shipped)
    assert page.count("<script") == 1  # the data
    assert basis(shipped).digest in page
    data = board_data(shipped)
    assert all(f"{one['score']['mean']:.3f}" in page for one in data["standings"])
    write_board_page(shipped, tmp_path / "board.html")
    (entry,) = Library([tmp_path]).of("page")  # the explorer opens it
    assert entry.facts["title"] == shipped.title


def test_what_is_false_earns_nothing(make: Callable[..., Path]) -> None:
    """Of 4 units that the package's candidate says, the store says Graz and work: complete 1/2. In
    talk0 Graz is labelled false: 1/4 there. Unread memories are said, rows of conversations that
    nobody ran are passed over, ids that nothing has and two verdicts on one text are refused."""
    folder = make({"good": [list(UNITS[1:3])]})
    planned(folder, truth="truth.jsonl")
    graz: dict[str, object] = {
        "conversation": "talk0",
        "memory_id": f"talk0/{UNITS[1]}",
        "verdict": "false",
    }
    elsewhere: dict[str, object] = {
        "conversation": "elsewhere",
        "memory_id": "m1",
        "verdict": "false",
    }
    write_jsonl(folder / "truth.jsonl", [graz, elsewhere])
    (row,) = basis(board_of_systems(read_board(folder))).systems
    assert row.complete.mean == pytest.approx((0.25 + 5 * 0.5) / 6)
    assert str(row.falsehoods) == "1 of 1, 11 not read"
    for rows, message in (
        ([{**graz, "memory_id": "nobody"}], r"line 1: nothing of 'talk0' is called 'nobody'"),
        ([graz, {**graz, "verdict": "true"}], r"line 2: .* equal texts are equally true"),
        ([{**graz, "verdict": "no"}], r"line 1: verdict: input should be"),
    ):
        write_jsonl(folder / "truth.jsonl", rows)
        with pytest.raises(MemAuditError, match=message):
            board_of_systems(read_board(folder))
