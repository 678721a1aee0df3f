"""Controls that every score must pass under labels, on the shipped conversations."""

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.judges.label_judges import LabelJudge
from memaudit.kernel.io.store_file import ExportedStore, Memory
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judging import judge_store
from memaudit.kernel.score.score import StoreScorer
from tests.kernel.score.small_stores import exported

PACKAGES = {package.name: package for package in short_set()}
NAMES = ("hotel-rooms", "film-night", "dog-tablets")
BUDGET = Fraction(40)
WORTHLESS = ("ok", "It rained in Rotterdam.", "a" * 300)


def keywords(package: Package) -> list[str]:
    """The words of all units in one memory, and those of each backwards."""
    together = " ".join(word for unit in package.units for word in unit.text.split())
    return [together, *(" ".join(reversed(unit.text.split())) for unit in package.units)]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> LabelJudge:
    """The labels of all conversations by text; the worthless texts are named and cover nothing."""
    folder = tmp_path_factory.mktemp("labels")
    memories, labels = folder / "memories.jsonl", folder / "labels.jsonl"
    texts: dict[tuple[str, str], str] = {}
    rows = []
    for package in PACKAGES.values():
        for candidate in package.candidates:
            texts[package.name, candidate.id] = candidate.text
        rows += [
            {
                "conversation": package.name,
                "memory_id": f"{package.name} {cell.candidate}",
                "unit_id": cell.unit,
                "coverage": str(cell.value),
            }
            for cell in package.coverage
        ]
    empty = [*WORTHLESS, *(text for name in NAMES for text in keywords(PACKAGES[name]))]
    _write(
        memories,
        [
            *({"memory_id": f"{name} {id}", "text": text} for (name, id), text in texts.items()),
            *({"memory_id": f"empty {at}", "text": text} for at, text in enumerate(empty)),
        ],
    )
    _write(labels, rows)
    return LabelJudge(labels, memories)


def _write(path: Path, rows: Sequence[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def own_store(package: Package, name: str = "own") -> ExportedStore:
    """Every second memory of a conversation, in order."""
    texts = [c.text for c in package.candidates if c.kind not in ("raw", "session")][::2]
    return written(texts, name)


def written(texts: Sequence[str], name: str = "own") -> ExportedStore:
    return exported(*(Memory(id=f"m{n}", text=text) for n, text in enumerate(texts)), name=name)


def numbers(package: Package, store: ExportedStore, judge: LabelJudge) -> tuple[Fraction, ...]:
    """F, OPT of the union, and the best subset."""
    judged = judge_store(package, store, judge)
    scorer = StoreScorer(package, [judged])
    found = scorer.numbers(judged, BUDGET)
    assert scorer.common_optimum(BUDGET).certified
    return found.written.value, scorer.common_optimum(BUDGET).value, found.best.worth.value


every_package = pytest.mark.parametrize("package", [PACKAGES[name] for name in NAMES], ids=NAMES)


@every_package
def test_a_strangers_store_is_worth_nothing(package: Package, judge: LabelJudge) -> None:
    kept, _, _ = numbers(package, own_store(package), judge)
    assert kept > 0
    for other in NAMES:
        if other != package.name:
            stranger = own_store(PACKAGES[other])
            texts = [memory.text for memory in (*stranger.active, own_store(package).active[0])]
            own_first = numbers(package, written(texts[-1:]), judge)[0]
            value, union, best = numbers(package, written(texts), judge)
            assert value == own_first, "only the last memory is about this conversation"
            assert union == numbers(package, written(texts[-1:]), judge)[1]
            assert best <= own_first


@every_package
def test_what_adds_nothing_to_a_store_changes_no_value(package: Package, judge: LabelJudge) -> None:
    """Worthless memories, keywords of all units, every memory a second time; an empty store is
    worth nothing."""
    own = [memory.text for memory in own_store(package).active]
    value, optimum, best = numbers(package, written([]), judge)
    assert (value, best) == (0, 0)
    assert optimum > 0
    before = numbers(package, written(own), judge)
    for more in (*([extra] for extra in WORTHLESS), keywords(package), own):
        assert numbers(package, written([*own, *more]), judge) == before
    twice = judge_store(package, written([*own, *own]), judge)
    once = judge_store(package, written(own), judge)
    found = StoreScorer(package, [twice]).numbers(twice, BUDGET)
    assert found.written.cost == 2 * once.cost, "what was stored is paid for"
    assert (found.duplicates, found.duplicate_cost) == (len(own), once.cost)


@every_package
def test_order_and_ids_change_no_value(package: Package, judge: LabelJudge) -> None:
    own = own_store(package)
    backwards = exported(
        *(Memory(id=f"other-{n}", text=memory.text) for n, memory in enumerate(own.active[::-1])),
        name="another name",
    )
    shuffled = package.replace(
        candidates=package.candidates[::-1],
        coverage=package.coverage[::-1],
        units=package.units[::-1],
    )
    assert (
        numbers(package, own, judge)
        == numbers(package, backwards, judge)
        == numbers(shuffled, own, judge)
    )
