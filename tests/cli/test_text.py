"""Nothing in a package, a store or a transcript can steer the terminal."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from memaudit.building.named_packages import short_set
from memaudit.cli.terminal import safe, safe_markup
from memaudit.kernel.io.packages import write_package
from tests.cli.running import done, write_rows
from tests.lab.downstream.haystacks import written


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),
        ("a\nb\r\t", r"a\nb\r\t"),
        ("\x9b2J", r"\x9b2J"),
        ("\u2028", r"\u2028"),
        ("née 東京", "née 東京"),
        ("\x00\x7f", r"\x00\x7f"),
    ],
)
def test_controls_are_written_out(text: str, shown: str) -> None:
    assert safe(text) == shown


@given(st.text())
def test_nothing_unprintable_is_left(text: str) -> None:
    assert safe(text).isprintable()


@pytest.mark.parametrize("text", ["[red]x[/red]", "[link=http://a]b[/link]", "\\[bold]", "x\\y"])
def test_rich_markup_is_shown_not_obeyed(text: str) -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(safe_markup(text), highlight=False)
    assert out.getvalue() == f"{safe(text)}\n"


EVIL = "\x1b[2J[red]\u202ewhich?"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package, an export, a chat and records of LongMemEval with such texts in every place."""
    folder = tmp_path_factory.mktemp("hostile")
    package = short_set()[0]
    query = package.queries[0].model_copy(update={"text": EVIL, "answer": EVIL})
    kinds = tuple(one.model_copy(update={"kind": EVIL}) for one in package.candidates)
    package = package.replace(name=f"[b]{EVIL}", candidates=kinds, queries=(query,))
    write_package(package, folder / "p.json")
    write_rows(folder / "e.jsonl", *({"text": text, "id": EVIL} for text in "aab"))
    question = {"question": "b", "kind": EVIL, "answer": "c", "evidence": [EVIL]}
    write_rows(folder / "c.jsonl", {"conversation": EVIL}, {"text": "a", EVIL: 1}, question)
    records = json.loads(written(folder / "r.json").read_text())
    records[0]["question_type"] = records[0]["question"] = EVIL
    (folder / "r.json").write_text(json.dumps(records))
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "package show {in}/p.json",
        "package show {in}/p.json --list candidates --list queries",
        "package inspect {in}/c.jsonl",
        "solve {in}/p.json --budget 3",
        "import {in}/e.jsonl --out {out}/s.json",
        "label frame {in}/p.json --out {out}/f",
        "diagnose {in}/p.json --writer opt --budget 9 --out {out}/d --show failed",
        "study transfer {in}/r.json --budget 0.6 --out {out}/t --show failed",
    ],
)
def test_texts_are_shown_not_obeyed(command: str, hostile: Path, tmp_path: Path) -> None:
    said = done(command.replace("{in}", str(hostile)).replace("{out}", str(tmp_path))).output
    assert "\x1b" not in said
    assert "\u202e" not in said
    if command.startswith("package show"):
        assert r"\x1b[2J[red]\u202e" in "".join(said.split())
