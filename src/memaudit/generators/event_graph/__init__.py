"""Packages from a hidden event graph, as English sessions with exact coverage."""

from memaudit.generators.event_graph.distribution import EventGraph
from memaudit.generators.event_graph.knobs import Knobs

__all__ = ["EventGraph", "Knobs"]
