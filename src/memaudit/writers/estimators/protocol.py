"""What an estimator is: a value per candidate, and how much of a candidate is new."""

from collections.abc import Callable
from typing import Protocol

from memaudit.writers.protocol import View


class Novelty(Protocol):
    """What of a candidate the kept ones do not hold yet. Candidates go by their place in the view.

    A share lies in [0, 1] and never grows as more is kept.
    """

    def share(self, place: int) -> float:
        """The share of a candidate that is new."""
        ...

    def keep(self, place: int) -> None:
        """From now on this candidate is held."""
        ...


class Estimator(Protocol):
    """Guesses values from the visible part of a package; ids are no part of what it reads."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """A few words: where the values come from."""
        ...

    def values(self, view: View) -> tuple[float, ...]:
        """What each candidate may be worth on its own, in the order of the view, never below 0."""
        ...

    def novelty(self, view: View) -> Callable[[], Novelty]:
        """Makes novelties that hold nothing yet; the view is read once for all of them."""
        ...
