"""The distribution: packages drawn from a hidden event graph."""

from dataclasses import dataclass, field

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.generators.event_graph.build import build
from memaudit.generators.event_graph.knobs import Knobs


@dataclass(frozen=True, slots=True)
class EventGraph:
    """People, facts that change, events, rules: told in English, with coverage known exactly."""

    knobs: Knobs = field(default_factory=Knobs)

    @property
    def name(self) -> str:
        return "event_graph"

    @property
    def about(self) -> str:
        return "sessions in English from a hidden graph of people, changes and events"

    @property
    def draws(self) -> bool:
        return True

    def package(self, seed: int) -> Package:
        """The package of a seed, a whole number of 0 or more."""
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise MemAuditError(f"event_graph: the seed is {seed!r}; give a whole number from 0")
        return build(self.knobs, seed)
