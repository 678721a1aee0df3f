"""Label noise of known rates on a sampled frame: the odds found, and the flips drawn, match it."""

import random
from fractions import Fraction
from statistics import mean

import pytest

from memaudit.core.package import Package
from memaudit.label_audit.audited_package import Case, case_of
from memaudit.label_audit.cells import Frame, Label, LabelSet
from memaudit.label_audit.doubtful_cells import Doubts, doubts
from memaudit.label_audit.frame_drawing import Design, draw
from memaudit.label_audit.label_confusion import Confusion
from memaudit.label_audit.readings import annotated, own_reading

F = Fraction
ZERO_TO_FULL = {"fact": 0.04, "summary": 0.12}
"""The chance that an annotator calls an uncovered cell full."""
FULL_TO_PARTIAL = 0.2
SIZE = 100, 30
COVERED = 300
DRAWS = 30


def package(name: str) -> Package:
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
    """An annotator with the rates above."""
    dice = random.Random(seed)
    labels: dict[str, Label] = {}
    for one in frame.cells:
        number = dice.random()
        if frame.key[one.id].value:
            labels[one.id] = "partial" if number < FULL_TO_PARTIAL else "full"
        else:
            labels[one.id] = "full" if number < ZERO_TO_FULL[one.candidate_kind] else "none"
    return LabelSet(name, labels)


def measured(rate: Fraction, keyed: bool = True, confusion: Confusion = "package") -> Doubts:
    """Four packages, a frame with this share of uncovered cells, and two annotators."""
    cases = [case_of(package(f"p{n}")) for n in range(4)]
    return _doubts(cases, draw([one.package for one in cases], Design(7, rate)).frame, keyed,
                   confusion)  # fmt: skip


def _doubts(cases: list[Case], frame: Frame, keyed: bool, confusion: Confusion) -> Doubts:
    sets = [noisy("ann", frame, 1), noisy("ben", frame, 2)]
    frame = frame if keyed else Frame(frame.cells)
    readings = [annotated(one, frame, cases) for one in sets]
    return doubts(cases, readings, own_reading(cases, readings), frame, confusion)


def flips(found: Doubts) -> float:
    """Labels that turn out otherwise in a draw, all packages together, on average."""
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
    found = measured(rate)
    for kind, truth in ZERO_TO_FULL.items():
        odds = found.chances.odds(F(0), (kind, "fact", True))
        assert abs(float(odds[F(1)]) - truth) < 0.03
        assert set(odds) == {F(0), F(1)}
    assert abs(float(found.chances.shares(F(1))[F(1, 2)]) - FULL_TO_PARTIAL) < 0.04
    assert abs(found.expected - 1104) < 240
    # The draws themselves: the sum of independent flips, 4 deviations of a mean of 30 are 25.
    assert abs(flips(found) - found.expected) < 25


def test_the_frames_own_cells_alone_say_too_little() -> None:
    """Without the key only 2,160 drawn and 1,200 covered cells are in doubt: 0.16 x 1,080 + 240 =
    413 flips where there should be 1,104."""
    found = measured(F(1, 5), keyed=False)
    assert found.outside.number == 0
    assert abs(found.expected - 413) < 80
    assert found.outside.untouched == 4 * 2700 - 2160


def test_confusion_between_annotators() -> None:
    """None is only said of uncovered cells, with 1 - p, and then the other annotator says full with
    p: over both kinds (0.04 x 0.96 + 0.12 x 0.88) / (0.96 + 0.88) = 0.078, weighed or not.

    Full is said of 960 covered cells by each, and of 864 uncovered ones, if all were labelled; of
    the latter the other says none in 5,400 x (0.04 x 0.96 + 0.12 x 0.88) = 778, so full turns into
    none with 778 / 1,824 = 0.426. The frame itself holds a fifth of the uncovered cells and all of
    the others: without weights it says 156 / (960 + 173) = 0.137.
    """
    weighed = measured(F(1, 5), confusion="annotators").chances
    assert abs(float(weighed.shares(F(0))[F(1)]) - 0.078) < 0.02
    assert abs(float(weighed.shares(F(1))[F(0)]) - 0.426) < 0.05
    bare = measured(F(1, 5), keyed=False, confusion="annotators").chances
    assert abs(float(bare.shares(F(1))[F(0)]) - 0.137) < 0.05
