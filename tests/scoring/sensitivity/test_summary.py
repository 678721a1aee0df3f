"""Variants of two tiny stores, scored by hand."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.scoring.sensitivity import (
    FITS,
    RECENCY,
    Finding,
    Spread,
    finding_row,
    findings,
    measured_runs,
    pairings,
    row,
    spread,
)
from memaudit.scoring.sensitivity_variants import Choices, Noise, Variant, mislabelled, variants
from memaudit.scoring.union import Cell, WrittenStore
from memaudit.solvers.solve import solve
from tests.scoring.sensitivity.tiny import LONG, PETS, SHORT, F

QUIET = Choices(noise=())


def found(tried: Iterable[Variant], budget: Fraction) -> list[Finding]:
    """Findings at one budget."""
    return findings(measured_runs(tried, [budget]), [budget])


def means(found: Finding) -> list[tuple[float | None, float | None]]:
    """Kept and upper of each store."""
    return [(one.kept.mean, one.upper.mean) for one in found.stores]


def test_by_hand() -> None:
    """At 3 words OPT of all is 4 (a, and the memory of short), one denominator for both stores:
    over its own union, 3, long would be perfect.

    With two of a group kept, a and b are worth 4 too. In `bytes` every text costs 9.
    """
    rows = {one.variant: one for one in found(variants(PETS, [LONG, SHORT], QUIET), F(3))}
    assert list(rows) == ["base", "cost bytes", "cost tokens:simple", "k = 2", "k = 3"]
    assert means(rows["base"]) == [(0.75, 0.75), (0.25, 0.25)]
    assert means(rows["k = 2"]) == [(0.75, 0.75), (0.25, 0.25)]
    assert means(rows["cost tokens:simple"]) == means(rows["base"])
    assert means(rows["cost bytes"]) == [(None, None), (None, None)]
    assert rows["cost bytes"].stores[0].kept_by == (RECENCY,)
    assert rows["cost bytes"].kept_ranking.tau is None
    assert rows["k = 2"].kept_ranking.tau == 1
    assert rows["k = 2"].kept_ranking.same_order == 1
    assert all(one.uncertified == 0 for one in rows.values())


def test_cost_rule_can_turn_a_ranking() -> None:
    """At 1 word short keeps its memory, 1 of 1, and long nothing; 9 in `bytes` is room for one:
    long is worth 3 of 3, short 1 of 3."""
    choices = replace(QUIET, cost_rules=("bytes",), group_caps=())
    small, large = F(1), F(9)
    base, other = found(variants(PETS, [LONG, SHORT], choices), small)
    assert means(base) == [(0, 0), (1, 1)]
    assert base.stores[0].kept_by == (RECENCY,)
    assert base.stores[1].kept_by == (FITS,)
    assert other.variant == "cost bytes"
    bytes_first = replace(choices, cost_rules=("words",))
    tried = list(variants(PETS, [LONG, SHORT], choices))[1:]
    (nine,) = found(tried, large)
    assert means(nine) == [(1, 1), (pytest.approx(1 / 3), pytest.approx(1 / 3))]
    assert [one.name for one in variants(PETS, [LONG], bytes_first)] == ["base"]


def test_reversed_ranking_has_tau_minus_one() -> None:
    """The base ranks short first at 1 word; a variant whose labels are swapped ranks it last."""
    base, *_ = variants(PETS, [LONG, SHORT], QUIET)
    long, short = base.stores
    cheap = replace(long.memories[0], cost=F(1), coverage=short.memories[0].coverage)
    empty = replace(short.memories[0], coverage={})
    swapped = replace(
        base,
        name="swapped",
        stores=(replace(long, memories=(cheap,)), replace(short, memories=(empty,))),
        package=PETS.replace(cost_rule="declared"),
    )
    _, other = found([base, swapped], F(1))
    assert means(other) == [(1, 1), (0, 0)]
    assert (other.kept_ranking.tau, other.kept_ranking.same_order) == (-1, 0)


def test_noise_over_repetitions() -> None:
    """All labels flipped: a stays (exact) and short is worth 0 or 1/2, so OPT is 3 or 3 1/2 and
    long keeps 0 or half of its 3, draw by draw."""
    choices = Choices((), (), ("flip",), (F(1),), repetitions=12, seed=5)
    _, flipped = found(variants(PETS, [LONG, SHORT], choices), F(3))
    assert (flipped.variant, flipped.repetitions) == ("flip 1", 12)
    drawn, ratios = set(), []
    for repetition in range(12):
        _, (long, short) = mislabelled(PETS, [LONG, SHORT], Noise("flip", F(1), 5, repetition))
        dog = long.memories[0].coverage["dog"].value
        cat = short.memories[0].coverage["cat"].value
        drawn.add((dog, cat))
        ratios.append(float(3 * dog / (3 + cat)))
    kept = flipped.stores[0].kept
    assert {dog for dog, _ in drawn} == {cat for _, cat in drawn} == {0, F(1, 2)}
    assert kept.mean == pytest.approx(sum(ratios) / 12)
    assert (kept.low, kept.high, kept.n) == (0, 0.5, 12)


def test_judges_against_each_other() -> None:
    """Three judges of two stores: the second turns the order round, the third sees nothing.

    At 3 words the base has long 3/4, short 1/4. With dog and cat swapped long is worth 1 and short
    3 of 4: tau is -1. Where nothing is covered all are 0 of 3: a tie orders nothing.
    """
    cells = LONG.memories[0].coverage, SHORT.memories[0].coverage
    swapped = [_covering(LONG, cells[1]), _covering(SHORT, cells[0])]
    nothing = [_covering(LONG, {}), _covering(SHORT, {})]
    quiet = replace(QUIET, cost_rules=(), group_caps=())
    tried = variants(PETS, [LONG, SHORT], quiet, judged={"b": swapped, "c": nothing})
    runs = measured_runs(tried, [F(3)])
    assert list(runs) == ["base", "judge b", "judge c"]
    _, turned, silent = findings(runs, [F(3)])
    assert means(turned) == [(0.25, 0.25), (0.75, 0.75)]
    assert means(silent) == [(0, 0), (0, 0)]
    assert turned.kept_ranking.tau == -1
    pairs = pairings(runs, {"a": "base", "b": "judge b", "c": "judge c"}, [F(3)])
    assert [(one.first, one.second, one.kept_tau, one.upper_tau) for one in pairs] == [
        ("a", "b", -1, -1), ("a", "c", None, None), ("b", "c", None, None),
    ]  # fmt: skip
    assert not pairs[0].same_kept_order
    assert pairings(runs, {"a": "base"}, [F(3)]) == []


def _covering(store: WrittenStore, cells: Mapping[str, Cell]) -> WrittenStore:
    (memory,) = store.memories
    return replace(store, memories=(replace(memory, coverage=cells),))


def test_group_cap_of_the_base() -> None:
    """With a cap of 2 as the base, 1 and 3 are the other ones."""
    quiet = replace(QUIET, cost_rules=())
    names = [one.name for one in variants(PETS, [LONG, SHORT], quiet, group_cap=2)]
    assert names == ["base", "k = 1", "k = 3"]


def test_one_store_has_no_ranking() -> None:
    """Nothing to order."""
    (base, *_) = found(variants(PETS, [LONG], QUIET), F(3))
    assert base.kept_ranking.tau is None
    assert finding_row(base)["kept_ranking"]["defined"] == 0


def test_uncertified_is_counted_and_undefined() -> None:
    """No ratio without a proof: of the union, of the upper bound alone, or both."""
    proven, bound = solve(PETS, 3), solve(PETS, 3, check=False)
    both = row("s", F(3), FITS, F(1), proven, proven)
    assert (both.kept, both.upper) == (F(1, 3), F(1))
    no_upper = row("s", F(3), FITS, F(1), proven, bound)
    assert no_upper.kept == F(1, 3)
    assert no_upper.upper is None
    nothing = row("s", F(3), FITS, F(1), bound, bound)
    assert nothing.kept is nothing.upper is None
    assert [one.uncertified for one in (both, no_upper, nothing)] == [0, 1, 2]


def test_spread() -> None:
    """Undefined values are left out and missing from n."""
    values: list[Fraction | None] = [F(1, 2), None, F(1)]
    found = spread(values)
    assert (found.n, found.mean) == (2, 0.75)
    assert spread([None]) == Spread(0, None, None, None)


def test_wrong_choices() -> None:
    """One line each."""
    with pytest.raises(MemAuditError, match="at least 1 repetition"):
        Choices(repetitions=0)
    with pytest.raises(MemAuditError, match="group cap"):
        Choices(group_caps=(0,))
    with pytest.raises(MemAuditError, match="between 0 and 1"):
        Choices(rates=(F(3, 2),))
