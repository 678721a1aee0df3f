"""docs/scoring.md: its test fails with the line it shows, and its table adds up."""

import re
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.losses import LOSS_STEPS
from memaudit.pytest_plugin import score_store
from tests.docs.walk import walk

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "scoring.md").read_text()


def test_the_fixture_fails_as_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of the page, run as pytest would, beside the files of its commands."""
    walk("docs/scoring.md", PAGE, tmp_path)
    monkeypatch.chdir(tmp_path)
    code = re.search(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    line = re.search(r"^```text\n(.*?)\n```", PAGE, re.DOTALL | re.MULTILINE)
    assert code
    assert line
    names: dict[str, Any] = {}
    exec(compile(code[1], "scoring.md", "exec"), names)
    with pytest.raises(pytest.fail.Exception) as caught:
        names["test_memory_keeps_what_matters"](score_store)
    assert caught.value.msg == line[1]


def test_the_diagnosis_table_adds_up() -> None:
    """Rows of values: the losses and what is kept make OPT of the common union."""
    rows = re.findall(r"^\| (?:notes|digest) \| ([\d. |]+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 2
    for row in rows:
        whole, *parts = map(float, row.split(" | "))
        assert sum(parts) == whole
    assert all(step in PAGE for step in LOSS_STEPS)
