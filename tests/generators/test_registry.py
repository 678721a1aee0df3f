"""Distributions by name."""

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.generators.registry import DISTRIBUTIONS, named_distribution


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_every_distribution_says_what_it_is(name: str) -> None:
    """Name, a line about it, and packages that validate."""
    distribution = named_distribution(name)
    assert distribution.name == name
    assert 10 < len(distribution.about) < 90
    assert distribution.package(1).candidates


def test_knobs_in_the_name() -> None:
    """The event graph takes settings."""
    package = named_distribution("event_graph:experiences=9:update_rate=0.5").package(0)
    assert len(package.experiences) == 9


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("bass", "unknown distribution 'bass'"),
        ("base:experiences=9", "has no knobs"),
        ("event_graph:experience=9", "no setting 'experience=9'"),
        ("event_graph:experiences", "no setting 'experiences'"),
        (f"event_graph:experiences={'9' * 5000}", "experiences has 5000 letters"),
        ("event_graph:experiences=6", "from 7 to 10000"),
        ("event_graph:update_rate=lots", "from 0 to 1"),
    ],
)
def test_wrong_names(name: str, line: str) -> None:
    """One clear line."""
    with pytest.raises(MemAuditError, match=line):
        named_distribution(name)
