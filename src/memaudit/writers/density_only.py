"""Density only, the paper's negative control (proposition 1)."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.density import densest
from memaudit.writers.draft import Draft
from memaudit.writers.oracle import OracleView


class DensityOnly:
    """Each arriving group keeps its densest marginal that fits; it never looks back."""

    name = "density_only"
    label = "Density only"
    about = "in each arriving group, the densest marginal that fits"
    peeks: Literal[True] = True
    monotone = False

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        draft = Draft(view.at(budget))
        for group in draft.form.groups:
            for _ in range(min(draft.form.group_cap, len(group))):
                found = densest(draft, group)
                if found is None:
                    break
                draft.keep(found)
        return draft.store
