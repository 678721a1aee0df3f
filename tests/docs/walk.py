"""A page from top to bottom in a folder of its own, every block in its way."""

import io
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.docs.commands import check_call, check_extras, check_synopsis, check_target, lines_of
from tests.docs.declared import PREPARED
from tests.docs.fences import ROOT, Block, blocks
from tests.docs.others import ADDRESS, model, visited
from tests.docs.output import missing_line
from tests.docs.reading import check_file, check_python, read_data
from tests.docs.shell import Shell, expected_code, steps_of
from tests.docs.ways import Way, way_of


@dataclass(slots=True)
class Walk:
    """One page under way: its folder, its Python names, what it printed last."""

    folder: Path
    shell: Shell
    names: dict[str, Any] = field(default_factory=dict)
    printed: str = ""
    done: list[Way] = field(default_factory=list)


def walk(page: str, text: str, folder: Path) -> list[Way]:
    """Check every block; the ways they were checked in."""
    for part in ("src", "schema"):
        (folder / part).symlink_to(ROOT / part)
    for name, content in PREPARED.get(page, {}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    under_way = Walk(folder, Shell(folder))
    with _inside(folder):
        for block in blocks(page, text):
            way = way_of(block, under_way.done)
            try:
                _check(block, way, under_way)
            except AssertionError as error:
                raise AssertionError(f"{block.place}: {error}") from error
            under_way.done.append(way)
    return under_way.done


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _check(block: Block, way: Way, under_way: Walk) -> None:
    match way.kind:
        case "run":
            _run(block.text, under_way.shell)
        case "model":
            with model() as address:
                agreeing = replace(under_way.shell, answer="y\n" * 20)
                _run(block.text.replace(ADDRESS, address), agreeing)
        case "visit":
            for step in steps_of(block.text):
                code, printed = visited(shlex.split(step.command)[1:])
                line = missing_line(step.shown, printed)
                assert (code, line) == (0, ""), f"$ {step.command}: {code}, {line!r}:\n{printed}"
        case "parse":
            for step in steps_of(block.text):
                _parse(step.command)
        case "synopsis":
            for line in lines_of(block.text):
                check_synopsis(line)
        case "python":
            _execute(block, block.text, under_way)
        case "python-model":
            with model() as address:
                _execute(block, block.text.replace(ADDRESS, address), under_way)
        case "python-parse":
            check_python(block.text, block.place)
        case "file":
            path = under_way.folder / way.name
            path.parent.mkdir(parents=True, exist_ok=True)
            check_file(way.name, block.text)
            path.write_text(block.text, encoding="utf-8")
        case "output":
            line = missing_line(block.text, under_way.printed)
            assert not line, f"{line!r} is not printed, but: {under_way.printed}"
        case "data":
            read_data(way.name, block.text, under_way.folder)
        case "figure":
            assert "memaudit " not in block.text, "a figure holds no command"
        case "elsewhere":
            assert block.page in (ROOT / way.name).read_text(), f"{way.name} does not read the page"


def _execute(block: Block, code: str, under_way: Walk) -> None:
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, block.place, "exec"), under_way.names)
    under_way.printed = printed.getvalue()


def _run(text: str, shell: Shell) -> None:
    steps = steps_of(text)
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        printed = shell.type(step)
        line = missing_line(step.shown, printed)
        assert not line, f"$ {step.command}: {line!r} is not printed, but:\n{printed}"
        if step.command != "echo $?":
            code = expected_code(step, following)
            assert shell.code == code, f"$ {step.command} ends with {shell.code}:\n{printed}"


def _parse(command: str) -> None:
    """A command that is not run: ours must take its words, make and pip must know theirs."""
    words = shlex.split(command.partition(" > ")[0])
    if words[0] == "memaudit":
        check_call(words[1:])
    elif words[0] == "make":
        check_target(words[1:])
    elif words[0] == "pip":
        check_extras(command)
