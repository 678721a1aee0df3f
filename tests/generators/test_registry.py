"""Distributions by name."""

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.generators.registry import DISTRIBUTIONS, named_distribution


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_every_distribution_says_what_it_is(name: str) -> None:
    distribution = named_distribution(name)
    assert distribution.name == name
    assert 10 < len(distribution.about) < 90
    assert distribution.package(1).candidates


def test_parameters_in_the_name() -> None:
    package = named_distribution("event_graph:experiences=9:update_rate=0.5").package(0)
    assert len(package.experiences) == 9


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("bass", "unknown distribution 'bass'"),
        ("base:experiences=9", "takes no parameters"),
        ("event_graph:experience=9", "no parameter 'experience=9'"),
        ("event_graph:experiences", "no parameter 'experiences'"),
        (f"event_graph:experiences={'9' * 5000}", "experiences has 5000 characters"),
        ("event_graph:update_rate=1:update_rate=0", "update_rate is given twice"),
        ("event_graph:update_rate=lots", "from 0 to 1"),
    ],
)
def test_wrong_names(name: str, line: str) -> None:
    with pytest.raises(MemAuditError, match=line):
        named_distribution(name)
