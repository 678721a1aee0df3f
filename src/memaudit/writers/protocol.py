"""The two sorts of writers. Their views have different types, so one cannot pass for the other."""

from fractions import Fraction
from typing import Literal, Protocol

from memaudit.writers.oracle import OracleView
from memaudit.writers.view import View

Store = tuple[str, ...]
"""Ids of the candidates that are kept, in order of arrival."""


class Deployable(Protocol):
    """A writer that could run in a product: it sees the stream and the candidates, nothing more."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str:
        """For tables and figures; a stand-in for a family of systems says that it is a proxy."""
        ...

    @property
    def about(self) -> str:
        """One line: how it decides."""
        ...

    @property
    def peeks(self) -> Literal[False]: ...

    @property
    def monotone(self) -> bool:
        """Whether a larger budget never makes it spend less."""
        ...

    def write(self, view: View, budget: Fraction, seed: int) -> Store:
        """What it keeps."""
        ...


class PackageOracle(Protocol):
    """A reference that looks at the hidden side of the package; never a deployable system."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    @property
    def about(self) -> str: ...

    @property
    def peeks(self) -> Literal[True]: ...

    @property
    def monotone(self) -> bool: ...

    def write(self, view: OracleView, budget: Fraction, seed: int) -> Store:
        """What it keeps."""
        ...


Writer = Deployable | PackageOracle
