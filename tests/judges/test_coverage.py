"""The judge's requests, and the sample that another model checks."""

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.building.passes.recipe import ModelRecipe
from memaudit.judges.model_judge import (
    MAX_CHARACTERS,
    MAX_MEMORIES,
    MAX_PAIRS,
    MAX_UNITS,
    CellRow,
    JudgedCell,
    JudgedCells,
    SpotCheck,
    Statement,
    TextPair,
    chunks,
    judge_coverage,
    judged_cell,
    rank,
    shuffled,
    spot_check_sample,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.models.cache import Cache
from memaudit.models.session import open_session
from tests.building.passes.building import live
from tests.building.passes.fake_model import answer, blocks, instead
from tests.models.server import serving

texts = st.text("abc ", min_size=1, max_size=6)
pairs = st.sets(st.tuples(texts, texts.map(Statement)), max_size=120)


@given(pairs, st.sampled_from([1, MAX_MEMORIES]))
def test_every_pair_is_asked_once(wanted: set[TextPair], most: int) -> None:
    """Within the limits, under numbers from 1."""
    found = list(chunks(wanted, most))
    asked = [one.pair(numbers) for one in found for numbers in one.pairs]
    assert sorted(asked) == sorted(wanted)
    for one in found:
        assert len(one.memories) <= most
        assert len(one.pairs) <= MAX_PAIRS
        assert len(one.units) <= MAX_UNITS
        assert list(one.memories) == sorted(one.memories, key=rank)
        assert list(one.units) == sorted(one.units, key=lambda unit: rank(unit.text))


@given(st.lists(st.tuples(texts, texts.map(Statement)), unique=True, max_size=60), st.randoms())
def test_the_callers_order_does_not_matter(wanted: list[TextPair], random: Random) -> None:
    mixed = list(wanted)
    random.shuffle(mixed)
    assert list(chunks(wanted)) == list(chunks(mixed))


def test_a_whole_matrix_fills_its_requests() -> None:
    """30 memories and 20 units: 96 pairs are 12 memories by 8 units, or 24 by the last 4. Two
    memories that are too long together make two requests; none is cut. Order is by hash: a is
    ca978112..., b 3e23e816..., c 2e7d2c03..."""
    memories, units = [f"m{i}" for i in range(30)], [Statement(f"u{i}") for i in range(20)]
    found = list(chunks(product(memories, units)))
    sizes = [(len(one.memories), len(one.units)) for one in found]
    assert sizes == [(12, 8), (12, 8), (6, 8)] * 2 + [(24, 4), (6, 4)]
    assert sum(len(one.pairs) for one in found) == 600
    long = [letter * (MAX_CHARACTERS - 10) for letter in "ab"]
    found = list(chunks(product(long, [Statement("u")])))
    assert [one.memories for one in found] == [(one,) for one in shuffled(long)]
    assert shuffled(["a", "b", "c", "a"]) == ["c", "b", "a"]


FULL, PARTIAL, NONE = JudgedCell("full", ""), JudgedCell("partial", ""), JudgedCell("none", "")
CELLS: JudgedCells = {
    **{(f"m{i}", Statement("u1")): FULL for i in range(4)},
    **{(f"m{i}", Statement("u2")): PARTIAL for i in range(1)},
    **{(f"m{i}", Statement("u3")): NONE for i in range(11)},
    ("m0", Statement("u4")): None,
}


def test_a_share_of_every_label_rounded_up() -> None:
    """A fifth of 4, 1 and 11 is 1, 1 and 3; undecided cells have no label to check. The order of
    cells does not matter, but the seed does."""
    chosen = spot_check_sample(CELLS, Fraction(1, 5), 0, "x")
    assert Counter(unit.text for _, unit in chosen) == {"u1": 1, "u2": 1, "u3": 3}
    assert spot_check_sample(CELLS, Fraction(1), 0, "x") == CELLS.keys() - {("m0", Statement("u4"))}
    turned = dict(reversed(CELLS.items()))
    assert spot_check_sample(turned, Fraction(1, 5), 0, "x") == chosen
    others = [spot_check_sample(CELLS, Fraction(1, 5), seed, "x") for seed in range(5)]
    assert any(one != chosen for one in others)


def test_agreement_by_hand() -> None:
    one, two = Statement("1"), Statement("2")
    cells = {
        ("a", one): (FULL, FULL),
        ("a", two): (NONE, NONE),
        ("b", one): (NONE, PARTIAL),
        ("b", two): (NONE, NONE),
    }
    spot = SpotCheck(cells)
    assert spot.agreement == Fraction(3, 4)
    assert spot.table == {("full", "full"): 1, ("none", "none"): 2, ("none", "partial"): 1}
    assert SpotCheck({}).agreement is None


MOVE = Statement("Ann moved to Rome in May.", (("what", "moved to Rome"), ("when", "in May")))


def cell(label: str, *kept: str) -> CellRow:
    return CellRow.model_validate(
        {"memory": 1, "unit": 1, "label": label, "kept": list(kept), "reason": "r"}
    )


@pytest.mark.parametrize(
    ("row", "label", "kept", "problem"),
    [
        (cell("full", "what", "when"), "full", {"what", "when"}, ""),
        (cell("partial", "what"), "partial", {"what"}, ""),
        (cell("none"), "none", set(), ""),
        (cell("full", "what"), "partial", {"what"}, "label and kept parts differ"),
        (cell("partial", "what", "when"), "full", {"what", "when"}, "label and kept parts differ"),
        (cell("none", "what"), "none", set(), "label and kept parts differ"),
        (cell("partial", "when"), "none", set(), "label and kept parts differ"),  # no core
        (cell("partial", "what", "who"), "partial", {"what"}, "label and kept parts differ"),
    ],
)
def test_the_smaller_claim_of_a_contradiction_stands(
    row: CellRow, label: str, kept: set[str], problem: str
) -> None:
    """None keeps nothing, nothing is kept without the core, and else the parts kept decide.
    Without parts named the cell has no answer; a unit without parts needs none."""
    found, said = judged_cell(row, MOVE)
    assert found is not None
    assert (found.label, found.reason, found.kept) == (label, "r", frozenset(kept))
    assert said == problem
    assert judged_cell(cell("full"), MOVE) == (None, "kept parts not named")
    assert judged_cell(cell("full", "what"), Statement("x")) == (JudgedCell("full", "r"), "")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"adjudicator": "one"}, "cannot adjudicate its own work"),
        ({"spot_checker": "one"}, "which judged the cells"),
        ({"judge": "two", "spot_checker": "two"}, "which judged the cells"),
        ({"cost_rule": "declared"}, "measures its costs"),
        ({"cost_rule": "stones"}, "unknown cost rule"),
        ({"model": ""}, "give model NAME"),
    ],
)
def test_nobody_checks_their_own_work(given: dict[str, Any], message: str) -> None:
    with pytest.raises(MemAuditError, match=message):
        ModelRecipe(**{"model": "one", **given})
    assert ModelRecipe("one").checker is None
    assert ModelRecipe("one", adjudicator="two").checker == "two"
    assert ModelRecipe("one", judge="two", adjudicator="two").checker is None
    assert ModelRecipe("one", adjudicator="two", spot_checker="three").checker == "three"
    assert ModelRecipe("one", judge="two").models["coverage"] == "two"


def test_parts_go_to_the_judge_and_come_back(tmp_path: Path) -> None:
    """The request shows them by name; a reply without `kept` is asked about once more."""
    plain = Statement("Bob is 9.")
    memories = ["Ann moved to Rome in May.", "Ann moved", "Bob is 9."]
    seen: list[dict[str, Any]] = []

    def forgets(body: dict[str, Any]) -> str:
        seen.append(blocks(body["messages"][1]["content"]))
        reply = answer(body)
        for row in reply["cells"]:
            if row["label"] == "partial" and "kept" in row:
                row["kept"] = []
        return json.dumps(reply)

    with serving(instead("coverage", forgets)) as served, Cache(tmp_path / "cache") as cache:
        session = open_session(live(served.url), cache)
        found = judge_coverage(memories, [MOVE, plain], session, "one", "x")
    whole = found[memories[0], MOVE]
    assert whole == JudgedCell("full", "is full", frozenset({"what", "when"}))
    assert found[memories[1], MOVE] is None
    assert found[memories[2], plain] == JudgedCell("full", "is full")
    counts = session.ledger.counts("x", failure=False)
    assert counts == {"coverage": {"kept parts not named": 2, "undecided cell": 1}}
    assert {row["text"]: row.get("parts") for row in seen[0]["units"]} == {
        MOVE.text: {"what": "moved to Rome", "when": "in May"},
        plain.text: None,
    }
