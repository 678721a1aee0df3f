"""Ridge: the closed form, the targets, the file, and that it refuses what it was trained on."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import example_package
from memaudit.kernel.package.objective import value
from memaudit.kernel.package.package import Package
from memaudit.lab.sweeps.generators.event_graph import EventGraph
from memaudit.lab.sweeps.generators.registry import named_distribution
from memaudit.lab.sweeps.writers.estimated import EstimatedGvt
from memaudit.lab.sweeps.writers.estimators.ridge import (
    FEATURES,
    Ridge,
    RidgeModel,
    content_digest,
    default_model,
    features,
    predicted,
)
from memaudit.lab.sweeps.writers.estimators.train import SEEDS, shares, train
from memaudit.lab.sweeps.writers.protocol import visible
from tests.lab.sweeps.writers.running import view_of
from tests.strategies import packages, renamed

F = Fraction
TRAVEL = example_package()
OTHERS = tuple(named_distribution(name).package(3) for name in ("base", "abstention_hard"))


@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
def test_predictions_are_those_of_least_squares(alpha: float) -> None:
    """Least squares with one more row per coefficient, sqrt(alpha) against 0, is the same."""
    rows = np.array([row for package in OTHERS for row in features(visible(package))])
    targets = np.array([s for package in OTHERS for s in shares(package, visible(package))])
    count = rows.shape[1]
    pull = np.hstack([np.sqrt(alpha) * np.eye(count), np.zeros((count, 1))])
    system = np.vstack([np.hstack([rows, np.ones((len(rows), 1))]), pull])
    solution = np.linalg.lstsq(system, np.append(targets, np.zeros(count)), rcond=None)[0]
    model, unseen = train(OTHERS, alpha), features(visible(TRAVEL))
    expected = np.array(unseen) @ solution[:-1] + solution[-1]
    predictions = [predicted(model, row) for row in unseen]
    assert predictions == pytest.approx(np.maximum(expected, 0), abs=1e-7)
    assert max(predictions) > 0


@settings(max_examples=40)
@given(package=packages())
def test_targets_are_the_exact_singleton_values(package: Package) -> None:
    view, total = visible(package), sum(package.weights.values())
    if not total:
        with pytest.raises(MemAuditError, match="no weight to learn from"):
            shares(package, view)
        return
    alone = [float(value(package, [c.id]).low / total) for c in view.candidates]
    assert shares(package, view) == pytest.approx(alone, abs=1e-12)


def test_a_content_digest_distinguishes_contents() -> None:
    """By text, kind and order; neither ids nor the order inside a group count."""
    start = [("fact", "apples", 1)], [("fact", "pears", 1)]
    views = (
        view_of(*start),
        view_of(*reversed(start)),
        view_of(start[0]),
        view_of(start[0], [("raw", "pears", 1)]),
        view_of(start[0], [("fact", "plums", 1)]),
    )
    assert len({content_digest(view) for view in views}) == len(views)
    first = replace(views[0].experiences[0], session="a", speaker="Ann")
    changed = replace(views[0], experiences=(first, views[0].experiences[1]))
    assert content_digest(changed) != content_digest(views[0])


def test_refuses_what_it_was_trained_on() -> None:
    """By content: new ids, names, cost rules or caps do not hide it."""
    writer = EstimatedGvt(Ridge(train([TRAVEL, *OTHERS])), "r", "R")
    other = renamed(TRAVEL, lambda id: id[::-1])
    disguised = other.replace(name="other", coverage=(), group_cap=2).recost("bytes")
    for package in (TRAVEL, disguised, *OTHERS):
        with pytest.raises(MemAuditError, match="trained on this content"):
            writer.write(visible(package), F(20), 0)
    assert EstimatedGvt(Ridge(train(OTHERS)), "r", "R").write(visible(TRAVEL), F(20), 0)


@given(package=packages())
def test_features_lie_between_0_and_1(package: Package) -> None:
    view = visible(package)
    rows = features(view)
    assert len(rows) == len(view.candidates)
    assert all(len(row) == len(FEATURES) and min(row) >= 0 and max(row) <= 1 for row in rows)


def test_features_by_hand() -> None:
    """The second message repeats one of two words; the span contains all of it and costs most."""
    view = view_of([("raw", "green apples", 3)], [("raw", "red apples", 6), ("fact", "apples", 3)])
    row = dict(zip(FEATURES, features(view)[2], strict=True))
    assert {name for name, number in row.items() if number == 1} == {
        "kind fact",
        "confidence",
        "position",
        "heard before",
    }
    assert row["cost"] == round(3 / (3 + 4), 9)
    assert row["cost in its group"] == row["of its experience"] == 0.5


def test_the_model_that_comes_along() -> None:
    model, graph = default_model(), EventGraph()
    assert len(model.training) == len(SEEDS)
    for seed in (SEEDS[0], SEEDS[-1]):
        view = visible(graph.package(seed))
        hint = "the event graph changed: run memaudit.lab.sweeps.writers.estimators.train"
        assert content_digest(view) in model.trained_on, hint
        with pytest.raises(MemAuditError, match="trained on this content"):
            Ridge().values(view)
    assert max(Ridge().values(visible(graph.package(1)))) > 0


def test_predictions_never_fall_below_0() -> None:
    down = (-1.0,) * len(FEATURES)
    model = RidgeModel(
        memaudit="0", alpha=1.0, features=FEATURES, coefficients=down, intercept=0.5, training=()
    )
    assert predicted(model, (1.0,) * len(FEATURES)) == 0
    assert predicted(model, (0.0,) * len(FEATURES)) == 0.5


def test_training_needs_candidates_and_an_alpha() -> None:
    with pytest.raises(MemAuditError, match="no candidates"):
        train([])
    with pytest.raises(MemAuditError, match="above 0"):
        train(OTHERS, 0)
