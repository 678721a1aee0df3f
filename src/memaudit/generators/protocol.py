"""What a distribution of packages is."""

from typing import Protocol

from memaudit.core.package import Package


class Distribution(Protocol):
    """A named way of making packages: the same seed gives the same package on every machine."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """One line for lists and reports."""
        ...

    @property
    def draws(self) -> bool:
        """Whether seeds differ; a distribution without draws has one package only."""
        ...

    def package(self, seed: int) -> Package:
        """The package of a seed."""
        ...
