"""What the manifest says about the program itself."""

import hashlib
from pathlib import Path

import memaudit
from memaudit.lab.reproduce.folder import (
    data_hashes,
    own_files,
    prompt_hashes,
    source_digest,
    versions,
)

ROOT = Path(memaudit.__path__[0])


def test_every_prompt_is_there() -> None:
    """Each Markdown file in a folder of prompts, and the guideline; nothing that is no prompt."""
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in [*ROOT.rglob("prompts/**/*.md"), *ROOT.rglob("guideline.md")]
    }
    assert set(prompt_hashes()) == expected
    assert len(expected) >= 7
    for name, sha256 in prompt_hashes().items():
        assert hashlib.sha256((ROOT / name).read_bytes()).hexdigest() == sha256


def test_data_are_tables_and_examples() -> None:
    """Eight tables, the example and the natural set."""
    names = set(data_hashes())
    assert sum(name.startswith("lab/sweeps/generators/tables/") for name in names) == 8
    assert {"examples/travel.json", "examples/short/coverage.jsonl"} <= names


def test_the_source_digest_is_about_files_that_ship() -> None:
    """No compiled leftovers are in it, so that it is the same on every machine."""
    assert "kernel/package/package.py" in own_files()
    assert not [name for name in own_files() if "__pycache__" in name or name.endswith(".pyc")]
    assert len(source_digest()) == 64
    assert {"python", "memaudit", "numpy", "numba", "highspy"} <= versions().keys()
