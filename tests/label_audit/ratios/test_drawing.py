"""Draws of labels: they follow the odds, repeat, and stay with what was seen."""

from collections import Counter

from memaudit.label_audit.audited_package import Cell
from memaudit.label_audit.doubtful_cells import Doubt
from memaudit.label_audit.label_confusion import Chances, Seen
from memaudit.label_audit.population import Strata
from tests.label_audit.frames.making import grid
from tests.label_audit.ratios.tiny import F

HALF = F(1, 2)
PACKAGE = grid("first", candidates=100, units=30)
STRATA = Strata(PACKAGE)
STRATUM = STRATA.of("m0", "u0")
CELLS: list[Cell] = [(one.id, unit.id) for one in PACKAGE.candidates for unit in PACKAGE.units]


def chances(**stays: int) -> Chances:
    """Of 100 full labels, this many are said to be none, partial, full."""
    values = {"none": F(0), "partial": HALF, "full": F(1)}
    return Chances({Seen(STRATUM, F(1), values[name], F(1)): n for name, n in stays.items()})


def test_draws_follow_the_odds() -> None:
    """Of 3,000 full cells about 1 in 10 is none and 1 in 4 partial (within 5 deviations: 82 and
    119); their number is what is expected, and a label that nobody was asked about stays."""
    start = dict.fromkeys(CELLS, F(1)) | {("m0", "u0"): F(1, 3)}
    doubt = Doubt("p", start, STRATA, chances(none=10, partial=25, full=65))
    found = doubt.drawn(3, 0)
    counts = Counter(found.values())
    assert set(counts) == {F(0), HALF}
    assert abs(counts[F(0)] - 300) < 82
    assert abs(counts[HALF] - 750) < 119
    assert abs(doubt.expected - 0.35 * 2999) < 1e-6
    assert ("m0", "u0") not in found


def test_draws_repeat_and_differ() -> None:
    """The same seed, draw and package give the same labels; another of them gives others."""
    start = dict.fromkeys(CELLS[:40], F(1))
    draws = [
        tuple(Doubt(package, start, STRATA, chances(none=1, full=1)).drawn(seed, draw).items())
        for seed, draw, package in ((0, 0, "p"), (0, 0, "p"), (0, 1, "p"), (1, 0, "p"), (0, 0, "q"))
    ]
    assert draws[0] == draws[1]
    assert max(Counter(draws).values()) == 2


def test_certain_and_impossible_labels() -> None:
    """Odds of 1 turn every cell, odds of 0 none; no cells, no draws."""
    start = dict.fromkeys(CELLS[:50], F(1))
    assert Doubt("p", start, STRATA, chances(partial=9)).drawn(0, 0) == dict.fromkeys(start, HALF)
    assert Doubt("p", start, STRATA, chances(full=9)).drawn(0, 0) == {}
    nothing = Doubt("p", {}, STRATA, chances(full=9))
    assert (nothing.drawn(0, 0), nothing.expected) == ({}, 0)
