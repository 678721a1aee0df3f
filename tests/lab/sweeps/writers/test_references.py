"""The package-oracle references: hand-worked choices, and what the paper proves about them."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memaudit.kernel.package.objective import value
from memaudit.kernel.package.package import Candidate, Coverage, EvidenceUnit, Experience, Package
from memaudit.kernel.solvers.form import integer_form
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.sweeps.writers.gvt import (
    DensityOnly,
    Greedy,
    GreedyDraft,
    Gvt,
    GvtGeometric,
    SingleKind,
    densest,
    density_greedy,
    geometric_grid,
    singleton_grid,
    threshold_pass,
)
from memaudit.lab.sweeps.writers.protocol import OracleView
from memaudit.lab.sweeps.writers.references import GenericOpt, NoTombstoneGvt, NoTombstoneOpt
from tests.lab.sweeps.writers.running import run
from tests.strategies import packages

F = Fraction
Offers = dict[str, tuple[int, dict[str, str]]]
"""Per candidate its cost and what it covers; the name is kind.rest."""


def package_of(weights: dict[str, str], *groups: Offers, cap: int = 1) -> Package:
    return Package(
        name="hand",
        experiences=tuple(Experience(id=f"e{g}", index=g) for g in range(len(groups))),
        candidates=tuple(
            Candidate(id=id, experience=f"e{g}", kind=id.split(".")[0], cost=F(cost))
            for g, group in enumerate(groups)
            for id, (cost, _) in group.items()
        ),
        units=tuple(
            EvidenceUnit(id=unit, kind="fact", weight=F(weight)) for unit, weight in weights.items()
        ),
        coverage=tuple(
            Coverage(candidate=id, unit=unit, value=F(share))
            for group in groups
            for id, (_, row) in group.items()
            for unit, share in row.items()
        ),
        group_cap=cap,
    )


MOVE = package_of(
    {"old": "1", "new": "2", "ended": "2"},
    {"fact.old": (2, {"old": "1"}), "raw.old": (4, {"old": "1"})},
    {
        "fact.new": (2, {"new": "1"}),
        "tombstone.old": (1, {"ended": "1"}),
        "compound_update.both": (3, {"new": "1", "ended": "1"}),
        "summary.all": (4, {"old": "1/2", "new": "1/2", "ended": "1/2"}),
    },
)
"""Values alone: fact.old 1, raw.old 1, fact.new 2, tombstone.old 2, both 4, summary.all 5/2."""


def test_gvt_by_hand() -> None:
    """Budget 4. Thresholds are the singleton densities and 0.

    At 0 and 1/4 and 1/2: fact.old comes in (raw.old has the same value and costs more), 2 are left,
    then fact.new and tombstone.old both add 2 and the cheaper wins: value 3. At 5/8 and above
    (4/3 at most), fact.old is too thin, both comes in: value 4. At 2, tombstone.old: value 2.
    """
    view = OracleView(MOVE)
    densities = {F(1, 2), F(1, 4), F(1), F(2), F(4, 3), F(5, 8), F(0)}
    form = view.at(F(4))
    scaled = {F(form.cost_scale, form.value_scale) * density for density in singleton_grid(form)}
    assert scaled == densities
    assert run(Gvt(), MOVE, F(4)) == ("compound_update.both",)
    assert run(Gvt(), MOVE, F(5)) == ("fact.old", "compound_update.both")


def test_greedy_by_hand() -> None:
    """Densities: tombstone 2, both 4/3, fact.new 1. The tombstone closes its group; then 1/2."""
    assert run(Greedy(), MOVE, F(4)) == ("fact.old", "tombstone.old")
    assert run(Greedy(), MOVE.replace(group_cap=2), F(4)) == ("fact.new", "tombstone.old")


def test_density_only_by_hand() -> None:
    """It takes fact.old as it comes, then the tombstone: value 3 of 4."""
    assert run(DensityOnly(), MOVE, F(4)) == ("fact.old", "tombstone.old")
    assert solve(MOVE, 4).value == 4


def test_restricted_references_by_hand() -> None:
    """Without tombstones and compound updates at most new and old are kept."""
    for writer in (NoTombstoneOpt(), NoTombstoneGvt(), GenericOpt(), SingleKind("fact")):
        assert set(run(writer, MOVE, F(4))) == {"fact.old", "fact.new"}
    assert run(SingleKind("summary"), MOVE, F(4)) == ("summary.all",)


@pytest.mark.parametrize("eta", [F(1, 2), F(1, 10), F(1, 1000)])
def test_density_only_is_arbitrarily_bad(eta: Fraction) -> None:
    """Proposition 4: one experience, a crumb of density 2, a loaf of density 1 and value 2 / eta.

    The crumb costs 1 and is worth 2. The loaf costs and is worth 2 / eta, half the budget.
    """
    loaf = int(2 / eta)
    package = package_of(
        {"crumb": "2", "loaf": str(loaf)},
        {"fact.crumb": (1, {"crumb": "1"}), "raw.loaf": (loaf, {"loaf": "1"})},
    )
    budget = F(2 * loaf)
    assert all(0 < candidate.cost <= budget / 2 for candidate in package.candidates)
    store = run(DensityOnly(), package, budget)
    assert store == ("fact.crumb",)
    assert value(package, store).low == eta * solve(package, budget).value
    assert run(GvtGeometric(), package, budget) == ("raw.loaf",)


@settings(max_examples=60, deadline=None)
@given(
    package=packages(responses=False),
    eps=st.sampled_from((F(1, 10), F(1, 2), F(9, 10))),
    stretch=st.sampled_from((F(2), F(3), F(9, 2))),
    cap=st.integers(1, 2),
)
def test_gvt_keeps_its_guarantee(
    package: Package, eps: Fraction, stretch: Fraction, cap: int
) -> None:
    """Theorem 5: at least (1 - eps) OPT / 4 where every cost lies in (0, B / 2]."""
    priced = [c.model_copy(update={"cost": c.cost or F(1, 5)}) for c in package.candidates]
    assume(priced)
    package = package.replace(candidates=tuple(priced), group_cap=cap)
    budget = max(candidate.cost for candidate in priced) * stretch
    best = solve(package, budget)
    assert best.certified
    store = run(GvtGeometric(eps), package, budget)
    assert value(package, store).low >= (1 - eps) * best.value / 4
    # The grid is what the theorem asks for: a threshold just below OPT / 2B, where B is the
    # budget in whole units of cost, which allows the same stores.
    form = integer_form(package).at(budget, cap)
    if best.value and form.budget <= sum(form.cost):
        target = best.value * form.value_scale / (2 * form.budget)
        assert any((1 - eps) * target <= tau <= target for tau in geometric_grid(form, eps))


def test_the_geometric_grid_stops_at_the_cost_of_everything() -> None:
    form = integer_form(MOVE)
    enough = F(form.budget, form.cost_scale)
    grids = [geometric_grid(form.at(budget, 1), F(1, 10)) for budget in (enough, enough * 100)]
    assert grids[0] == grids[1]


@settings(max_examples=60, deadline=None)
@given(package=packages(), share=st.sampled_from((F(1, 4), F(1, 2), F(1))))
def test_lazy_greedy_is_greedy(package: Package, share: Fraction) -> None:
    form = integer_form(package)
    form = form.at(F(form.budget, form.cost_scale) * share, package.group_cap)
    everything = range(len(form.cost))
    draft = GreedyDraft(form)
    while (best := densest(draft, everything)) is not None:
        draft.keep(best)
    assert density_greedy(form, everything).chosen == draft.chosen


@settings(max_examples=40, deadline=None)
@given(package=packages(), share=st.sampled_from((F(1, 3), F(2, 3))))
def test_a_draft_adds_up(package: Package, share: Fraction) -> None:
    form = integer_form(package)
    form = form.at(F(form.budget, form.cost_scale) * share, package.group_cap)
    draft, _ = threshold_pass(form, F(0))
    assert draft.value == form.value(tuple(sorted(draft.chosen)))
    assert draft.cost == sum(form.cost[u] for u in draft.chosen)


def test_eps_lies_between_0_and_1() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        geometric_grid(integer_form(MOVE), F(0))
