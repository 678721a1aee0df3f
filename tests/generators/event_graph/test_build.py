"""The package of an event graph: lengths, kinds, ids, order, costs, English, seeds."""

import re
from collections import Counter
from datetime import datetime
from fractions import Fraction
from itertools import pairwise

import pytest

from memaudit.core.cost import words
from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.generators.event_graph import EventGraph, Parameters
from memaudit.generators.event_graph.dice import Dice
from memaudit.solvers.solve import solve_all
from tests.generators.event_graph.reading import KINDS, QUESTIONS


def drawn(experiences: int, seed: int) -> Package:
    return EventGraph(Parameters(experiences=experiences)).package(seed)


@pytest.mark.parametrize("length", [7, 12, 59, 60, 61, 333])
def test_exactly_so_many_experiences(length: int) -> None:
    """The stream has the length that was asked for, numbered from 0."""
    for seed in range(2):
        package = drawn(length, seed)
        assert [row.index for row in package.experiences] == list(range(length))


@pytest.mark.parametrize(("length", "least"), [(7, 8), (12, 9), (40, 9), (150, 9)])
def test_kinds(length: int, least: int) -> None:
    """All kinds of questions from the shortest stream on; all kinds of candidates from 12 on."""
    for seed in range(12):
        package = drawn(length, seed)
        kinds = {row.kind for row in package.candidates}
        assert kinds <= KINDS
        assert len(kinds) >= least
        assert {row.kind for row in package.queries} == QUESTIONS


def test_times_run_forward_within_sessions() -> None:
    """Timestamps increase, sessions are blocks of several messages, most by the speaker."""
    for seed in range(10):
        package = drawn(150, seed)
        rows = package.experiences
        times = [datetime.fromisoformat(row.timestamp or "") for row in rows]
        assert all(before < after for before, after in pairwise(times))
        sessions = [row.session for row in rows]
        starts = [0] + [at for at in range(1, len(rows)) if sessions[at] != sessions[at - 1]]
        assert len(starts) == len(set(sessions))
        lengths = [after - before for before, after in pairwise([*starts, len(rows)])]
        assert min(lengths) >= 3
        assert len({row.speaker for row in rows} - {"assistant"}) == 1
        assert sum(row.speaker == "assistant" for row in rows) < 20
        told = {row.id: (row.timestamp or "")[:10] for row in rows}
        for unit in package.units:
            days = [told[source.id] for source in unit.sources]
            assert days == sorted(days)
            assert unit.timestamp == days[0]


def test_ids_are_neutral_and_costs_are_words() -> None:
    """An id tells the place and the kind only; a cost is the number of words."""
    package = drawn(80, 3)
    assert all(re.fullmatch(r"x\d{4}", row.id) for row in package.experiences)
    assert all(re.fullmatch(r"u\d{4}", row.id) for row in package.units)
    assert all(re.fullmatch(r"q\d{4}", row.id) for row in package.queries)
    for row in package.candidates:
        assert re.fullmatch(rf"{row.experience}\.{row.kind}\d", row.id)
        assert row.cost == words(row.text)
        assert (row.confidence is None) == (row.kind == "raw")
    assert all(unit.weight is None for unit in package.units)


def test_confidence_says_nothing_about_weight() -> None:
    """Facts that questions need and facts that none needs are equally sure, on average."""
    needed, idle = [], []
    for seed in range(20):
        package = drawn(100, seed)
        covered = {cell.candidate for cell in package.coverage if package.weights[cell.unit] > 0}
        for row in package.candidates:
            if row.kind == "fact" and row.confidence is not None:
                (needed if row.id in covered else idle).append(row.confidence)
    means = [sum(group, Fraction(0)) / len(group) for group in (needed, idle)]
    assert abs(means[0] - means[1]) < Fraction(1, 100)


def test_summaries_close_sessions() -> None:
    """One summary a session, with the last message, and it never covers all it speaks of."""
    package = drawn(120, 4)
    last = {row.session: row.id for row in package.experiences}
    summaries = [row for row in package.candidates if row.kind == "summary"]
    assert [row.experience for row in summaries] == list(last.values())
    cells = [cell for cell in package.coverage if ".summary" in cell.candidate]
    assert any(cell.value < 1 for cell in cells)
    own = {unit.id: {source.id for source in unit.sources} for unit in package.units}
    assert any(cell.candidate.split(".")[0] not in own[cell.unit] for cell in cells)


def test_stale_units_matter_little() -> None:
    """What was true once is asked rarely, and counts less than any question about what holds."""
    for seed in range(10):
        package = drawn(150, seed)
        stale = [unit.id for unit in package.units if unit.kind == "stale"]
        weights = [package.weights[unit] for unit in stale]
        assert set(weights) == {Fraction(0), Fraction(1)}
        others = [query for query in package.queries if not set(query.required) & set(stale)]
        assert {query.importance for query in others} == {2, 3, 4}
        assert sum(weight > 0 for weight in weights) < len(weights) / 2


def test_english() -> None:
    """No mark is left over; capitals, articles and verbs are right; no word is doubled."""
    for seed in range(20):
        package = drawn(100, seed)
        texts = [row.text for row in package.candidates] + [row.text for row in package.queries]
        for text in texts:
            assert not re.search(r"[{}\[\]|]|  | [,.;:?!]|\.\.|,,|,\.", text), text
            assert text[0].isupper() or text[0] == "(", text
            assert not re.search(r"[.!?] [a-z]", text), text
            assert not re.search(r"\b[Aa] [aeioAEIO]|\b[Aa]n (?!hour)[^aeiouAEIOU]", text), text
            assert not re.search(r"\b(\w+) \1\b", text), text
            assert not re.search(r"\bI (is|has|does|likes|prefers|wants)\b", text), text
            assert len(re.findall(r": ", text)) <= 2, text
        for row in package.experiences:
            assert 1 <= len(re.findall(r"[.!?](?: |$)", row.text)) <= 3, row.text


def test_budgets_bite_and_are_certified() -> None:
    """The declared budgets are whole, grow, and have certified optima that differ."""
    for length in (7, 40):
        for seed in range(2):
            package = drawn(length, seed)
            assert all(budget.denominator == 1 and budget >= 1 for budget in package.budgets)
            optima = solve_all(package, package.budgets)
            assert [optimum.status for optimum in optima] == ["certified"] * 4
            values = [optimum.value for optimum in optima]
            assert values == sorted(set(values))
            assert values[0] < sum(package.weights.values()) / 2


@pytest.mark.parametrize("seed", [-1, True, "7", 1.5])
def test_bad_seeds(seed: object) -> None:
    with pytest.raises(MemAuditError, match="must be a whole number of at least 0"):
        EventGraph().package(seed)  # type: ignore[arg-type]


GOLDEN = {
    (40, 0): "bff2b965d54629e9c8e7613272f5cee0d4087b2eb8b20379f381bf6653ad3e22",
    (7, 1): "7b35156ef3c50bf2f33429304865508bd30caac899c85b75a348366a92a2ae03",
}
"""Digests of two packages. They change only with the words or the order of draws."""


def test_golden_digests() -> None:
    digests = {(length, seed): digest(drawn(length, seed)) for length, seed in GOLDEN}
    assert digests == GOLDEN


def test_seeds_differ_in_content() -> None:
    """200 seeds give 200 packages, also when name and settings are left out."""
    packages = [drawn(7, seed) for seed in range(200)]
    assert len({digest(package) for package in packages}) == 200
    bare = [package.model_copy(update={"name": "x", "attributes": {}}) for package in packages]
    assert len({digest(package) for package in bare}) == 200
    assert len({package.experiences[0].text for package in packages}) > 150


def test_settings_travel_with_the_package() -> None:
    package = EventGraph(Parameters(experiences=9, redundancy=Fraction(1, 3))).package(4)
    assert package.name == "event_graph-4"
    assert package.attributes["seed"] == 4
    assert package.attributes["knobs"] == {"experiences": 9, "redundancy": "1/3"}


def test_dice_are_fair_and_repeat() -> None:
    """Hand-checked: six sides come up alike, a chance of 1 always, of 0 never, seeds repeat."""
    dice = Dice(1)
    rolls = Counter(dice.below(6) for _ in range(6000))
    assert sorted(rolls) == list(range(6))
    assert all(900 < times < 1100 for times in rolls.values())
    assert all(dice.chance(Fraction(1)) and not dice.chance(Fraction(0)) for _ in range(100))
    assert {dice.between(3, 5) for _ in range(100)} == {3, 4, 5}
    assert sorted(dice.shuffled(range(50))) == list(range(50))
    assert Dice(0).bits() == 0.8444218515250481 * 2**53  # the first `random()` of seed 0
