"""Certificates and bounds against brute force, as long as one likes.

The tests beside the code try fixed seeds. Here MEMAUDIT_FUZZ_EXAMPLES says how many more.
"""

import json
import logging
from random import Random

import pytest

from memaudit.kernel.checker import _Problem, verify
from memaudit.kernel.package.optimum import Certificate
from tests.forgeries import EDITS
from tests.hardening.edits import EXAMPLES, SEED
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
