"""A page run from top to bottom in a folder of its own, every block as it declares."""

import ast
import csv
import importlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Literal

import yaml

from memaudit.conversations.registry import read_conversations
from memaudit.judges.label_files import read_labels
from memaudit.kernel.checker import verify
from memaudit.kernel.io.packages import read_package
from memaudit.kernel.package.optimum import Certificate
from memaudit.stores.registry import import_store
from tests.building.passes.fake_model import blocks, instead
from tests.cli.running import run
from tests.docs.blocks import ROOT, Block, missing_line
from tests.docs.blocks import blocks as page_blocks
from tests.docs.commands import (
    PROGRAM,
    check_call,
    check_extras,
    check_synopsis,
    check_target,
    lines_of,
)
from tests.lab.downstream.fake_reader import reads
from tests.lab.labels.annotate.small_frames import Served
from tests.models.server import serving

ADDRESS = "http://localhost:8000/v1"
"""Where the pages say that a model is."""

ACCEPTED = {"verdict": "accepted", "required": [], "rewrites": [], "reason": "it is so"}
AGREES = instead("adjudication", json.dumps(ACCEPTED))
"""A model for all passes; as the adjudicator it accepts what it is shown."""


@contextmanager
def model() -> Iterator[str]:
    """The address of a deterministic model that answers every pass, and reads."""
    with serving(_answers) as served:
        yield served.url


def _answers(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    given = blocks(body["messages"][1]["content"])
    (reads if set(given) == {"question", "memories"} else AGREES)(handler, body)


def visited(words: list[str]) -> tuple[int, str]:
    """Start a server, look at its page, label a cell where cells are labelled, press Ctrl-C.

    The exit code and what was printed. The browser that it opens is the program `true`.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "memaudit.cli.main", *words],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "BROWSER": "true"},
    ) as process:
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline(), process.stdout.readline()]
            server = Served(process, lines[1].strip(), lines[0])
            assert server.get("/")[0] == 200, lines
            if "annotate" in words[:2]:
                server.post("/decisions", {"position": 1, "label": "none", "note": ""})
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    return process.returncode, "".join([*lines, rest])


def read_data(name: str, text: str, folder: Path) -> None:
    """A block that shows a format is of that format; it stays in the folder under its name."""
    if name == "yaml":
        return check_workflow(yaml.safe_load(text))
    path = folder / f"{name}.{'json' if name in DATA['json'] else 'jsonl'}"
    path.write_text(text, encoding="utf-8")
    units, memories = folder / "units.jsonl", folder / "memories.jsonl"
    match name:
        case "package":
            read_package(path)
        case "certificate":
            package = read_package(folder / "package.json")
            assert verify(package, Certificate.from_json(json.loads(text))).valid
        case "chat":
            assert all(loaded.irregularities == () for loaded in read_conversations(path))
        case "units":
            assert read_labels(path)
        case "memories":
            assert read_labels(units, path)
        case "coverage":
            assert read_labels(units, memories, [path])
        case "store":
            assert import_store([path]).count.skipped == {}
    return None


def check_file(name: str, text: str) -> None:
    match Path(name).suffix:
        case ".json":
            json.loads(text)
        case ".jsonl":
            for line in text.splitlines():
                assert not line.strip() or json.loads(line)
        case ".csv":
            rows = list(csv.reader(io.StringIO(text)))
            assert {len(row) for row in rows} == {len(rows[0])}
        case ".yml" | ".yaml":
            check_workflow(yaml.safe_load(text))
        case ".toml":
            tomllib.loads(text)
        case ".py":
            compile(text, name, "exec")
        case ".ini" | ".txt" | ".md":
            assert text.strip()
        case other:
            raise AssertionError(f"{name}: nobody knows files of {other}")


def check_workflow(document: Any) -> None:
    """Every `run:` of a workflow that calls us names a command and options that exist."""
    for line in _run_lines(document):
        words = shlex.split(line.partition(" > ")[0])
        if words and words[0] == PROGRAM:
            check_call(words[1:])


def _run_lines(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from str(value.get("run", "")).splitlines()
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from _run_lines(inner)


def check_python(text: str, place: str) -> None:
    """Code that cannot run here compiles, and every name it imports from us is there."""
    tree = compile(text, place, "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PROGRAM):
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                assert hasattr(module, alias.name), f"{place}: {node.module} has no {alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith(PROGRAM):
                    importlib.import_module(alias.name)


SECONDS = 120
PROMPT = re.compile(r"^\$ ", re.MULTILINE)
FAILURE = ("FAIL", "error:")


@dataclass(frozen=True, slots=True)
class Step:
    """A command as it is typed, and what the page shows below it."""

    command: str
    shown: str


def steps_of(text: str) -> list[Step]:
    """The commands of a block; one that ends in a backslash goes on in the next line."""
    parts = PROMPT.split(text)
    assert not parts[0].strip(), f"a console block begins with a command, not {parts[0]!r}"
    found = []
    for part in parts[1:]:
        command, _, shown = re.sub(r"\\\n\s*", " ", part).partition("\n")
        found.append(Step(command, shown))
    return found


@dataclass(slots=True)
class Shell:
    """Remembers the last exit code, as a shell does."""

    folder: Path
    code: int = 0
    answer: str | None = None
    """What is typed where a command asks."""

    def type(self, step: Step) -> str:
        """Run one command; what it prints. Redirection writes a file instead."""
        words = shlex.split(step.command)
        if words == ["echo", "$?"]:
            return f"{self.code}\n"
        target = None
        if len(words) > 2 and words[-2] == ">":
            words, target = words[:-2], words[-1]
        assert not set(words) & {"|", "&&", ";", "<", ">>"}, f"{step.command}: keep it simple"
        out, everything = self._ours(words[1:]) if words[0] == PROGRAM else self._other(words)
        if target is not None:
            (self.folder / target).write_text(out)
            return everything.replace(out, "", 1)
        return everything

    def _ours(self, words: list[str]) -> tuple[str, str]:
        result = run(*words, answer=self.answer)
        assert result.exception is None or isinstance(result.exception, SystemExit), words
        self.code = result.exit_code
        return result.stdout, result.output

    def _other(self, words: list[str]) -> tuple[str, str]:
        if words[0] == "python":
            words = [sys.executable, *words[1:]]
        if words[0] == "pytest":
            words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words[1:]]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=environment,
            text=True,
            timeout=SECONDS,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.code = done.returncode
        return done.stdout, done.stdout


def expected_code(step: Step, following: Step | None) -> int:
    """0, or 1 where the page shows a failure; `echo $?` says it outright."""
    if following is not None and following.command == "echo $?":
        return int(following.shown)
    return 1 if step.shown.lstrip().startswith(FAILURE) else 0


GUIDE = "tests/show/board/test_scoring_guide.py"
SYSTEM = "needs an installed memory system"
STORES = "docs/stores.md"
REPRODUCE = "docs/how-to/reproduce.md"
ARTIFACT = "tests/lab/reproduce/guide.py"

DECLARED: list[tuple[str, str, tuple[str, str]]] = [
    (REPRODUCE, "$ memaudit reproduce all --seeds", ("elsewhere", ARTIFACT)),
    (REPRODUCE, "$ memaudit reproduce verify", ("elsewhere", ARTIFACT)),
    ("docs/scoring.md", "OPT(common union) - OPT(package + store)", ("figure", "")),
    ("docs/scoring.md", "digest at 24 scores", ("elsewhere", GUIDE)),
    (STORES, "$ memaudit import passages.json", ("run", "")),
    (STORES, "from pathlib import Path", ("python", "")),
    (STORES, "json.dump(memory.get_all(", ("python-parse", SYSTEM)),
    (STORES, "file.write(client.agents.export_file(", ("python-parse", SYSTEM)),
    (STORES, "json.dump([vars(note)", ("python-parse", SYSTEM)),
    (STORES, "json.dump([item.dict()", ("python-parse", SYSTEM)),
    (STORES, "edges = await EntityEdge", ("python-parse", SYSTEM)),
    (STORES, "pages = client.get_paginator(", ("python-parse", SYSTEM)),
    (STORES, "json.dump([memory.to_dict()", ("python-parse", SYSTEM)),
]

CHAT = (
    {"conversation": "ticket-17"},
    {"session": "first call"},
    {"id": "router", "speaker": "Lena", "text": "My router is a Kestrel 5."},
    {"question": "Which router is it?", "answer": "a Kestrel 5", "evidence": ["router"]},
)

PREPARED = {
    "docs/model-passes.md": {"chat.jsonl": "".join(f"{json.dumps(row)}\n" for row in CHAT)},
    STORES: {
        "passages.json": json.dumps(
            [
                {"id": "p1", "text": "Ann eats fish.", "embedding_config": {}},
                {"id": "p2", "text": "Ann eats meat.", "is_deleted": True, "embedding_config": {}},
                {"id": "p3", "text": "Page 1.", "file_id": "f1", "embedding_config": {}},
            ]
        ),
        "export.json": json.dumps(
            {"results": [{"id": "m1", "memory": "Ann eats fish.", "user_id": "ann"}]}
        ),
    },
}
"""Files that are in the folder before the page begins."""


Kind = Literal[
    "run",
    "model",
    "visit",
    "parse",
    "synopsis",
    "python",
    "python-model",
    "python-parse",
    "file",
    "output",
    "data",
    "figure",
    "elsewhere",
]

FILES = ("text", "json", "jsonl", "csv", "yaml", "toml", "python", "ini")
DATA = {
    "json": ("package", "certificate"),
    "jsonl": ("chat", "units", "memories", "coverage", "store"),
}
PROGRAMS = ("memaudit ", "make ", "pip ")
NO_RUN = "no-run"
WAYS: dict[tuple[str, tuple[str, ...]], Kind] = {
    ("console", ()): "run",
    ("console", ("with-model",)): "model",
    ("console", ("until-ctrl-c",)): "visit",
    ("console", ("synopsis",)): "synopsis",
    ("python", ()): "python",
    ("python", ("with-model",)): "python-model",
    ("text", ("figure",)): "figure",
}


@dataclass(frozen=True, slots=True)
class Way:
    """What is done with a block; `name` is its file, its sort of data, or the reason."""

    kind: Kind
    name: str = ""


def way_of(block: Block, before: Sequence[Way]) -> Way:
    """The declared way; a block without one fails the test of its page."""
    declared = [
        way for page, start, way in DECLARED if page == block.page and block.text.startswith(start)
    ]
    if declared:
        kind, name = declared[0]
        return Way(kind, name)  # type: ignore[arg-type]
    way = _own(block, before)
    assert way is not None, (
        f"{block.place}: no declared way of checking this block of {block.language or 'nothing'} "
        f"{' '.join(block.words)}; tests/docs/README.md lists the ways"
    )
    return way


def _own(block: Block, before: Sequence[Way]) -> Way | None:
    language, words = block.language, block.words
    if NO_RUN in words:
        assert len(words) == 2, f'{block.place}: no-run has one reason, in quotes: no-run "why"'
        kinds: dict[str, Kind] = {"console": "parse", "python": "python-parse"}
        return Way(kinds[language], words[1]) if language in kinds else None
    if (language, words) in WAYS:
        return Way(WAYS[language, words])
    match language, words:
        case "", () if all(line.startswith(PROGRAMS) for line in lines_of(block.text)):
            return Way("synopsis")
        case "text", () if before and before[-1].kind in ("python", "python-model"):
            return Way("output")
        case "yaml", ():
            return Way("data", "yaml")
        case _, (name,) if name in DATA.get(language, ()):
            return Way("data", name)
        case _, (name,) if language in FILES and "." in name:
            return Way("file", name)
    return None


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
    with chdir(folder):
        for block in page_blocks(page, text):
            way = way_of(block, under_way.done)
            try:
                _check(block, way, under_way)
            except AssertionError as error:
                raise AssertionError(f"{block.place}: {error}") from error
            under_way.done.append(way)
    return under_way.done


def _check(block: Block, way: Way, under_way: Walk) -> None:  # noqa: C901 - a case per kind
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
    program, *words = shlex.split(command.partition(" > ")[0])
    if program == PROGRAM:
        check_call(words)
    elif program == "make":
        check_target(words)
    elif program == "pip":
        check_extras(command)
