"""Summaries of rows, worked by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.summary import (
    SUMMARY,
    package_resampling,
    read_grids,
    summarise,
    summary_of,
)
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.workspace.engines import named_engine

MANIFEST = {
    "spec_digest": "d",
    "spec": {"seeds": "0-2", "writers": ["a", "b"], "budgets": ["2"]},
}


def row(seed: int, writer: str, ratio: float | None, **more: Any) -> dict[str, Any]:
    """A row with what a summary reads."""
    return {
        "distribution": "d",
        "seed": seed,
        "digest": f"p{seed}",
        "budget": 2,
        "writer": writer,
        "ratio": ratio,
        "value": 1.0,
        "cost": 2,
        "invalidation": float(seed),
        "current": 0.0,
        "stale": 0.0,
        "certificate": "c",
        **more,
    }


def test_by_hand() -> None:
    """Means over what is defined; what is not is counted by its reason."""
    rows = [
        row(0, "a", 1.0),
        row(1, "a", 0.5),
        row(2, "a", None, undefined="optimum is 0"),
        row(0, "b", 0.5),
        row(1, "b", 0.25),
        row(2, "b", None, undefined="optimum not certified", certificate=None),
    ]
    summary = summary_of(MANIFEST, read_grids(MANIFEST, rows))
    first, second = summary["rows"]
    assert (first["n"], first["mean_ratio"], first["mean_invalidation"]) == (2, 0.75, 1.0)
    assert (first["zero_optimum"], first["uncertified"]) == (1, 0)
    assert (second["zero_optimum"], second["uncertified"]) == (0, 1)
    assert first["ci_low"] >= 0.5
    assert first["ci_high"] <= 1.0
    (pair,) = summary["differences"]
    assert (pair["first"], pair["second"], pair["n"]) == ("a", "b", 2)
    assert pair["mean_difference"] == 0.375
    assert [one["writer"] for one in summary["ranking"]] == ["a", "b"]


def test_a_failed_writer_has_no_mean() -> None:
    """All rows failed: nothing is made up, and it ranks last."""
    nothing = {"failed": "no", "value": None, "cost": None, "invalidation": None}
    rows = [row(n, "a", None, **nothing) for n in range(3)] + [row(n, "b", 0.1) for n in range(3)]
    summary = summary_of(MANIFEST, read_grids(MANIFEST, rows))
    failed = summary["rows"][0]
    assert (failed["n"], failed["mean_ratio"], failed["mean_value"]) == (0, None, None)
    assert failed["failed"] == 3
    assert [one["writer"] for one in summary["ranking"]] == ["b", "a"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real small run."""
    found = tmp_path_factory.mktemp("run")
    spec = RunSpec(("base", "update_chain"), (0, 1, 2, 3), ("2", "6"), ("opt", "gvt", "greedy"))
    run(spec, found, named_engine("serial"))
    return found


def test_of_a_run(folder: Path) -> None:
    """The listed fields are there, OPT is 1, and the same rows give the same file."""
    summary = summarise(folder)
    wanted = {
        "distribution",
        "budget",
        "writer",
        "n",
        "mean_ratio",
        "ci_low",
        "ci_high",
        "mean_value",
        "mean_cost",
        "mean_invalidation",
    }
    assert len(summary["rows"]) == 2 * 2 * 3
    assert all(wanted <= one.keys() for one in summary["rows"])
    assert all(one["mean_ratio"] == 1 for one in summary["rows"] if one["writer"] == "opt")
    chain = next(one for one in summary["rows"] if one["distribution"] == "update_chain")
    assert (chain["n"], chain["distinct_packages"]) == (4, 1)
    before = (folder / SUMMARY).read_bytes()
    summarise(folder)
    assert (folder / SUMMARY).read_bytes() == before
    assert json.loads(before) == summary


def test_copies_are_no_evidence(folder: Path) -> None:
    """A distribution without draws: no width, and no difference is told from chance."""
    summary = summarise(folder)
    for one in summary["differences"]:
        if one["distribution"] == "update_chain":
            assert (one["n"], one["p"], one["p_holm"]) == (4, 1.0, 1.0)
            assert one["ci_low"] == one["mean_difference"] == one["ci_high"]


def test_copies_are_drawn_together_wherever_they_are() -> None:
    """Five packages, three of them one and the same in two distributions: three are distinct."""
    digests = {
        ("d", 0): "same",
        ("d", 1): "same",
        ("d", 2): "other",
        ("e", 0): "third",
        ("e", 1): "same",
        ("e", 2): "third",
    }
    rows = [
        row(seed, name, 0.5, distribution=distribution, digest=digest)
        for (distribution, seed), digest in digests.items()
        for name in ("a", "b")
    ]
    grids = read_grids(MANIFEST, rows)
    known = package_resampling(grids)
    assert known.cluster.tolist() == [0, 0, 1, 2, 0, 2]
    assert [grid.distinct for grid in grids] == [2, 2]
    first, copy, other, third, elsewhere, again = known.drawn.T
    assert (first == copy).all()
    assert (first == elsewhere).all()
    assert (first + other == 2).all()  # drawn within the distribution that has them first
    assert (third == 1).all()
    assert (again == 1).all()


def test_a_distribution_of_copies_of_another_adds_no_evidence() -> None:
    rows = [
        row(seed, name, ratio + seed / 10, distribution=distribution)
        for distribution in ("d", "e")
        for seed in range(3)
        for name, ratio in (("a", 0.5), ("b", 0))
    ]
    both, one = read_grids(MANIFEST, rows), read_grids(MANIFEST, rows[:6])
    assert (package_resampling(both).drawn == np.tile(package_resampling(one).drawn, 2)).all()
    assert package_resampling(both).cluster.tolist() == [0, 1, 2, 0, 1, 2]


def test_clear_differences_stay_clear() -> None:
    """With 19 writers there are 171 pairs; Holm's correction must not drown them all."""
    writers = [f"w{n}" for n in range(19)]
    manifest = {
        "spec_digest": "d",
        "spec": {"seeds": "0-39", "writers": writers, "budgets": ["2"]},
    }
    rows = [row(seed, name, n / 20) for seed in range(40) for n, name in enumerate(writers)]
    summary = summary_of(manifest, read_grids(manifest, rows))
    assert all(one["p_holm"] < 0.05 for one in summary["differences"])
