"""The estimator protocol: a value per candidate, and how much of a candidate is new."""

from collections.abc import Callable
from typing import Protocol

from memaudit.writers.protocol import View


class Novelty(Protocol):
    """How much of a candidate is new. Candidates are given by their place in the view."""

    def share(self, place: int) -> float:
        """The new share of a candidate, in [0, 1]. It never grows as more is kept."""
        ...

    def keep(self, place: int) -> None: ...


class Estimator(Protocol):
    """Estimates values from the visible part of a package, without reading ids."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """A few words: where the values come from."""
        ...

    def values(self, view: View) -> tuple[float, ...]:
        """The value of each candidate alone, in the order of the view, never below 0."""
        ...

    def novelty(self, view: View) -> Callable[[], Novelty]:
        """A factory of empty novelties. The view is read once for all of them."""
        ...
