"""The same seed gives the same package everywhere; other seeds give others."""

from collections import Counter
from fractions import Fraction

from memaudit.core.digest import digest
from memaudit.generators.event_graph import EventGraph, Knobs
from memaudit.generators.event_graph.dice import Dice

GOLDEN = {
    (40, 0): "bff2b965d54629e9c8e7613272f5cee0d4087b2eb8b20379f381bf6653ad3e22",
    (7, 1): "7b35156ef3c50bf2f33429304865508bd30caac899c85b75a348366a92a2ae03",
}
"""Digests of two packages; they change only with the words or the way of drawing."""


def test_golden_digests() -> None:
    """What is published stays what it is, on any machine and Python."""
    found = {
        (length, seed): digest(EventGraph(Knobs(experiences=length)).package(seed))
        for length, seed in GOLDEN
    }
    assert found == GOLDEN


def test_seeds_differ_in_content() -> None:
    """200 seeds give 200 packages, also when name and settings are left out."""
    packages = [EventGraph(Knobs(experiences=7)).package(seed) for seed in range(200)]
    assert len({digest(package) for package in packages}) == 200
    bare = [package.model_copy(update={"name": "x", "attributes": {}}) for package in packages]
    assert len({digest(package) for package in bare}) == 200
    assert len({package.experiences[0].text for package in packages}) > 150


def test_the_seed_is_all_that_counts() -> None:
    """Drawing other packages in between changes nothing."""
    graph = EventGraph(Knobs(experiences=20))
    before = digest(graph.package(5))
    graph.package(6)
    assert digest(graph.package(5)) == before


def test_settings_travel_with_the_package() -> None:
    """Seed and changed knobs are written down, without floats."""
    package = EventGraph(Knobs(experiences=9, redundancy=Fraction(1, 3))).package(4)
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
