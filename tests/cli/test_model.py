"""`memaudit model export`, `import` and `show`: what they print, and how they fail."""

import json
from pathlib import Path

from tests.cli.running import done, failure, run
from tests.models.asking import request
from tests.models.test_cache import fill


def test_export_import_show(tmp_path: Path) -> None:
    fill(tmp_path / "a", ["x", "y"])
    file = tmp_path / "replies.jsonl"
    result = run("model", "export", file, "--set", f"model.cache={tmp_path / 'a'}")
    assert (result.exit_code, result.stdout) == (0, f"wrote 2 answers and 1 attempts to {file}\n")
    result = done("model", "import", file, "--set", f"model.cache={tmp_path / 'b'}")
    assert [one.split() for one in result.stdout.splitlines()] == [
        ["2", "answers"],
        ["1", "attempts"],
        ["0", "known"],
        ["0", "refused"],
    ]
    shown = run("model", "show", "--set", f"model.cache={tmp_path / 'b'}").stdout.splitlines()
    assert [one.strip() for one in shown] == [
        "2  answers",
        f"2    m, template coverage {request().template.version[:12]}",
        "1  failed attempts",
        "1    refused",
        "used 3 calls, 23 prompt and 12 reply tokens, $0.0000",
    ]


def test_import_refuses_and_fails(tmp_path: Path) -> None:
    fill(tmp_path / "a", ["x"])
    file = tmp_path / "replies.jsonl"
    run("model", "export", file, "--set", f"model.cache={tmp_path / 'a'}")
    row = json.loads(file.read_text().splitlines()[0])
    file.write_text(json.dumps({**row, "key": "\x1b[2J"}) + "\n")
    result = run("model", "import", file, "--set", f"model.cache={tmp_path / 'b'}")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].split() == ["1", "refused"]
    assert result.stderr.startswith("replies.jsonl:1: the key ")
    assert "\x1b" not in result.stderr


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    assert "no cache found" in failure("model", "show", "--set", f"model.cache={missing}")
