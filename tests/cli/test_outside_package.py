"""An outside package brings a judge, an adapter and a command: each works like one of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = '''
import json
from fractions import Fraction

import typer

from memaudit.cli.commands import Command
from memaudit.judges.registry import JudgeKind
from memaudit.kernel.score.judge import Cell, Judgement
from memaudit.stores.field_map import FieldMap


class Everything:
    """Says that a memory with its word covers every unit."""

    is_estimate, judges_candidates = False, True

    def __init__(self, word):
        self.name, self.word = f"everything {word}", word

    def judge(self, memories, units, pairs=None):
        full = {unit.id: Cell(Fraction(1), "outside:everything") for unit in units}
        return Judgement({it.id: full if self.word in it.text else {} for it in memories})


def greet(name: str) -> None:
    typer.echo(f"hello {name}")


JUDGES = [
    JudgeKind("everything", lambda word, memories, session: Everything(word), ("everything:WORD",))
]
FORMATS = [
    FieldMap(
        name="diary", system="Diary", label="Diary", checked="nothing", views=("note",),
        marks=(("note",), ("entry_id",)), lists=("entries",), text="note", id="entry_id",
    )
]
COMMANDS = [Command("greet", "Of outside", "outside_parts:greet", "Greet somebody.")]
'''

ENTRY_POINTS = """\
[memaudit.judges]
parts = outside_parts:JUDGES
[memaudit.stores]
parts = outside_parts:FORMATS
[memaudit.commands]
parts = outside_parts:COMMANDS
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages as an installer leaves it: a module, and its metadata."""
    folder = tmp_path / "site"
    data = folder / "outside_parts-1.0.dist-info"
    data.mkdir(parents=True)
    (folder / "outside_parts.py").write_text(MODULE)
    (data / "METADATA").write_text("Metadata-Version: 2.1\nName: outside-parts\nVersion: 1.0\n")
    (data / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


def memaudit(site: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, which finds the package when it looks."""
    run = [sys.executable, "-c", "from memaudit.cli.main import main; main()", *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "200"}
    return subprocess.run(run, capture_output=True, text=True, timeout=120, env=environment)


def test_a_judge_an_adapter_and_a_command(site: Path, tiny_file: Path, tmp_path: Path) -> None:
    """An export of its format is imported and scored by its judge: the one note covers all."""
    export, store = tmp_path / "diary.json", tmp_path / "store.json"
    export.write_text('{"entries": [{"entry_id": "e1", "note": "Rex"}]}')
    imported = memaudit(site, "import", export, "--out", store)
    assert imported.returncode == 0, imported.stderr
    assert "diary" in imported.stdout
    judged = ["score", tiny_file, store, "--budget", 1000, "--cost-rule", "words", "--judge"]
    scored = memaudit(site, *judged, "everything:Rex")
    assert scored.returncode == 0, scored.stderr
    assert "everything Rex" in scored.stdout
    assert "1.000" in scored.stdout
    assert memaudit(site, "greet", "Ann").stdout == "hello Ann\n"
    unknown = memaudit(site, *judged, "everything")
    assert unknown.stderr.endswith("labels:FILE, calls:FILE, model:NAME, everything:WORD\n")
