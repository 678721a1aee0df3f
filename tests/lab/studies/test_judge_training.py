"""Fitting an offline judge: the shipped one comes from the shipped sets, and errors are counted."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from memaudit.building.named_packages import LONG, SHORT, long_set, shipped_set, short_set
from memaudit.cli.main import app
from memaudit.judges.offline_judge import named_offline_judge, read_judge_file
from memaudit.kernel.errors import MemAuditError
from memaudit.lab.studies.judge_training import (
    drawn_words,
    fit_logistic,
    labelled_store,
    merged,
    train_judge,
    without_names,
)


def test_a_logistic_fit_of_two_points() -> None:
    """Of 4 pairs at 0 one is covered, of 4 at 1 three: the log-odds go from -log 3 to log 3."""
    table = np.array([0.0] * 4 + [1.0] * 4)[:, None]
    hits = np.array([True, False, False, False, True, True, True, False])
    weights, bias = fit_logistic(table, hits, 0.0)
    assert bias == pytest.approx(-np.log(3))
    assert weights[0] == pytest.approx(2 * np.log(3))
    shrunk, _ = fit_logistic(table, hits, 10.0)
    assert abs(shrunk[0]) < weights[0] / 2


def test_labels_of_a_package() -> None:
    store = labelled_store(long_set()[0])
    assert store.between_people
    assert store.labels.shape == (95, len(store.memories))
    assert np.isfinite(store.labels).all(axis=0).sum() >= 270
    assert set(store.labels[np.isfinite(store.labels)].tolist()) == {0.0, 0.5, 1.0}
    assert "quince" in " ".join(unit.turns for unit in store.units)


def test_merged_conversations_cover_nothing_of_each_other() -> None:
    stores = [labelled_store(package) for package in short_set()[:3]]
    both = merged(stores)
    rows, columns = stores[0].labels.shape
    assert both.labels.shape[0] == sum(len(store.units) for store in stores)
    assert (both.labels[:rows, columns:] == 0).all()
    np.testing.assert_array_equal(both.labels[:rows, :columns], stores[0].labels)


def test_without_names_full_is_partial() -> None:
    store = labelled_store(long_set()[0])
    bare = without_names(store)
    assert bare is not None
    assert not any("Maren" in text or "Oskar" in text for text in bare.memories)
    about = [at for at, unit in enumerate(store.units) if unit.text.startswith("Oskar")]
    assert np.nanmax(bare.labels[about]) == 0.5
    assert without_names(labelled_store(long_set()[5])) is None  # with an assistant, it is the user
    assert not drawn_words(store).labels.any()


def test_too_few_conversations_and_no_labels() -> None:
    with pytest.raises(
        MemAuditError, match="0 labelled conversations in one script with 40 units or more"
    ):
        train_judge(short_set())
    with pytest.raises(MemAuditError, match="two packages are called 'allotment-choir'"):
        train_judge([long_set()[0]] * 2)
    bare = long_set()[0].replace(coverage=(), attributes={})
    with pytest.raises(MemAuditError, match="has no judged cells to learn from"):
        train_judge([bare])


@pytest.mark.slow
def test_the_shipped_judge_is_fitted_to_the_shipped_sets(tmp_path: Path) -> None:
    """All conversations in Latin script; other machines differ in the second digit."""
    out = tmp_path / "judge.json"
    result = CliRunner().invoke(app, ["study", "train-judge", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "error on 1 other (Han) conversation, 6,398 pairs" in result.output
    assert "error on 8 held-out conversations, 209,048 pairs" in result.output
    shipped, fitted = named_offline_judge("offline").file, read_judge_file(out)
    assert fitted.training == shipped.training
    assert [one.error.conversations for one in shipped.other_scripts] == [("xiao-yu",)]
    assert [one.name for one in shipped.training] == [
        package.name
        for name in (SHORT, LONG)
        for package in shipped_set(name)
        if package.name != "xiao-yu"
    ]
    np.testing.assert_allclose(fitted.covered.weights, shipped.covered.weights, atol=0.05)
    np.testing.assert_allclose(fitted.full.weights, shipped.full.weights, atol=0.05)
    assert fitted.partial_from == pytest.approx(shipped.partial_from, abs=0.02)
    assert fitted.full_from == pytest.approx(shipped.full_from, abs=0.02)
