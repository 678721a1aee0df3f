"""Run a command in this process, and write the files that it reads."""

import json
import sys
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from memaudit.cli.main import app


def words(*arguments: object) -> list[str]:
    """The words of a command line. The command, which comes first, and texts that begin with an
    option may be several words with blanks between them; everything else is one word."""
    return [
        word
        for place, argument in enumerate(arguments)
        for word in (
            argument.split(" ")
            if isinstance(argument, str) and (place == 0 or argument.startswith("-"))
            else [str(argument)]
        )
    ]


def process(*arguments: object) -> list[str]:
    """The command line that runs `memaudit ARGUMENTS` in a process of its own."""
    return [sys.executable, "-m", "memaudit.cli.main", *words(*arguments)]


def run(*arguments: object, answer: str | None = None) -> Result:
    """The result of `memaudit ARGUMENTS`, on an 80 column terminal; `answer` is typed into it."""
    return CliRunner(env={"COLUMNS": "80"}).invoke(app, words(*arguments), input=answer)


def done(*arguments: object) -> Result:
    """The result of a command that must succeed."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def printed_json(*arguments: object) -> Any:
    return json.loads(done(*arguments, "--json").stdout)


def question_summary(*arguments: object) -> dict[str, Any]:
    """The JSON of `memaudit diagnose` and `memaudit study transfer`, with losses that add up."""
    data: dict[str, Any] = printed_json(*arguments)
    for store in data["summaries"]:
        assert sum(map(Fraction, store["losses"].values())) == 1 - Fraction(store["answered"])
        assert sum(store["outcomes"].values()) == store["questions"] == data["questions"]
    return data


def failure(*arguments: object) -> str:
    """The one line a failing command prints."""
    result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def write_rows(path: Path, *rows: object) -> Path:
    """Rows as JSONL."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def import_texts(path: Path, texts: Iterable[str]) -> Path:
    """A store at a .json path, imported from a plain export beside it that gives it its name."""
    export = write_rows(path.with_suffix(".jsonl"), *({"text": text} for text in texts))
    done("import", export, "--out", path)
    return path
