"""HaluMem's measures, worked out by hand."""

from fractions import Fraction

import pytest

from memaudit.core.package import CURRENT, STALE, EvidenceUnit, Experience, Package
from memaudit.hygiene.halumem import halumem_measures
from memaudit.natural.evidence import INTERFERENCE, REPLACES
from memaudit.scoring.judges import Cell
from memaudit.scoring.written_store import WrittenMemory, WrittenStore

HALF = Fraction(1, 2)


def unit(id: str, kind: str, text: str, weight: str, replaces: str = "") -> EvidenceUnit:
    attributes = {REPLACES: [replaces]} if replaces else {}
    return EvidenceUnit(id=id, kind=kind, text=text, weight=Fraction(weight), attributes=attributes)


PACKAGE = Package(
    name="ada",
    experiences=(Experience(id="t", text="I eat fish now. My sister Joan lives in Rome."),),
    candidates=(),
    units=(
        unit("sister", "fact", "Ada's sister Joan lives in Rome.", "0.8"),
        unit("dog", "fact", "Ada has a dog called Rex.", "0.2"),
        unit("old", STALE, "Ada eats vegetarian.", "0.6"),
        unit("new", CURRENT, "Ada eats fish.", "0.9", replaces="old"),
        unit("job", CURRENT, "Ada works in Oslo.", "0.9"),
        unit("bees", INTERFERENCE, "Ada keeps bees.", "0"),
        unit("boat", INTERFERENCE, "Ada owns a boat.", "0"),
    ),
    queries=(),
    coverage=(),
    attributes={"format": "halumem"},
)


def memory(id: str, text: str, **cells: Fraction | int) -> WrittenMemory:
    coverage = {name: Cell(Fraction(value), "pass:test") for name, value in cells.items()}
    return WrittenMemory(id, text, Fraction(1), coverage)


STORE = WrittenStore(
    "s",
    (
        memory("a", "User's sister Joan lives in Rome.", sister=1),
        memory("b", "User has a dog.", dog=HALF),
        memory("c", "User eats fish now.", new=1),
        memory("d", "User eats vegetarian.", old=1),
        memory("e", "User works at Microsoft Zanzibar.", job=HALF),
        memory("f", "User owns a boat.", boat=HALF),
    ),
)


def test_by_hand() -> None:
    """Points: sister in full, dog in part, old in full. Updates: new is there, but old is still
    said (other); job is there in part, with a name that nobody said (hallucinated)."""
    found = halumem_measures(PACKAGE, STORE)
    assert (found.points, found.updates, found.interference_points) == (3, 2, 2)
    assert found.recall == Fraction(2, 3)
    # (1 * 0.8 + 0.5 * 0.2 + 1 * 0.6) / 1.6
    assert found.weighted_recall == Fraction(15, 16)
    assert found.resistance == HALF
    assert (found.other, found.hallucinated, found.correct, found.omitted) == (HALF, HALF, 0, 0)
    assert found.f1 is not None
    assert found.target_accuracy is not None
    total = found.target_accuracy + found.recall
    assert found.f1 == 2 * found.target_accuracy * found.recall / total


def test_an_update_that_replaced_the_old_statement() -> None:
    left = WrittenStore("s", tuple(one for one in STORE.memories if one.id not in "de"))
    found = halumem_measures(PACKAGE, left)
    assert (found.correct, found.omitted) == (HALF, HALF)


def test_nothing_to_take_a_share_of() -> None:
    empty = halumem_measures(PACKAGE, WrittenStore("s", ()))
    assert (empty.recall, empty.resistance, empty.omitted) == (0, 1, None)
    assert (empty.points, empty.updates) == (5, 0)
    assert empty.accuracy is None
    assert empty.f1 is None
    bare = PACKAGE.model_copy(update={"units": ()})
    assert halumem_measures(bare, STORE).weighted_recall is None


@pytest.mark.parametrize("text", ["User likes Zyx Qwerty.", "Nobody said a word of 4711."])
def test_a_memory_that_nobody_said_lowers_accuracy(text: str) -> None:
    first = halumem_measures(PACKAGE, STORE).accuracy
    more = halumem_measures(PACKAGE, WrittenStore("s", (*STORE.memories, memory("g", text))))
    assert first is not None
    assert more.accuracy is not None
    assert more.accuracy < first
    assert more.target_accuracy == halumem_measures(PACKAGE, STORE).target_accuracy
