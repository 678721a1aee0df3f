"""Every knob does what it says, and says what it takes."""

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.generators.event_graph import EventGraph, Parameters
from tests.generators.event_graph.reading import count, slots


def many(**values: Any) -> list[Package]:
    return [EventGraph(Parameters(experiences=80, **values)).package(seed) for seed in range(6)]


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
    ("name", "measure"),
    [("update_rate", supersessions), ("interval_rate", intervals), ("redundancy", repeats),
     ("scope_shifts", shifts), ("distractors", small_talk)],
)  # fmt: skip
def test_more_of_it(name: str, measure: Any) -> None:
    """At 0 there is none; a higher value gives more."""
    counts = [
        sum(map(measure, many(**{name: share}))) for share in (0, Fraction(1, 5), Fraction(4, 5))
    ]
    assert counts[0] == 0
    assert counts[0] < counts[1] < counts[2]


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
        Parameters,
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
def test_any_setting_gives_a_package(parameters: Parameters, seed: int) -> None:
    package = EventGraph(parameters).package(seed)
    assert len(package.experiences) == parameters.experiences
    assert small_talk(package) == int(parameters.experiences * parameters.distractors)


@pytest.mark.parametrize(
    ("values", "line"),
    [({"experiences": 6}, "event_graph: experiences is 6; give a whole number from 7 to 10000"),
     ({"experiences": 10001}, "from 7 to 10000"), ({"experiences": 7.0}, "a whole number"),
     ({"experiences": True}, "a whole number"), ({"chain_length": 1}, "from 2 to 8"),
     ({"update_rate": 2}, "event_graph: update_rate is 2; give a number from 0 to 1"),
     ({"redundancy": "often"}, "redundancy is 'often'"), ({"redundancy": None}, "from 0 to 1"),
     ({"interval_rate": -1}, "from 0 to 1"), ({"scope_shifts": float("nan")}, "from 0 to 1"),
     ({"distractors": 1}, "from 0 to 0.9")],
)  # fmt: skip
def test_bad_parameters(values: dict[str, Any], line: str) -> None:
    with pytest.raises(MemAuditError) as caught:
        Parameters(**values)
    assert line in str(caught.value)


def test_shares_in_any_form() -> None:
    """0.2, "0.2", "1/5" and Fraction(1, 5) are the same setting."""
    assert Parameters(redundancy=0.2) == Parameters(redundancy="1/5") == Parameters()  # type: ignore[arg-type]
    assert Parameters(redundancy=0.2).changed() == {}  # type: ignore[arg-type]
