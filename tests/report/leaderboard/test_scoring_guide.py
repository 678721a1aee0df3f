"""docs/scoring.md: its commands are run, and print what it shows."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from memaudit.audits.diagnosis import STEPS
from memaudit.pytest_plugin import score_store
from tests.cli.running import run

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "scoring.md").read_text()
EXAMPLES = "src/memaudit/examples"


def squeezed(text: str) -> list[str]:
    """Lines without their layout."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip(" ─")]


def commands() -> list[tuple[str, list[str]]]:
    """Every command of the page with the lines below it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ memaudit ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, squeezed(shown)))
    return found


def test_the_commands_print_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line shown is printed, in that order; lines may be left out of the page."""
    for name, text in re.findall(r"^```text (\S+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "scores").mkdir()
    monkeypatch.chdir(tmp_path)
    shown = commands()
    assert len(shown) == 14
    for command, lines in shown:
        words = shlex.split(command.replace(EXAMPLES, str(ROOT / EXAMPLES)))
        out = words[words.index(">") + 1] if ">" in words else None
        result = run(*(words[: words.index(">")] if out else words))
        assert result.exit_code == (1 if lines and lines[0].startswith("FAIL") else 0), command
        if out:
            Path(out).write_text(result.stdout)
        printed = iter(squeezed(result.stdout))
        for line in lines:
            assert line in printed, f"{command}: {line!r} is not printed"
    assert "leaderboard-data" in (tmp_path / "board.html").read_text()
    assert_the_fixture_fails_as_shown()


def assert_the_fixture_fails_as_shown() -> None:
    """The test of the page, run as pytest would, beside the files of its commands."""
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
    assert all(step in PAGE for step in STEPS)
