"""The checks of pages catch what they are there for."""

from pathlib import Path

import pytest

from tests.docs.blocks import blocks, inline_commands, missing_line, page_text
from tests.docs.commands import check_call, check_names, check_synopsis
from tests.docs.walk import DECLARED, Step, expected_code, steps_of, walk


def page(*parts: tuple[str, str]) -> str:
    """A page of blocks: what stands after the fence, and what is inside."""
    return "".join(f"# Part\n\n```{info}\n{text}\n```\n\n" for info, text in parts)


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ([("", "some text")], "no declared way"),
        ([("rust", "fn main() {}")], "no declared way"),
        ([("text", "output of nothing")], "no declared way"),
        ([("text nowhere", "x")], "no declared way"),
        ([("console no-run", "$ memaudit demo")], "no-run has one reason"),
        ([("console no-run why", "$ memaudit solv p.json")], "there is no command 'solv'"),
        ([("console no-run why", "$ memaudit solve p.json --bugdet 3")], "No such option"),
        ([("console no-run why", "$ memaudit gate p.json s.json --budget 3")], "min_score"),
        ([("console no-run why", "$ make nonsense")], "no target 'nonsense'"),
        ([("console no-run why", "$ pip install '.[gpu]'")], "no extra 'gpu'"),
        ([("console no-run why", "$ pip install 'w/x.whl[models,gpu]'")], "no extra 'gpu'"),
        ([("console synopsis", "memaudit solve PATH --bugdet B   best")], "no option --bugdet"),
        ([("console", "memaudit --version")], "begins with a command"),
        ([("console", "$ memaudit --version\nmemaudit 99")], "'memaudit 99' is not printed"),
        ([("console", "$ memaudit package validate none.json")], "ends with 1"),
        ([("console", "$ memaudit --version\n$ echo $?\n1")], "ends with 0"),
        ([("console", "$ memaudit --version | cat")], "keep it simple"),
        ([("python", "assert 1 == 2, 'sums differ'")], "sums differ"),
        ([("python", "print(1)"), ("text", "2")], "'2' is not printed"),
        ([("python no-run why", "from memaudit import nothing")], "has no nothing"),
        ([("text figure", "memaudit solve PATH")], "holds no command"),
        ([("yaml", "- run: memaudit gate p.json")], "Missing"),
        ([("csv x.csv", "a,b\n1")], ""),
        ([("text x.bin", "a")], "nobody knows files of .bin"),
    ],
)
def test_what_is_wrong_fails(parts: list[tuple[str, str]], complaint: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=rf"^page\.md:{6 * len(parts) - 3}: ") as caught:
        walk("page.md", page(*parts), tmp_path)
    assert complaint in str(caught.value)


def test_what_is_right_passes(tmp_path: Path) -> None:
    """Files are there for commands, names for later snippets, and each block has its way."""
    ways = walk(
        "page.md",
        page(
            ("text notes.txt", "Ann eats fish."),
            ("console", "$ memaudit import plain notes.txt --out s.json\n1 active memories\n..."),
            ("console", "$ memaudit package show none.json\nerror: none.json: ...\n$ echo $?\n1"),
            ("python", "here = open('notes.txt').read()"),
            ("python", "print(here, end='')"),
            ("text", "Ann ... fish."),
            ("", "memaudit solve PATH --budget 3   the best store\nmake demo   # try it"),
        ),
        tmp_path,
    )
    kinds = [way.kind for way in ways]
    assert kinds == ["file", "run", "run", "python", "python", "output", "synopsis"]


def test_fences() -> None:
    """Indented and open fences are errors, not text that nobody checks."""
    with pytest.raises(AssertionError, match="p:2: a fence starts its line"):
        blocks("p", "- item\n  ```console\n  ```\n")
    with pytest.raises(AssertionError, match="p:1: the block is never closed"):
        blocks("p", "```console\n$ memaudit\n")
    (block,) = blocks("p", '```console no-run "two words"\n$ x\n```\n')
    assert (block.language, block.words, block.text) == (
        "console",
        ("no-run", "two words"),
        "$ x\n",
    )


def test_output() -> None:
    """Layout does not count; order, content and made-up lines do."""
    printed = " store   budget \n ────── \n a   1.000 \n b   0.500   0.012 s\n"
    assert missing_line("store budget\na 1.000\nb 0.500 ... s", printed) == ""
    assert missing_line("a 1.000", printed) == ""
    assert missing_line("b 0.500 ...\na 1.000", printed) == "a 1.000"
    assert missing_line("a 1.00", printed) == "a 1.00"
    assert missing_line("a.1.000", printed) == "a.1.000"


def test_steps() -> None:
    """Commands go on after a backslash; exit codes are shown, or follow from the first line."""
    one, two = steps_of("$ memaudit a \\\n    --b\nout\n$ echo $?\n3\n")
    assert (one.command, one.shown, two.shown) == ("memaudit a  --b", "out\n", "3\n")
    assert expected_code(one, two) == 3
    assert expected_code(Step("x", "FAIL: y"), None) == 1
    assert expected_code(one, None) == 0


def test_commands_in_passing() -> None:
    """Found in the text, also over a line break; not in blocks."""
    text = "Use `memaudit label\nframe --out` or `memaudit`.\n\n```text\n`memaudit x`\n```\n"
    assert inline_commands(text) == ["memaudit label frame --out"]
    check_names(["label", "frame", "--out"])
    with pytest.raises(AssertionError, match="audit has no command 'frames'"):
        check_names(["audit", "frames"])
    with pytest.raises(AssertionError, match="neither memaudit, make nor pip"):
        check_synopsis("curl something")
    check_call(["solve", "p.json", "--budget", "30,60"])


def test_declarations_are_needed() -> None:
    """Each is about exactly one block that is still there."""
    for name, start, _ in DECLARED:
        found = [one for one in blocks(name, page_text(name)) if one.text.startswith(start)]
        assert len(found) == 1, f"{name}: {start!r} begins {len(found)} blocks"
