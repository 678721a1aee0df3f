"""Another model judges packages again, over real HTTP to a deterministic model."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from tests.building.passes.fake_model import blocks, instead
from tests.cli.running import done, failure, printed_json
from tests.models.server import serving

PACKAGES = short_set()[:4]


def in_two_labels(body: dict[str, Any]) -> str:
    """A judge who calls covered in full what a package covers at all, and never errs."""
    data = blocks(body["messages"][1]["content"])
    memories = {row["memory"]: row["text"] for row in data["memories"]}
    units = {row["unit"]: row["text"] for row in data["units"]}
    cells = [
        {
            "memory": pair["memory"],
            "unit": unit,
            "kept": [],
            "reason": "",
            "label": "full" if (memories[pair["memory"]], units[unit]) in COVERED else "none",
        }
        for pair in data["pairs"]
        for unit in pair["units"]
    ]
    return json.dumps({"cells": cells})


def covered() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        texts = {unit.id: unit.text for unit in package.units}
        for row in package.coverage:
            if row.value:
                yield package.candidate[row.candidate].text, texts[row.unit]


COVERED = frozenset(covered())


def test_a_second_models_package_pass(tmp_path: Path) -> None:
    """Agreement with the packages' labels, the change of ratios, and the ranking; from the cache
    the second time. A judge who uses two labels and agrees on every cell changes ratios, because
    partial cells become full ones; compared at two labels, nothing changes."""
    for package in PACKAGES:
        write_package(package, tmp_path / f"{package.name}.json")
    paths = sorted(tmp_path.glob("*.json"))
    words = (
        "audit model",
        *paths,
        "--model one --budget 10,20 --writer gvt --writer recency_raw",
        "--set score.draws=50 --set model.yes=true --set engine.jobs=1",
        f"--set model.cache={tmp_path / 'cache'}",
    )
    with serving(instead("coverage", in_two_labels)) as served:
        data = printed_json(*words, "--set", f"model.base_url={served.url}")
        asked = len(served.bodies)
        text = done(*words, "--set", f"model.base_url={served.url}").stdout
        two = printed_json(*words, "--set", f"model.base_url={served.url}", "--two-labels")
        assert len(served.bodies) == asked
    agreed, moved = data["agreement"], data["ratios"]
    assert agreed["packages"] == moved["packages"] == len(PACKAGES)
    covered = agreed["pairs"][0]["scales"]["covered"]
    assert covered["cells"] == agreed["cells"]
    assert covered["as_drawn"]["raw_agreement"]["value"] == 1
    (shifts,) = (own["shifts"] for own in moved["label_sets"])
    assert [row["budget"] for row in shifts] == [10, 20, None]
    assert shifts[-1]["ratio_mad"]["mean"] > 0
    assert "Cohen's kappa" in text
    assert "ratio MAD" in text
    assert two["agreement"] == agreed
    (shifts,) = (own["shifts"] for own in two["ratios"]["label_sets"])
    assert [row["ratio_mad"]["mean"] for row in shifts] == [0, 0, 0]
    assert "--zero-rate 'x'" in failure(*words, "--zero-rate", "x")
