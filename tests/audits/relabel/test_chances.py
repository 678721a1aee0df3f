"""How labels may turn out, measured by hand, and draws by it."""

from collections import Counter

from memaudit.audits.relabel.chances import Chances, drawn, measured_chances
from memaudit.audits.relabel.readings import own_reading
from tests.audits.relabel.tiny import F, case, reading

HALF = F(1, 2)


def test_shares_by_the_packages_label() -> None:
    """Of the two cells the package covers, annotators call one full twice, the other partial and
    none; the third cell, uncovered, is called none and full."""
    readings = [reading("ann", au="1", bv="0.5", cu="0"), reading("bob", au="1", bv="0", cu="1")]
    found = measured_chances(readings, own_reading([case()], readings))
    assert found.odds == {F(0): {F(0): 1, F(1): 1}, F(1): {F(0): 1, HALF: 1, F(1): 2}}
    assert found.shares(F(1)) == {F(0): F(1, 4), HALF: F(1, 4), F(1): HALF}
    assert found.shares(HALF) == {}


def test_the_packages_own_labels_are_no_other_annotator() -> None:
    """With only them there is no doubt; beside others they do not count."""
    own = reading("own", au="1", bv="1")
    other = reading("ann", au="0.5", bv="1")
    base = own_reading([case()], [own, other])
    assert measured_chances([own], base).odds == {F(1): {F(1): 2}}
    assert measured_chances([own, other], base).odds == {F(1): {HALF: 1, F(1): 1}}


def test_draws_follow_the_odds() -> None:
    """Of 3,000 cells labelled full about a quarter turns out partial (within 5 deviations, 119);
    labels that were never measured stay."""
    own = {(f"m{at}", "u"): F(1) for at in range(3000)} | {("x", "u"): F(1, 3)}
    chances = Chances({F(1): {HALF: 1, F(1): 3}})
    found = drawn(own, chances, seed=3, draw=0, package="p")
    assert set(found.values()) == {HALF}
    assert abs(len(found) - 750) < 119
    assert ("x", "u") not in found


def test_draws_repeat_and_differ() -> None:
    """The same seed, draw and package give the same labels; another of them gives others."""
    own = {(f"m{at}", "u"): F(1) for at in range(40)}
    chances = Chances({F(1): {F(0): 1, F(1): 1}})
    draws = [
        tuple(drawn(own, chances, seed, draw, package).items())
        for seed, draw, package in ((0, 0, "p"), (0, 0, "p"), (0, 1, "p"), (1, 0, "p"), (0, 0, "q"))
    ]
    assert draws[0] == draws[1]
    assert max(Counter(draws).values()) == 2
