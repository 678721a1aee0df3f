"""Fact-only and summary-only: offline greedy that may keep one kind of memory."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.density import density_greedy
from memaudit.writers.oracle import OracleView


class OneKind:
    """Offline greedy over the candidates of one kind."""

    peeks: Literal[True] = True
    monotone = False

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = f"{kind}_only"
        self.label = f"{kind.capitalize()} only"
        self.about = f"offline greedy over candidates of kind {kind}"

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        form, kinds = view.at(budget), view.package.candidate
        family = [u for u, id in enumerate(form.candidate_ids) if kinds[id].kind == self.kind]
        return density_greedy(form, family).store
