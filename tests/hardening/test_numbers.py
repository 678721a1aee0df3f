"""Certificates, bounds and scores against brute force, as long as one likes.

The tests beside the code try fixed seeds. Here MEMAUDIT_FUZZ_EXAMPLES says how many more.
"""

import json
import logging
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given

from memaudit.kernel.checker import _Problem, verify
from memaudit.kernel.package.optimum import Certificate
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.score import StoreScorer
from tests.forgeries import EDITS
from tests.hardening.edits import EXAMPLES, FUZZ, SEED
from tests.kernel.score.small_stores import judged_problems
from tests.kernel.score.test_diagnosis import SOME_BUDGETS, best
from tests.proofs import stores
from tests.test_checker import check_bound, check_useful, corpus, drawn

pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]  # MEMAUDIT_FUZZ_EXAMPLES says how long

LOG = logging.getLogger(__name__)


def test_certificates_forged_several_times() -> None:
    """One to four forgeries on top of each other; what still verifies is true, also as a file."""
    tried = accepted = 0
    for number in range(500 * EXAMPLES):
        random = Random(f"forged/{SEED}/{number}")
        found, claim = random.choice(corpus())
        kinds = [random.choice(sorted(EDITS)) for _ in range(random.randint(1, 4))]
        for kind in kinds:
            try:
                claim = EDITS[kind](found, claim, random) or claim
            except (ArithmeticError, LookupError, ValueError):  # nothing left to edit
                continue
        tried += 1
        verdict = verify(found, claim)
        again = Certificate.from_json(json.loads(json.dumps(claim.to_json())))
        assert verify(found, again) == verdict, (number, kinds)
        if not verdict.valid:
            assert verdict.reason
            continue
        accepted += 1
        problem = _Problem(found).at(claim.budget, claim.group_cap)
        highest = max(value for _, value in stores(problem))
        assert claim.value * problem.scale >= highest, (number, kinds)
    LOG.info("%d forged certificates, %d of them still true", tried, accepted)
    assert accepted < tried


def test_nodes_of_the_checker() -> None:
    """Any decisions and multipliers: no bound lies below a store that the node allows."""
    checked = 0
    for number in range(100 * EXAMPLES):
        found, budget, cap, random = drawn(1_000_000 * (SEED + 1) + number)
        problem = _Problem(found).at(budget, cap)
        everything = stores(problem)
        check_useful(problem, everything)
        checked += check_bound(problem, everything, random)[0]
    LOG.info("%d bounds compared with stores", checked)
    assert checked


@FUZZ
@given(judged_problems(), SOME_BUDGETS)
def test_scores_by_brute_force(
    problem: tuple[Package, list[JudgedStore]], budget: Fraction
) -> None:
    """Every ratio's denominator is the best of all stores, and no store is above it."""
    package, written = problem
    scorer = StoreScorer(package, written)
    rational = all(unit.response.is_rational for unit in package.units)
    near = Fraction(0) if rational else Fraction(1, 2**20)
    highest = best(scorer.common, budget, package.group_cap)
    found = scorer.common_optimum(budget)
    assert found.certified
    assert abs((found.value_high or found.value) - highest) <= near
    for store in written:
        numbers = scorer.numbers(store, budget)
        kept, most = numbers.kept.worth.value, numbers.best.worth.value
        assert kept <= most + near
        assert most <= highest + near
        ratio = numbers.kept.ratio.value
        assert (ratio is None) == (highest == 0)
        if ratio is not None:
            assert abs(ratio * highest - kept) <= near
