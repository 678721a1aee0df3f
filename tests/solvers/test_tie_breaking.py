"""Ties are broken by the package alone: canonical order, strict improvement, no waste."""

from fractions import Fraction

import pytest

from memaudit.core.package import Candidate, Coverage, EvidenceUnit, Experience, Package
from memaudit.solvers.form import integer_form
from memaudit.solvers.registry import SOLVERS
from memaudit.solvers.solve import solve
from memaudit.solvers.tie_breaking import canonical_order, undominated, without_waste
from tests.solvers.random_forms import random_package
from tests.solvers.test_conformance import shuffled

ROWS = [("z", "early", 1), ("b", "late", 2), ("a", "late", 2), ("c", "late", 1)]
TIED = Package(
    name="tied",
    experiences=(Experience(id="late", index=7), Experience(id="early", index=2)),
    candidates=tuple(
        Candidate(id=id, experience=experience, kind="fact", cost=Fraction(cost))
        for id, experience, cost in ROWS
    ),
    units=(EvidenceUnit(id="u", kind="fact", weight=Fraction(1)),),
    coverage=tuple(Coverage(candidate=id, unit="u", value=Fraction(1)) for id, _, _ in ROWS),
)


def test_the_rules() -> None:
    """Every candidate covers the one unit in full."""
    assert [candidate.id for candidate in canonical_order(TIED)] == ["z", "a", "b", "c"]
    form = integer_form(TIED).at(Fraction(9), 1)
    assert [form.candidate_ids[u] for u in undominated(form)] == ["z", "c"]
    # The most expensive goes first, among equals the last: b, then a, then c.
    assert without_waste(form, (0, 1, 2, 3)) == (0,)
    assert without_waste(form, (1, 2)) == (1,)


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_no_store_holds_waste_and_row_order_does_not_matter(name: str) -> None:
    """The same store from the same package, whatever the order of its rows."""
    assert solve(TIED, 9, solver=name).store == (("a",) if name == "brute" else ("z",))
    for seed in range(40):
        package = random_package(seed)
        budget = package.total_cost(package.candidate) / 2
        stores = {solve(variant, budget, solver=name).store for variant in
                  (package, shuffled(package, seed))}  # fmt: skip
        assert len(stores) == 1
        form = integer_form(package)
        chosen = tuple(form.candidate_ids.index(id) for id in stores.pop())
        assert without_waste(form, chosen) == tuple(sorted(chosen))
