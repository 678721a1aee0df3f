"""Uncovered cells that drawn ones stand for: exactly those that the key's weights count."""

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.building.label_passes import CellKey
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import Label
from memaudit.kernel.package.package import Package
from memaudit.lab.labels.audited_package import AuditedPackage, audited_package
from memaudit.lab.labels.frame import Frame, LabelSet
from memaudit.lab.labels.frame_drawing import Design, draw
from memaudit.lab.labels.label_samples import (
    LabelOdds,
    LabelPair,
    LabelSamples,
    PackageSamples,
    RepresentedCells,
    label_samples,
    represented_cells,
)
from memaudit.lab.labels.label_sources import package_source, source_of_annotator
from memaudit.lab.labels.package_cells import Strata, cells_of
from tests.lab.labels.small_frames import grid, packages_with_sessions
from tests.lab.labels.test_package_cells import package_with_passes
from tests.lab.labels.tiny_package import F


def represented(frame: Frame, *packages: Package, keyed: bool = True) -> RepresentedCells:
    cases = [audited_package(one) for one in packages]
    labels = LabelSet("ann", dict.fromkeys((one.id for one in frame.cells), "none"))
    frame = frame if keyed else Frame(frame.cells)
    own = package_source(cases, [source_of_annotator(labels, frame, cases)])
    return represented_cells(cases, own, frame, {one.name: Strata(one.scored) for one in cases})


@settings(max_examples=50)
@given(packages_with_sessions(), st.fractions(0, 1, max_denominator=6), st.integers(0, 3))
def test_all_uncovered_cells_are_stood_for(package: Package, rate: Fraction, seed: int) -> None:
    try:
        frame = draw([package], Design(seed, rate)).frame
    except MemAuditError:  # nothing is covered, and nothing was to be drawn of the rest
        return
    found = represented(frame, package)
    held = {(one.candidate, one.unit) for one in frame.cells}
    beyond = set(found.cells[package.name])
    assert not held & beyond
    every = {(one.candidate.id, one.unit.id) for one in cells_of(package)}
    if rate:
        assert held | beyond == every
        assert found.untouched == 0
    assert found.expected == (found.number or None)
    assert found.available == found.number


def test_a_fifth() -> None:
    """1,200 cells, 100 covered: 220 of 1,100 are drawn, 880 are not."""
    package = grid("first")
    frame = draw([package], Design()).frame
    found = represented(frame, package)
    assert (found.number, found.expected, found.untouched) == (880, 880, 0)


def test_without_weights() -> None:
    """No key, or one that counts every cell once: nothing is stood for, 880 cells are not drawn."""
    package = grid("first")
    frame = draw([package], Design()).frame
    bare = represented(frame, package, keyed=False)
    assert (bare.number, bare.expected, bare.untouched) == (0, None, 880)
    flat = {id: replace(one, weight=Fraction(1)) for id, one in frame.key.items()}
    assert represented(Frame(frame.cells, flat), package).untouched == 880
    census = draw([package], Design(zero_rate=Fraction(1))).frame
    assert represented(census, package) == RepresentedCells({"grid": []})


def test_some_of_the_packages() -> None:
    """Of a frame over two packages one is audited: its own cells are found, and how many there
    should be is not known. A package that the frame was not drawn from is left alone."""
    one, other, third = (grid("first", name) for name in ("one", "other", "third"))
    frame = draw([one, other], Design()).frame
    found = represented(frame, one)
    held = sum(cell.package == "one" for cell in frame.cells)
    assert (found.number, found.expected) == (1200 - held, None)
    found = represented(frame, one, other, third)
    assert (found.number, found.expected, found.untouched) == (2 * 880, 2 * 880, 1100)
    assert found.cells["third"] == []


def test_judged_cells_only() -> None:
    """Session by session, two memories times two units were judged, and two of these cells are not
    covered: one is drawn and stands for the other. The other 4 cells of the two memories and 3 of
    the raw turn's are nobody's. All judged, 6 are not covered, 3 of a session and 3 of the other.
    """
    half = Design(zero_rate=Fraction(1, 2), judged_only=True)
    package = package_with_passes("session", 4)
    found = represented(draw([package], half).frame, package)
    assert (found.number, found.expected, found.untouched) == (1, 1, 7)
    assert found.cells["p"][0] in {("m1", "u2"), ("m2", "u4")}
    package = package_with_passes("conversation", 8)
    found = represented(draw([package], half).frame, package)
    assert (found.number, found.expected, found.untouched) == (3, 3, 3)
    assert {at[0] for at in found.cells["p"]} <= {"m1", "m2"}


def test_a_package_that_changed() -> None:
    package = grid("first")
    frame = draw([package], Design()).frame
    held = {(one.candidate, one.unit) for one in frame.cells}
    more = [at for at in represented(frame, package).cells["grid"] if at not in held][:10]
    rows = [{"candidate": candidate, "unit": unit, "value": 1} for candidate, unit in more]
    data = package.model_dump(mode="python")
    changed = Package.model_validate({**data, "coverage": [*data["coverage"], *rows]})
    found = represented(frame, changed)
    assert (found.available, found.expected) == (870, 880)


ZERO_TO_FULL = {"fact": 0.04, "summary": 0.12}
"""The chance that an annotator calls an uncovered cell full."""
FULL_TO_PARTIAL = 0.2
SIZE = 100, 30
COVERED = 300
DRAWS = 30


def noisy_package(name: str) -> Package:
    """50 facts and 50 summaries by 30 units: 3,000 cells, the first three units of all covered."""
    kinds = ("fact", "summary")
    return Package.model_validate(
        {
            "name": name,
            "experiences": [{"id": "e", "session": "s"}],
            "candidates": [
                {"id": f"m{c}", "experience": "e", "kind": kinds[c % 2], "cost": 1}
                for c in range(SIZE[0])
            ],
            "units": [
                {"id": f"u{u}", "kind": "fact", "sources": [{"id": "e", "session": "s"}]}
                for u in range(SIZE[1])
            ],
            "coverage": [
                {"candidate": f"m{c}", "unit": f"u{u}", "value": 1}
                for c in range(SIZE[0])
                for u in range(3)
            ],
        }
    )


def noisy(name: str, frame: Frame, seed: int) -> LabelSet:
    dice = random.Random(seed)
    labels: dict[str, Label] = {}
    for one in frame.cells:
        number = dice.random()
        if frame.key[one.id].value:
            labels[one.id] = "partial" if number < FULL_TO_PARTIAL else "full"
        else:
            labels[one.id] = "full" if number < ZERO_TO_FULL[one.candidate_kind] else "none"
    return LabelSet(name, labels)


def noisy_draws(rate: Fraction, keyed: bool = True) -> LabelSamples:
    cases = [audited_package(noisy_package(f"p{n}")) for n in range(4)]
    return _doubts(cases, draw([one.package for one in cases], Design(7, rate)).frame, keyed)


def _doubts(cases: list[AuditedPackage], frame: Frame, keyed: bool) -> LabelSamples:
    sets = [noisy("ann", frame, 1), noisy("ben", frame, 2)]
    frame = frame if keyed else Frame(frame.cells)
    readings = [source_of_annotator(one, frame, cases) for one in sets]
    return label_samples(cases, readings, package_source(cases, readings), frame)


def flips(found: LabelSamples) -> float:
    return mean(
        sum(len(found.labels(place, 0, number)) for place in range(4)) for number in range(DRAWS)
    )


@pytest.mark.parametrize("rate", [F(1, 5), F(1, 2), F(1)])
def test_noise_of_known_rates(rate: Fraction) -> None:
    """Each kind has 4 x 1,350 uncovered cells. A fifth of them is 1,080 labelled twice: 4 standard
    deviations of a rate of 0.12 are 4 sqrt(0.12 x 0.88 / 2160) = 0.028, of 0.04 they are 0.017;
    leaning on wider groups moves rates of so many labels by less than 0.001.

    In all, 5,400 x 0.16 + 1,200 x 0.2 = 1,104 labels turn out otherwise, whatever share was
    drawn; 4 deviations of the two measured rates and of the mean of 30 draws are within 240.
    """
    found = noisy_draws(rate)
    for kind, truth in ZERO_TO_FULL.items():
        odds = found.odds.odds(F(0), (kind, "fact", True))
        assert abs(float(odds[F(1)]) - truth) < 0.03
        assert set(odds) == {F(0), F(1)}
    assert abs(float(found.odds.shares(F(1))[F(1, 2)]) - FULL_TO_PARTIAL) < 0.04
    assert abs(found.expected_changes - 1104) < 240
    # The draws themselves: the sum of independent flips, 4 deviations of a mean of 30 are 25.
    assert abs(flips(found) - found.expected_changes) < 25


def test_the_frames_own_cells_alone_say_too_little() -> None:
    """Without the key only 2,160 drawn and 1,200 covered cells are in doubt: 0.16 x 1,080 + 240 =
    413 flips where there should be 1,104."""
    found = noisy_draws(F(1, 5), keyed=False)
    assert found.represented.number == 0
    assert abs(found.expected_changes - 413) < 80
    assert found.represented.untouched == 4 * 2700 - 2160


HALF = F(1, 2)
PACKAGE = grid("first", candidates=100, units=30)
STRATA = Strata(PACKAGE)
STRATUM = STRATA.of("m0", "u0")
CELLS: list[CellKey] = [(one.id, unit.id) for one in PACKAGE.candidates for unit in PACKAGE.units]


def odds_of_full(**stays: int) -> LabelOdds:
    """Of 100 full labels, this many are said to be none, partial, full."""
    values = {"none": F(0), "partial": HALF, "full": F(1)}
    return LabelOdds({LabelPair(STRATUM, F(1), values[name], F(1)): n for name, n in stays.items()})


def test_draws_follow_the_odds() -> None:
    """Of 3,000 full cells about 1 in 10 is none and 1 in 4 partial (within 5 deviations: 82 and
    119); their number is what is expected, and a label that nobody was asked about stays."""
    start = dict.fromkeys(CELLS, F(1)) | {("m0", "u0"): F(1, 3)}
    doubt = PackageSamples("p", start, STRATA, odds_of_full(none=10, partial=25, full=65))
    found = doubt.drawn(3, 0)
    counts = Counter(found.values())
    assert set(counts) == {F(0), HALF}
    assert abs(counts[F(0)] - 300) < 82
    assert abs(counts[HALF] - 750) < 119
    assert abs(doubt.expected_changes - 0.35 * 2999) < 1e-6
    assert ("m0", "u0") not in found


def test_draws_repeat_and_differ() -> None:
    start = dict.fromkeys(CELLS[:40], F(1))
    draws = [
        tuple(
            PackageSamples(package, start, STRATA, odds_of_full(none=1, full=1))
            .drawn(seed, draw)
            .items()
        )
        for seed, draw, package in ((0, 0, "p"), (0, 0, "p"), (0, 1, "p"), (1, 0, "p"), (0, 0, "q"))
    ]
    assert draws[0] == draws[1]
    assert max(Counter(draws).values()) == 2


def test_certain_and_impossible_labels() -> None:
    """Odds of 1 turn every cell, odds of 0 none; no cells, no draws."""
    start = dict.fromkeys(CELLS[:50], F(1))
    assert PackageSamples("p", start, STRATA, odds_of_full(partial=9)).drawn(0, 0) == dict.fromkeys(
        start, HALF
    )
    assert PackageSamples("p", start, STRATA, odds_of_full(full=9)).drawn(0, 0) == {}
    nothing = PackageSamples("p", {}, STRATA, odds_of_full(full=9))
    assert (nothing.drawn(0, 0), nothing.expected_changes) == ({}, 0)
