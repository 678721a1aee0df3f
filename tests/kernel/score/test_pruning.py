"""What a store keeps within a budget, by one rule."""

from collections import Counter
from dataclasses import replace

import pytest

from memaudit.kernel.score.priced_store import JudgedStore, WrittenDocument
from memaudit.kernel.score.pruning import (
    NoSuchOrder,
    Policy,
    default_policy,
    keep_within,
    prune,
    random_cuts,
    usable_policies,
)
from tests.kernel.score.small_stores import LONG, F, memory

salient = zip(LONG.memories, (2, 3, 2), strict=True)
RATED = JudgedStore("rated", tuple(replace(one, salience=F(level)) for one, level in salient))


FILE = JudgedStore(
    "file",
    (
        *(
            replace(memory(f"L{line}", cost), document="d", first_line=line, has_order=False)
            for line, cost in ((1, 2), (2, 3), (3, 1))
        ),
        memory("p1", 1),
        memory("p2", 2),
    ),
    documents=(WrittenDocument("d", "text", F(6), ("L1", "L2", "L3")),),
)
"""Three entries of a file, and two passages that were written one after the other."""


@pytest.mark.parametrize(
    ("store", "policy", "budget", "ids"),
    [
        (LONG, "recency", 6, ("m2", "m3")),
        (LONG, "recency", 5, ("m1", "m3")),  # m2 is too expensive, the next one fits
        (LONG, "recency", 0, ()),
        (RATED, "salience", 6, ("m2", "m3")),  # of equals the newest first
        (RATED, "salience", 1, ("m3",)),
        (FILE, "top", 4, ("L1",)),  # the third line would fit, but a file is cut off
        (FILE, "top", 8, ("L1", "L2", "L3", "p2")),  # passages after the file, the newest first
        (FILE, "top", 7, ("L1", "L2", "L3")),  # p2 is too much, and p1 is older
    ],
)
def test_policies(store: JudgedStore, policy: Policy, budget: int, ids: tuple[str, ...]) -> None:
    """In order of writing, whatever order the policy takes them in."""
    kept = keep_within(store, F(budget), policy)
    assert kept.ids == tuple(f"{store.name}/{id}" for id in ids)
    assert kept.kept_by == f"cut by {policy}"


def test_a_policy_needs_a_score_of_every_memory() -> None:
    """Where one is missing the policy is an error, is not usable, and has no row. Recency needs
    the times of all entries, `top` needs a file."""
    first, *others = RATED.memories
    partly = replace(RATED, memories=(replace(first, salience=None), *others))
    for store, usable in (
        (LONG, ["recency"]),
        (partly, ["recency"]),
        (RATED, ["recency", "salience"]),
        (FILE, ["top"]),
    ):
        assert usable_policies(store) == usable
        assert default_policy(store) == usable[0]
        assert keep_within(store, F(1)).policy == usable[0]
    with pytest.raises(NoSuchOrder, match="'rated' has no salience for every memory; use rec"):
        prune(partly, F(5), "salience")
    with pytest.raises(NoSuchOrder, match="no query_salience"):
        keep_within(RATED, F(5), "query_salience")
    with pytest.raises(NoSuchOrder, match=r"'file' has entries without times, so .*; use top"):
        keep_within(FILE, F(5), "recency")
    with pytest.raises(NoSuchOrder, match=r"'long' has no documents to cut .*; use recency"):
        prune(LONG, F(5), "top")
    assert usable_policies(JudgedStore("empty", ())) == ["recency", "salience", "query_salience"]


def test_random_cuts_and_what_fits() -> None:
    """In 5 words goes either the memory of 5, which is first in a third of the orders, or
    both others. All of a file is kept if it fits, whatever its entries cost alone."""
    kept = Counter(random_cuts(LONG, F(5), 300))
    assert kept.keys() == {("long/m2",), ("long/m1", "long/m3")}
    assert 75 < kept["long/m2",] < 125
    cheap = replace(FILE, documents=(replace(FILE.documents[0], cost=F(2)),))
    assert cheap.cost == 5
    assert list(random_cuts(cheap, F(5))) == [cheap.candidate_ids]
    whole = keep_within(LONG, F(7), "salience")
    assert (whole.ids, whole.policy, whole.kept_by) == (LONG.candidate_ids, None, "everything fits")
