"""Packages from a hidden event graph, as English sessions with exact coverage."""

from memaudit.lab.sweeps.generators.event_graph.build import EventGraph
from memaudit.lab.sweeps.generators.event_graph.parameters import Parameters, meanings

__all__ = ["EventGraph", "Parameters", "meanings"]
