"""Distributions by name; the published ones against their parameters, worked out by hand."""

from fractions import Fraction
from random import Random

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.lab.sweeps.generators.registry import DISTRIBUTIONS, PUBLISHED, named_distribution

F = Fraction

SIZES = {  # experiences, candidates, units, cells
    "base": (7, 25, 11, 41),
    "update_chain": (4, 18, 7, 30),
    "temporal_interval": (7, 30, 26, 73),
    "density_trap": (5, 20, 9, 45),
    "scope_shift": (5, 17, 9, 40),
    "redundancy_heavy": (5, 20, 9, 40),
    "summary_tradeoff": (5, 25, 15, 55),
    "abstention_hard": (5, 23, 15, 39),
}


def cells(package: Package, candidate: str) -> dict[str, Fraction]:
    return {row.unit: row.value for row in package.coverage if row.candidate == candidate}


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes(name: str) -> None:
    """Counted from the published tables at normal_count 3 and update_count 2."""
    package = named_distribution(name).package(0)
    tables = (package.experiences, package.candidates, package.units, package.coverage)
    assert tuple(map(len, tables)) == SIZES[name]


@pytest.mark.parametrize("seed", [0, 1, 7, 499])
def test_base_draws(seed: int) -> None:
    """Weight before cost for each statement; current before invalid for each correction."""
    dice = Random(seed)
    weights: dict[str, Fraction] = {}
    raw_costs = []
    for i in range(3):
        weights[f"fact {i}"] = F(str(dice.choice([1.0, 1.2, 1.4])))
        raw_costs.append(5 + dice.randint(0, 1))
    for i in range(2):
        weights[f"current {i}"] = 2 + F(1, 4) * dice.randint(0, 2)
        weights[f"invalid {i}"] = 2 + F(1, 4) * dice.randint(0, 2)
    package = named_distribution("base").package(seed)
    assert {unit: package.weights[unit] for unit in weights} == weights
    assert [package.candidate[f"e{i}.raw"].cost for i in range(3)] == raw_costs
    assert package.weights["context 0"] == F("0.35")
    assert package.weights["stale 1"] == F("0.15")


def test_base_correction() -> None:
    package = named_distribution("base").package(0)
    costs = {
        candidate.kind: candidate.cost
        for candidate in package.candidates
        if candidate.experience == "e4"
    }
    assert costs == {"raw": 6, "fact": 2, "tombstone": 1, "compound_update": 3, "summary": 4}
    assert cells(package, "e4.raw") == {"current 0": 1, "invalid 0": F("0.45"), "stale 0": F("0.2")}
    assert cells(package, "e4.compound_update") == {"current 0": 1, "invalid 0": 1}


@pytest.mark.parametrize(
    ("name", "salt", "draws"),
    [
        ("density_trap", 11, [("specific", "1.45", "0.15", 3)]),
        ("redundancy_heavy", 41, [("tail", "1.0", "0.15", 3)]),
        ("summary_tradeoff", 37, [("primary", "1.35", "0.15", 3), ("secondary", "1", "0.1", 2)]),
    ],
)
def test_salted_draws(name: str, salt: int, draws: list[tuple[str, str, str, int]]) -> None:
    """One draw per unit and experience from Random((seed + 1) * 1000003 + salt), in this order."""
    for seed in (0, 3, 250):
        dice = Random((seed + 1) * 1_000_003 + salt)
        weights = named_distribution(name).package(seed).weights
        for i in range(5):
            for unit, start, step, count in draws:
                assert weights[f"{unit} {i}"] == F(start) + F(step) * dice.randrange(count)


def test_even_and_odd() -> None:
    """abstention_hard alternates; each parity has its own draw."""
    dice = Random(1 * 1_000_003 + 53)
    package = named_distribution("abstention_hard").package(0)
    for i in range(5):
        if i % 2 == 0:
            assert package.weights[f"abstain {i}"] == 2 + F("0.15") * dice.randrange(3)
        else:
            assert package.weights[f"answer {i}"] == F("1.75") + F("0.15") * dice.randrange(2)
    assert package.candidate["e0.fact"].confidence == F("0.42")
    assert package.candidate["e1.abstention"].confidence == F("0.5")


def test_chain_weights() -> None:
    """Every version but the last ends at 0.1, the last at 2.3."""
    weights = named_distribution("update_chain").package(0).weights
    assert [weights[f"version {k}"] for k in range(4)] == [F("0.1")] * 3 + [F("2.3")]
    assert {weights[f"invalidates {k}"] for k in range(3)} == {F("1.85")}


def test_last_scope_experience_covers_all() -> None:
    package = named_distribution("scope_shift").package(0)
    scopes = ("home", "work", "travel", "medical")
    assert package.candidate["e4.summary"].cost == 4
    assert cells(package, "e4.summary") == {
        **{f"preference at {scope}": F("0.42") for scope in scopes},
        **{f"context of {scope}": F("0.35") for scope in scopes},
    }


def test_two_candidates_of_one_kind_in_a_group() -> None:
    package = named_distribution("density_trap").package(0)
    assert [package.candidate[id].cost for id in ("e0.fact", "e0.fact2")] == [1, 2]


def test_seeds_differ_where_there_are_draws() -> None:
    for name in PUBLISHED:
        distribution = named_distribution(name)
        digests = {digest(distribution.package(seed)) for seed in range(5)}
        assert len(digests) == (5 if distribution.draws else 1)
    fixed = {name for name in PUBLISHED if not named_distribution(name).draws}
    assert fixed == {"update_chain", "temporal_interval"}


def test_pinned_digests() -> None:
    assert digest(named_distribution("base").package(0)).startswith("cd5c2d1373bf10db")


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
