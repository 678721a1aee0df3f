"""Makes ridge_default.json: `python -m memaudit.writers.estimators.train_default [FILE]`."""

import sys
from pathlib import Path

from memaudit.writers.estimators.ridge_model import RidgeModel, write_model
from memaudit.writers.estimators.train import train

SEEDS = range(900_000, 900_060)
"""Reserved for training: no sweep, benchmark or example uses them."""

ALPHA = 1.0


def default_training() -> RidgeModel:
    """The model trained on the event graph at the reserved seeds."""
    from memaudit.generators.event_graph import EventGraph, Knobs

    graph = EventGraph(Knobs())
    return train((graph.package(seed) for seed in SEEDS), ALPHA)


if __name__ == "__main__":
    beside = Path(__file__).with_name("ridge_default.json")
    write_model(default_training(), Path(sys.argv[1]) if len(sys.argv) > 1 else beside)
