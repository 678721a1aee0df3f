"""The chain of evidence: where a unit, and with it a question, is lost."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.package.package import EvidenceUnit
from memaudit.lab.downstream.evidence_trace import (
    EvidenceLink,
    EvidenceStage,
    UnitChain,
    chains,
    stage_of,
)
from memaudit.lab.downstream.question import StoredMemory, full_coverage
from tests.lab.downstream.small import ASKED, DOG, ENDED, NOW, OLD, store_of

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("written", "kept", "retrieved", "stage"),
    [
        ([], None, [], "never_written"),
        ([NOW], None, ["m-now"], "never_written"),
        ([NOW, ENDED], 1, ["m-ended"], "pruned"),
        ([NOW, ENDED], None, ["m-now"], "not_retrieved"),
        ([NOW, ENDED], None, ["m-ended", "m-now"], "retrieved"),
    ],
)
def test_the_first_loss_counts(
    written: list[StoredMemory], kept: int | None, retrieved: list[str], stage: str
) -> None:
    """Two units are required: the question is lost where the first of them is."""
    question = ASKED["diet"]
    found = chains(question, store_of(*written, kept=kept), retrieved)
    assert [chain.unit for chain in found] == ["now", "ended"]
    assert stage_of(question, found) == stage


def test_links() -> None:
    """Which memories cover a unit, whether kept, and at what rank."""
    twice = StoredMemory("again", "Rex, Bob's dog.", {"dog": HALF})
    (chain,) = chains(ASKED["dog"], store_of(twice, OLD, DOG, kept=2), ["m-old", "m-dog"])
    assert chain.links == (
        EvidenceLink("again", HALF, kept=False, rank=None),
        EvidenceLink("m-dog", Fraction(1), kept=True, rank=2),
    )
    assert (chain.written, chain.kept, chain.retrieved) == (Fraction(3, 2), 1, 1)
    assert chain.stage is EvidenceStage.RETRIEVED


def test_halves_add_up() -> None:
    """Two memories that each hold a half hold it together, as the objective counts."""
    halves = [StoredMemory(id, "half", {"dog": HALF}) for id in ("a", "b")]
    both = chains(ASKED["dog"], store_of(*halves), ["a", "b"])
    one = chains(ASKED["dog"], store_of(*halves), ["a"])
    assert stage_of(ASKED["dog"], both) is EvidenceStage.RETRIEVED
    assert stage_of(ASKED["dog"], one) is EvidenceStage.NOT_RETRIEVED


def test_nothing_required() -> None:
    """No evidence is named: the package's gap, unless the answer is not to be known."""
    assert stage_of(ASKED["book"], ()) is EvidenceStage.NO_EVIDENCE
    assert stage_of(ASKED["sister"], ()) is EvidenceStage.NOTHING_NEEDED


def test_what_is_all_of_a_unit() -> None:
    """Where h ends; 1 where it never does."""
    shapes = [
        ({"shape": "capped", "cap": "1/2"}, HALF),
        ({"shape": "piecewise", "points": [["1/2", 1], [2, 2]]}, Fraction(2)),
        ({"shape": "sqrt"}, Fraction(1)),
    ]
    for response, amount in shapes:
        unit = EvidenceUnit.model_validate({"id": "u", "kind": "fact", "response": response})
        assert full_coverage(unit) == amount


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), max_size=6))
def test_amounts_never_grow(rows: list[tuple[int, bool, bool]]) -> None:
    """Kept is a part of written, retrieved of kept; the stage is the first that falls short."""
    links = tuple(
        EvidenceLink(str(at), Fraction(quarters, 4), kept, 1 if kept and found else None)
        for at, (quarters, kept, found) in enumerate(rows)
    )
    chain = UnitChain("u", Fraction(1), links)
    assert chain.written >= chain.kept >= chain.retrieved
    short = [amount < 1 for amount in (chain.written, chain.kept, chain.retrieved)]
    assert chain.stage == (
        ["never_written", "pruned", "not_retrieved"][short.index(True)]
        if any(short)
        else "retrieved"
    )
