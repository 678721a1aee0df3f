"""Lazy judging on a whole labelled conversation, its labels replayed as a model."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import pytest

from memaudit.core.equal_texts import distinct_texts
from memaudit.core.package import Coverage, EvidenceUnit, Package
from memaudit.core.text import content_key
from memaudit.natural.label_files import LabelRow, label_rows
from memaudit.scoring.judge import Cell, Judgement, MemoryText, Pair
from memaudit.scoring.lazy_judging import LazyPlan, judge_lazily
from memaudit.scoring.pair_filters import PairFilter, TextPair, named_filter
from memaudit.solvers.solve import solve
from tests.datasets.files import real_file

BUDGETS = tuple(map(Fraction, (250, 500, 1000, 2000)))
FOLDER = "labels/locomo_conv26"


def rows(name: str) -> list[LabelRow]:
    known = frozenset(
        {
            "unit_id",
            "session",
            "dia_ids",
            "kind",
            "text",
            "quote",
            "questions",
            "note",
            "memory_id",
            "sources",
            "coverage",
            "why",
        }
    )
    return label_rows(real_file(f"{FOLDER}/{name}.jsonl"), known, frozenset())


@dataclass(frozen=True)
class Labelled:
    """The memories and units of a conversation, its same-session pairs, and all labels by text."""

    package: Package
    pairs: frozenset[TextPair]
    labels: Mapping[TextPair, Fraction]

    @property
    def truth(self) -> Package:
        """The package with every label."""
        texts = {unit.id: unit.text for unit in self.package.units}
        return self.package.replace(
            coverage=tuple(
                Coverage(candidate=candidate.id, unit=unit, value=value)
                for candidate in self.package.candidates
                for unit, text in texts.items()
                if (value := self.labels.get((content_key(candidate.text), text)))
            )
        )


@cache
def labelled() -> Labelled:
    units, memories = rows("units"), rows("memories")
    experiences = [{"id": row.text("memory_id")} for row in memories]
    package = Package.model_validate(
        {
            "name": "conv-26",
            "cost_rule": "words",
            "experiences": experiences,
            "candidates": [
                {
                    "id": row.text("memory_id"),
                    "experience": row.text("memory_id"),
                    "kind": "fact",
                    "text": row.text("text"),
                    "cost": len(row.text("text").split()),
                    "generator": "rule:none",
                }
                for row in memories
            ],
            "units": [
                {
                    "id": row.text("unit_id"),
                    "kind": "fact",
                    "text": row.text("text"),
                    "weight": len(row.many("questions")),
                }
                for row in units
            ],
        }
    )
    tables = distinct_texts(package.experiences, package.candidates, package.coverage)
    once = package.replace(
        experiences=tables.experiences, candidates=tables.candidates, equal_texts_once=True
    )
    memory = {row.text("memory_id"): content_key(row.text("text")) for row in memories}
    unit = {row.text("unit_id"): row.text("text") for row in units}
    labels: dict[TextPair, Fraction] = {}
    for row in rows("coverage_pass_a"):
        at = memory[row.text("memory_id")], unit[row.text("unit_id")]
        labels[at] = max(labels.get(at, Fraction(0)), row.share("coverage"))
    pairs = frozenset(
        (content_key(one.text("text")), other.text("text"))
        for one in memories
        for other in units
        if one.text("session") == other.text("session")
    )
    return Labelled(once, pairs, labels)


class Replayed:
    """The labels as a model; it counts what it is asked."""

    name, is_estimate, judges_candidates = "pass A", False, True

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        known = labelled().labels
        texts = {memory.id: content_key(memory.text) for memory in memories}
        unit_texts = {unit.id: unit.text for unit in units}
        cells: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        for id, unit in pairs or ():
            value = known.get((texts[id], unit_texts[unit]), Fraction(0))
            cells[id][unit] = Cell(value, "pass:a")
        return Judgement(cells)


@dataclass(frozen=True)
class SameSession:
    """A filter, and none of the pairs across sessions."""

    filter: PairFilter

    @property
    def name(self) -> str:
        return self.filter.name

    def likely(self, texts: Sequence[str], units: Sequence[str]) -> dict[TextPair, float]:
        kept = self.filter.likely(texts, units)
        pairs = labelled().pairs
        return {at: share for at, share in kept.items() if (content_key(at[0]), at[1]) in pairs}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "budget", "share", "least"),
    [
        *(("two-terms", budget, 0.15, 0.98) for budget in BUDGETS),
        ("one-term", BUDGETS[2], 0.66, 1.0),
    ],
)
def test_a_few_percent_of_the_labels_give_the_optimum(
    name: str, budget: Fraction, share: float, least: float
) -> None:
    """0.98 of OPT over all labels for 15% of the cells, and all of it if nothing is cut off."""
    data = labelled()
    plan = LazyPlan(SameSession(named_filter(name)))
    lazy = judge_lazily(data.package, [], Replayed(), [budget], plan)
    assert not lazy.stopped
    assert lazy.asked <= share * len(data.pairs)
    best, truth = solve(lazy.package, budget), solve(data.truth, budget, seconds=20)
    assert best.certified
    assert least * truth.bound <= best.value <= truth.bound
