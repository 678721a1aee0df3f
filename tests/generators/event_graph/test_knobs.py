"""Every knob does what it says, and says what it takes."""

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.generators.event_graph import EventGraph, Knobs
from tests.generators.event_graph.reading import count, slots


def many(**knobs: Any) -> list[Package]:
    return [EventGraph(Knobs(experiences=80, **knobs)).package(seed) for seed in range(6)]


def supersessions(package: Package) -> int:
    return count(package, "supersession")


def intervals(package: Package) -> int:
    return count(package, "temporal")


def repeats(package: Package) -> int:
    """Units that are told more than once."""
    return sum(len(unit.sources) > 1 for unit in package.units)


def shifts(package: Package) -> int:
    """Preferences beyond the first of a person and topic."""
    topics: Counter[tuple[str, str]] = Counter()
    for unit in package.units:
        if unit.kind == "preference":
            topics[slots(unit)["who"][0], slots(unit)["what"][0]] += 1
    return sum(topics.values()) - len(topics)


def small_talk(package: Package) -> int:
    """Messages that no unit has its source in."""
    told = {source.id for unit in package.units for source in unit.sources}
    return sum(experience.id not in told for experience in package.experiences)


@pytest.mark.parametrize(
    ("knob", "measure"),
    [("update_rate", supersessions), ("interval_rate", intervals), ("redundancy", repeats),
     ("scope_shifts", shifts), ("distractors", small_talk)],
)  # fmt: skip
def test_more_of_it(knob: str, measure: Any) -> None:
    """At 0 there is none; more of the knob gives more of what it names."""
    counts = [
        sum(map(measure, many(**{knob: share}))) for share in (0, Fraction(1, 5), Fraction(4, 5))
    ]
    assert counts[0] == 0
    assert counts[0] < counts[1] < counts[2]


def test_small_talk_is_counted_exactly() -> None:
    """A quarter of 80 messages is 20."""
    assert {small_talk(package) for package in many(distractors=Fraction(1, 4))} == {20}


@pytest.mark.parametrize("longest", [2, 3, 5, 8])
def test_chains_are_as_long_as_allowed(longest: int) -> None:
    """One value less is superseded than the chain has values; the longest chains do occur."""
    chains: Counter[tuple[int, str, str]] = Counter()
    for seed, package in enumerate(many(chain_length=longest, update_rate=1)):
        for unit in package.units:
            if unit.kind == "supersession":
                who, what = slots(unit)["who"][0], slots(unit)["what"][0]
                chains[seed, who, what] += 1
    assert max(chains.values()) == longest - 1


@given(
    st.builds(
        Knobs,
        experiences=st.integers(7, 130),
        chain_length=st.integers(2, 8),
        update_rate=st.fractions(0, 1),
        interval_rate=st.fractions(0, 1),
        redundancy=st.fractions(0, 1),
        scope_shifts=st.fractions(0, 1),
        distractors=st.fractions(0, Fraction(9, 10)),
    ),
    st.integers(0, 2**70),
)
@settings(max_examples=25, deadline=None)
def test_any_setting_gives_a_package(knobs: Knobs, seed: int) -> None:
    """Whatever the knobs, the stream has its length and small talk its share."""
    package = EventGraph(knobs).package(seed)
    assert len(package.experiences) == knobs.experiences
    assert small_talk(package) == int(knobs.experiences * knobs.distractors)


@pytest.mark.parametrize(
    ("knobs", "line"),
    [({"experiences": 6}, "event_graph: experiences is 6; give a whole number from 7 to 10000"),
     ({"experiences": 10001}, "from 7 to 10000"), ({"experiences": 7.0}, "a whole number"),
     ({"experiences": True}, "a whole number"), ({"chain_length": 1}, "from 2 to 8"),
     ({"update_rate": 2}, "event_graph: update_rate is 2; give a number from 0 to 1"),
     ({"redundancy": "often"}, "redundancy is 'often'"), ({"redundancy": None}, "from 0 to 1"),
     ({"interval_rate": -1}, "from 0 to 1"), ({"scope_shifts": float("nan")}, "from 0 to 1"),
     ({"distractors": 1}, "from 0 to 0.9")],
)  # fmt: skip
def test_bad_knobs(knobs: dict[str, Any], line: str) -> None:
    """One line: which knob, what it was, what it may be."""
    with pytest.raises(MemAuditError) as caught:
        Knobs(**knobs)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_shares_in_any_form() -> None:
    """0.2, "0.2", "1/5" and Fraction(1, 5) are the same setting."""
    assert Knobs(redundancy=0.2) == Knobs(redundancy="1/5") == Knobs()  # type: ignore[arg-type]
    assert Knobs(redundancy=0.2).changed() == {}  # type: ignore[arg-type]
