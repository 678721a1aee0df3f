"""Estimated GVT with a model's utilities, asked over real HTTP and read from a file."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import write_package
from memaudit.lab.sweeps.writers.protocol import WriterRunner, visible
from memaudit.lab.sweeps.writers.registry import named_writer
from tests.building.passes.fake_model import blocks, plays
from tests.cli.running import done, failure
from tests.models.server import serving


def test_a_models_utilities(tmp_path: Path) -> None:
    """The model sees candidates in order of arrival, and no unit or question. The writer goes by
    its scores, and a candidate without one is an error."""
    package = short_set()[0]
    path, file = tmp_path / "package.json", tmp_path / "utilities.json"
    write_package(package, path)
    words = (
        "study",
        "utilities",
        path,
        "--model",
        "one",
        "--out",
        file,
        "--set",
        "model.yes=true",
        "--set",
        f"model.cache={tmp_path / 'cache'}",
    )
    with serving(plays) as served:
        done(*words, "--set", f"model.base_url={served.url}")
    texts = [candidate.text for candidate in visible(package).candidates]
    shown = [
        row["text"]
        for body in served.bodies
        for row in blocks(body["messages"][1]["content"])["memories"]
    ]
    assert shown == list(dict.fromkeys(texts))
    assert all(
        set(blocks(body["messages"][1]["content"])) <= {"memories", "earlier"}
        for body in served.bodies
    )
    data = json.loads(file.read_text())
    assert data["values"] == {text: min(10, len(text.split())) / 10 for text in texts}
    writer = named_writer(f"estimated_gvt:{file}")
    assert "write-time salience by one" in writer.about
    store = WriterRunner(package).written_by(writer, Fraction(20), 0)
    assert store
    assert package.total_cost(store) <= 20
    with pytest.raises(MemAuditError, match="has no score of"):
        WriterRunner(short_set()[1]).written_by(writer, Fraction(20), 0)
    out = ("--out", tmp_path / "run", "--budgets", "20", "--set", "engine.jobs=1")
    printed = done("run", "--packages", path, "--writers", f"opt,estimated_gvt:{file}", *out)
    assert "Estimated GVT, a model's utilities" in printed.stdout
    assert "cannot read the utilities" in failure(
        "run", "--packages", path, "--writers", "estimated_gvt:no.json", *out
    )
