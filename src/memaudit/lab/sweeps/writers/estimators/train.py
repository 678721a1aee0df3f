"""Training a ridge model on packages with a visible and a hidden part."""

import json
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.version import VERSION
from memaudit.lab.sweeps.writers.estimators.ridge import (
    FEATURES,
    RidgeModel,
    TrainingPackage,
    content_digest,
    features,
)
from memaudit.lab.sweeps.writers.protocol import View, visible

DIGITS = 9
"""Coefficients are rounded to this many digits, so that machines agree."""

Vector = NDArray[np.float64]


def train(packages: Iterable[Package], alpha: float = 1.0) -> RidgeModel:
    """A ridge model of each candidate's value alone, as a share of the total weight."""
    if not alpha > 0:
        raise MemAuditError(f"alpha is {alpha}; it must be above 0")
    rows, targets, training = [], [], []
    for package in packages:
        view = visible(package)
        rows += features(view)
        targets += shares(package, view)
        training.append(TrainingPackage(package=digest(package), content=content_digest(view)))
    if not rows:
        raise MemAuditError("the training packages have no candidates")
    coefficients, intercept = ridge(np.array(rows), np.array(targets), alpha)
    return RidgeModel(
        memaudit=VERSION,
        alpha=alpha,
        features=FEATURES,
        coefficients=tuple(round(float(number), DIGITS) for number in coefficients),
        intercept=round(intercept, DIGITS),
        training=tuple(sorted(training, key=lambda trained: trained.package)),
    )


def shares(package: Package, view: View) -> list[float]:
    """F({u}) / total weight of each candidate in the order of the view.

    Exact until the last step. If h is irrational, F is its lower enclosure.
    """
    total = sum(package.weights.values(), Fraction(0))
    if not total:
        raise MemAuditError(f"{package.name!r} has no weight to learn from; leave it out")
    responses = {unit.id: unit.response for unit in package.units}
    alone = {candidate.id: Fraction(0) for candidate in package.candidates}
    for cell in package.coverage:
        if cell.value:
            part = responses[cell.unit].at(cell.value).low
            alone[cell.candidate] += package.weights[cell.unit] * part
    return [float(alone[candidate.id] / total) for candidate in view.candidates]


def ridge(rows: Vector, targets: Vector, alpha: float) -> tuple[Vector, float]:
    """The coefficients and the intercept, in closed form; the intercept is not shrunk."""
    middle, level = rows.mean(axis=0), float(targets.mean())
    centred = rows - middle
    square = centred.T @ centred + alpha * np.eye(rows.shape[1])
    coefficients: Vector = np.linalg.solve(square, centred.T @ (targets - level))
    return coefficients, level - float(middle @ coefficients)


SEEDS = range(900_000, 900_060)
"""Reserved for training: no sweep, benchmark or example uses them."""

ALPHA = 1.0


def default_training() -> RidgeModel:
    """The model trained on the event graph at the reserved seeds."""
    from memaudit.lab.sweeps.generators.event_graph import EventGraph

    graph = EventGraph()
    return train((graph.package(seed) for seed in SEEDS), ALPHA)


if __name__ == "__main__":
    trained = json.dumps(default_training().model_dump(mode="json"), indent=1) + "\n"
    write_file(Path(__file__).with_name("ridge_default.json"), trained)
