"""The fast exact solver: a small-problem search, and a Lagrangian one for everything larger.

Nothing compiled is imported until a problem is too large for the plain-Python run of the same
search, so a first small solve does not wait for a compiler.
"""

import sys
from collections.abc import Sequence

import numpy as np

from memaudit.solvers import small
from memaudit.solvers.form import Form
from memaudit.solvers.packed import LARGEST, SCALES, Packed, pack
from memaudit.solvers.protocol import Limits, Proof, Solution

SMALL = 64
"""Problems with at most this many candidates start with the small search."""

PLAIN_NODES = 400
SMALL_NODES = 20_000
TAPE_WORDS = 4096

Result = tuple[int, tuple[int, ...], bool, int]
"""Value, chosen candidates, whether proven optimal, upper bound."""


class Fast:
    """Batched small search, block-Lagrangian branch and bound; every result with its proof."""

    name = "fast"

    def accepts(self, form: Form) -> str:
        if pack(form) is None:
            return "numbers or coverage levels too large for 64-bit arithmetic"
        return ""

    def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:
        packed = pack(form)
        if packed is None:
            raise ValueError(self.accepts(form))
        slack = np.array(
            [
                0 if level.response.is_rational else 2 * int(level.factor / level.grid)
                for level in form.levels
            ],
            dtype=np.int64,
        )
        return solve_form(packed, limits, np.array(form.group, np.int64), slack, hint)


def multiplier_scale(packed: Packed) -> int:
    """The finest multiplier scale at which nothing can overflow, or 0."""
    most = int(packed.table[packed.table_start[1:] - 1].sum()) + 1
    for scale in SCALES:
        if 4 * scale * most * (packed.budget + 1) < LARGEST:
            return scale
    return 0
