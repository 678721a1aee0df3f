"""Judges and statements with parts: one question, kept parts, and nothing without the core."""

import csv
import json
from collections.abc import Collection, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.judges.label_judges import LabelJudge
from memaudit.judges.lexical import LexicalJudge, named_filter
from memaudit.judges.model_judge import ModelJudge
from memaudit.judges.registry import PointerJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import read_package, write_package
from memaudit.kernel.io.store_file import Memory
from memaudit.kernel.package.budgets import asked_budgets
from memaudit.kernel.package.package import EvidenceUnit, Source
from memaudit.kernel.package.unit_parts import part_units
from memaudit.kernel.score.judge import (
    IN_PART,
    NO_CORE,
    Cell,
    Judgement,
    MemoryText,
    Pair,
    ask_judge,
)
from memaudit.kernel.score.judging import assumed_pairs
from memaudit.kernel.score.package_scores import score_package
from memaudit.kernel.score.result import Scoring
from memaudit.lab.labels.store_cells import write_store_cells
from tests.building.passes.building import live
from tests.building.passes.fake_model import blocks, plays
from tests.judges.test_model_judge import session
from tests.kernel.score.small_stores import exported
from tests.models.server import serving
from tests.proofs import package as made

F = Fraction
MOVED = EvidenceUnit(
    id="u7",
    kind="fact",
    text="Ana moved to Lisbon in May 2023",
    weight=F(4),
    sources=(Source(id="e"),),
)
DOG = EvidenceUnit(id="dog", kind="fact", text="Bo has a dog called Rex.", weight=F(1))
UNITS = (*part_units(MOVED, (("what", "to Lisbon"), ("who", "Ana"), ("when", "in May 2023"))), DOG)
PACKAGE = made(
    "c:e:4",
    {},
    texts={"c": "Ana moved to Lisbon"},
    generator="rule:raw",
    name="p",
    cost_rule="words",
    units=UNITS,
)
WHOLE = ["u7#what", "u7#when", "u7#who"]
CITY, DATE, ALL = "Ana moved to Lisbon", "Ana moved in May 2023", "In May 2023 Ana moved to Lisbon"
STORE = exported(
    Memory(id="city", text=CITY),
    Memory(id="date", text=DATE),
    Memory(id="all", text=ALL),
    Memory(id="dog", text="Bo has a dog"),
)


def texts(*memories: str) -> list[MemoryText]:
    return [MemoryText(text, text, ("e",)) for text in memories]


def kept(judged: Judgement) -> dict[str, list[str]]:
    return {
        id: sorted(unit for unit, cell in own.items() if cell.value)
        for id, own in judged.cells.items()
    }


class Says:
    """A judge that says what it was given."""

    name, is_estimate, judges_candidates = "says", False, True

    def __init__(self, cells: dict[str, dict[str, Fraction]]) -> None:
        self._cells, self.asked = cells, list[Collection[Pair] | None]()

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],  # noqa: ARG002
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        self.asked.append(pairs)
        return Judgement(
            {
                memory.id: {
                    unit: Cell(value, "pass:x")
                    for unit, value in self._cells.get(memory.id, {}).items()
                    if pairs is None or (memory.id, unit) in pairs
                }
                for memory in memories
            }
        )


def test_nothing_is_kept_without_the_core() -> None:
    """What breaks the rule is counted. A part is kept or lost, there is no half of it; and
    it is never asked about without its core."""
    a, b = {"u7#what": F(1), "u7#who": F(1)}, {"u7#who": F(1), "u7#when": F(1)}
    judge = Says({"a": a, "b": b, "c": {"u7#what": F(1, 2), "u7#when": F(1), "dog": F(1, 2)}})
    judged = ask_judge(judge, texts("a", "b", "c"), UNITS)
    assert kept(judged) == {"a": ["u7#what", "u7#who"], "b": [], "c": ["dog"]}
    assert judged.left_out == {NO_CORE: 3, IN_PART: 1}
    judge = Says({"a": {"u7#what": F(0), "u7#when": F(1)}})
    judged = ask_judge(judge, texts("a"), UNITS, [("a", "u7#when")])
    assert judge.asked == [[("a", "u7#when"), ("a", "u7#what")]]
    assert judged.cells["a"].keys() == {"u7#when"}
    assert kept(judged) == {"a": []}


def test_a_statement_of_the_package_goes_by_its_core() -> None:
    """A judged core settles its parts; otherwise all of them are judged again."""
    rows = [
        {"candidate": "c", "unit": unit, "value": 1, "provenance": provenance}
        for unit, provenance in (("u7#what", "pass:a"), ("u7#who", "heuristic:x"))
    ]
    assert assumed_pairs(PACKAGE.replace(coverage=rows)) == {"c": ["dog"]}
    assert assumed_pairs(PACKAGE.replace(coverage=rows[1:])) == {"c": [unit.id for unit in UNITS]}


def test_the_lexical_estimate_goes_by_the_words_of_parts() -> None:
    """The date alone is half of the statement's words, and lacks the core."""
    judged = ask_judge(LexicalJudge(), texts(CITY, DATE, ALL, "Bo has a dog"), UNITS)
    city, dog = ["u7#what", "u7#who"], ["dog"]
    assert kept(judged) == {CITY: city, DATE: [], ALL: WHOLE, "Bo has a dog": dog}
    assert judged.left_out == {}
    assert kept(ask_judge(PointerJudge(), texts("x"), UNITS[:3])) == {"x": WHOLE}


def test_a_filled_in_sheet_round_trips(tmp_path: Path) -> None:
    """One row per statement, with its parts after its text; kept parts are named."""
    write_store_cells(tmp_path / "sheets", PACKAGE, [STORE], named_filter("two-terms"))
    path = tmp_path / "sheets" / "labels.csv"
    with path.with_name("sheet.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    cells = [(row["memory_text"], row["unit_id"]) for row in rows]
    assert cells == [(CITY, "u7"), (DATE, "u7"), (ALL, "u7"), ("Bo has a dog", "dog")]
    assert rows[0]["unit_text"] == (
        "Ana moved to Lisbon in May 2023 [what: to Lisbon; who: Ana; when: in May 2023]"
    )
    filled = (
        {"parts": "what;who"},
        {"parts": "when; who"},
        {"label": "full"},
        {"label": "partial"},
    )
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows({**row, **own} for row, own in zip(rows, filled, strict=True))
    judge = LabelJudge(path)
    result = score_package(PACKAGE, [STORE], Scoring(asked_budgets((4, 40)), {"s": judge}))
    small, large = result.rows
    assert large.numbers.written.value == F(9, 2)
    assert small.numbers.best_optimum.value == 3  # what and who: 4 x 3/4
    assert result.stores[0].caveats.left_out == {NO_CORE: 2}
    assert {cell.unit for cell in result.package.coverage if cell.value} == {"u7#what", "u7#who"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"coverage": 0.5},
            "has coverage 0.5 of unit 'u7', which has parts; name the parts that "
            "are kept in the field 'parts': what, who, when",
        ),
        ({"parts": ["where"]}, "unit 'u7' has no part 'where'; its parts: what, who, when"),
        ({"parts": ["what"], "coverage": 1}, "has coverage 1, and parts of unit 'u7' that are not"),
        ({"unit_id": "dog", "parts": ["what"]}, "names parts of unit 'dog', which has none"),
        ({}, "lacks the field 'coverage'"),
    ],
)
def test_labels_that_do_not_fit_are_one_line(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    path = tmp_path / "l.jsonl"
    path.write_text(json.dumps({"memory_id": "m", "unit_id": "u7", **row}) + "\n")
    with pytest.raises(MemAuditError, match=r"l\.jsonl:1: ") as caught:
        ask_judge(LabelJudge(path), [MemoryText("m", "x")], UNITS)
    assert message in str(caught.value)


def test_labels_by_whole_by_parts_and_by_one_part(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"memory_id": "a", "unit_id": "u7", "coverage": 1},
        {"memory_id": "b", "unit_id": "u7", "parts": []},
        {"memory_id": "c", "unit_id": "u7#what", "coverage": 1},
        {"memory_id": "d", "unit_id": "u7", "parts": ["what", "when"], "coverage": 0.75},
    ]
    path = tmp_path / "l.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    judged = ask_judge(LabelJudge(path), [MemoryText(id, id) for id in "abcd"], UNITS)
    some = ["u7#what", "u7#when"]
    assert kept(judged) == {"a": WHOLE, "b": [], "c": ["u7#what"], "d": some}


def test_a_model_is_asked_once_per_statement(tmp_path: Path) -> None:
    """With the names and words of its parts, not with the texts of their units."""
    said = f"{MOVED.text}."
    with serving(plays) as served, session(tmp_path, live(served.url)) as asked:
        found = ask_judge(ModelJudge(asked, "one"), texts(said, "to Lisbon", "Soup."), UNITS)
    assert kept(found) == {said: WHOLE, "to Lisbon": ["u7#what"], "Soup.": []}
    (body,) = served.bodies
    units = {
        row["text"]: row.get("parts") for row in blocks(body["messages"][1]["content"])["units"]
    }
    assert units == {
        MOVED.text: {"what": "to Lisbon", "who": "Ana", "when": "in May 2023"},
        DOG.text: None,
    }


def test_a_union_keeps_to_the_rule(tmp_path: Path) -> None:
    """Whatever a judge says of candidates and memories, the union can be read again."""
    said = {
        "c": {"u7#when": F(1)},
        "city": {"u7#what": F(1), "u7#who": F(1, 2)},
        "date": {"u7#when": F(1)},
        "all": {"u7#what": F(1), "u7#when": F(1)},
    }
    result = score_package(PACKAGE, [STORE], Scoring(asked_budgets(40), {"s": Says(said)}))
    write_package(result.union, tmp_path / "union.json")
    cells = read_package(tmp_path / "union.json").coverage
    kept_cells = {(cell.candidate, cell.unit) for cell in cells if cell.value}
    assert kept_cells == {("s/city", "u7#what"), ("s/all", "u7#what"), ("s/all", "u7#when")}
