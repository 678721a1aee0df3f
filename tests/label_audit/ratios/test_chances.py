"""How labels may turn out: shares by weight, and small groups leaning on wider ones."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from memaudit.label_audit.label_confusion import LEAN, Chances, Seen
from memaudit.label_audit.population import Stratum
from tests.label_audit.ratios.tiny import F

HALF = F(1, 2)
FACT: Stratum = ("fact", "event", True)
AWAY: Stratum = ("fact", "event", False)
SUMMARY: Stratum = ("summary", "event", True)


def seen(stratum: Stratum, label: Fraction, other: Fraction, weight: int = 1) -> Seen:
    return Seen(stratum, label, other, F(weight))


def test_one_stratum_counts_labels() -> None:
    """Three of four full cells stay full: in the stratum the same as overall, as there is nothing
    else to lean on."""
    found = Chances({seen(FACT, F(1), F(1)): 3, seen(FACT, F(1), HALF): 1})
    assert found.shares(F(1)) == found.odds(F(1), FACT) == {HALF: F(1, 4), F(1): F(3, 4)}
    assert found.counts[F(1), HALF] == 1
    assert found.labels == [1]
    assert found.shares(HALF) == found.odds(HALF, FACT) == {}


def test_weights_are_cells_stood_for() -> None:
    """Facts: 1 of 10 drawn cells flips, each stands for 9. Summaries: 5 of 10 flip, each for 1.
    Of 100 cells, 9 + 5 flip; without weights it would be 6 of 20."""
    found = Chances({
        seen(FACT, F(0), F(0), 9): 9, seen(FACT, F(0), F(1), 9): 1,
        seen(SUMMARY, F(0), F(0)): 5, seen(SUMMARY, F(0), F(1)): 5,
    })  # fmt: skip
    assert found.shares(F(0))[F(1)] == F(14, 100)
    # In a stratum all weigh the same: 10 labels, and LEAN more of the next wider group.
    kind = (10 * HALF + LEAN * F(14, 100)) / (10 + LEAN)
    same = (10 * HALF + LEAN * kind) / (10 + LEAN)
    assert found.odds(F(0), SUMMARY)[F(1)] == (10 * HALF + LEAN * same) / (10 + LEAN)


def test_a_group_without_labels_has_those_of_the_wider_one() -> None:
    """Facts of another session were never labelled: what is known of facts holds for them; of a
    kind that nobody labelled, what is known of all cells."""
    found = Chances({
        seen(FACT, F(0), F(0)): 8, seen(FACT, F(0), F(1)): 2, seen(SUMMARY, F(0), F(0)): 10,
    })  # fmt: skip
    facts = (10 * F(1, 5) + LEAN * F(1, 10)) / (10 + LEAN)
    assert found.odds(F(0), AWAY)[F(1)] == facts
    assert found.odds(F(0), ("skill", "event", True)) == found.shares(F(0))


sights = st.builds(
    Seen,
    st.sampled_from((FACT, AWAY, SUMMARY)),
    st.sampled_from((F(0), HALF, F(1))),
    st.sampled_from((F(0), HALF, F(1))),
    st.integers(1, 9).map(F),
)


@given(st.dictionaries(sights, st.integers(1, 40), min_size=1, max_size=12))
def test_odds_are_shares_between_seen_ones(held: dict[Seen, int]) -> None:
    """They sum to 1, nothing is likely that nobody said, and the unit of weight does not matter."""
    found = Chances(held)
    scaled = Chances({one._replace(weight=7 * one.weight): count for one, count in held.items()})
    for label in found.labels:
        for stratum in (FACT, AWAY, SUMMARY):
            odds = found.odds(label, stratum)
            assert sum(odds.values()) == 1
            assert {other for other, share in odds.items() if share} <= {
                one.other for one in held if one.label == label
            }
            assert scaled.odds(label, stratum) == odds


@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_many_labels_lean_little(flips: int, stays: int) -> None:
    """A stratum of n labels is off its own share by at most 3 LEAN / (n + LEAN)."""
    held = {seen(FACT, F(0), F(0)): stays, seen(SUMMARY, F(0), F(1)): 50}
    if flips:
        held[seen(FACT, F(0), F(1))] = flips
    share = F(flips, flips + stays)
    off = abs(Chances(held).odds(F(0), FACT).get(F(1), F(0)) - share)
    assert off <= F(3 * LEAN, flips + stays + LEAN)
