"""The house: what may import what, and a budget for every folder.

A feature that does not fit into the budget of its folder takes something away, or raises the budget
in a commit of its own that says why.
"""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import memaudit
from memaudit.cli.main import COMMANDS, load
from memaudit.cli.settings import keys

SOURCE = Path(memaudit.__path__[0])
BENCH = Path(__file__).parents[1] / "bench"
ENGINE = "kernel.score.package_scores"


@dataclass(frozen=True, slots=True)
class Budget:
    """At most so many modules, lines without comments, and sibling folders that it imports."""

    modules: int
    lines: int
    edges: int


@cache
def trees() -> dict[str, ast.Module]:
    """Every module by its dotted name below memaudit."""
    return {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts): ast.parse(path.read_text())
        for path in sorted(SOURCE.rglob("*.py"))
    }


def _names(tree: ast.Module, eager: bool) -> Iterator[str]:
    for node in tree.body if eager else ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module == "memaudit" or (node.module or "").startswith("memaudit."):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("memaudit."))


@cache
def imports(eager: bool = False) -> dict[str, frozenset[str]]:
    """What each module imports of ours; inside functions too, unless only `eager` ones count."""
    known = {name.removesuffix(".__init__"): name for name in trees()}
    graph: dict[str, frozenset[str]] = {}
    for name, tree in trees().items():
        found = set()
        for imported in _names(tree, eager):
            below = imported.removeprefix("memaudit").removeprefix(".")
            own = known.get(below) or known.get(below.rpartition(".")[0])
            if own is not None and own != name:
                found.add(own)
        graph[name] = frozenset(found)
    return graph


def folder(name: str) -> str:
    """The folder of a module: one below memaudit, kernel or lab; a file in these is its own."""
    parts = name.split(".")
    depth = 2 if parts[0] in ("kernel", "lab") and len(parts) > 2 else 1
    if parts[0] in ("kernel", "lab") and len(parts) == 2:
        return "kernel.checker" if name == "kernel.checker" else f"{parts[0]}."
    return ".".join(parts[:depth])


def siblings(first: str, second: str) -> tuple[str, str] | None:
    """The two folders side by side that an import joins; None inside one folder."""
    one, other = folder(first), folder(second)
    if one.split(".")[0] != other.split(".")[0]:
        one, other = one.split(".")[0], other.split(".")[0]
    return None if one == other else (one, other)


@cache
def edges() -> frozenset[tuple[str, str]]:
    joined = (siblings(name, other) for name, imported in imports().items() for other in imported)
    return frozenset(edge for edge in joined if edge is not None)


def path_of(module: str) -> Path:
    return SOURCE / f"{module.replace('.', '/')}.py"


def lines(text: str) -> int:
    """Lines of a module without those that hold nothing but a comment."""
    rows = text.splitlines()
    comments = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and rows[token.start[0] - 1].lstrip().startswith("#")
    }
    return len(rows) - len(comments)


BUDGETS = {
    "__init__": Budget(1, 160, 3),
    "api": Budget(1, 500, 7),
    "board": Budget(13, 3050, 5),
    "building": Budget(23, 4850, 6),
    "cli": Budget(28, 4950, 11),
    "conversations": Budget(14, 2550, 1),
    "judges": Budget(14, 3350, 3),
    "kernel.": Budget(8, 700, 0),
    "kernel.checker": Budget(1, 700, 1),
    "kernel.io": Budget(15, 3000, 3),
    "kernel.package": Budget(13, 2200, 2),
    "kernel.score": Budget(20, 4600, 5),
    "kernel.solvers": Budget(31, 7450, 4),
    "kernel.stats": Budget(4, 390, 1),
    "kernel.words": Budget(5, 650, 0),
    "lab.": Budget(3, 350, 2),
    "lab.capture": Budget(17, 3000, 1),
    "lab.commands": Budget(18, 3100, 9),
    "lab.downstream": Budget(14, 3100, 1),
    "lab.explorer": Budget(28, 4700, 3),
    "lab.figures": Budget(12, 2000, 2),
    "lab.labels": Budget(24, 5000, 3),
    "lab.reproduce": Budget(10, 2700, 4),
    "lab.studies": Budget(5, 1100, 0),
    "lab.sweeps": Budget(30, 5200, 0),
    "linting": Budget(15, 2900, 7),
    "models": Budget(13, 3050, 2),
    "pytest_plugin": Budget(1, 240, 4),
    "show": Budget(8, 1350, 2),
    "stores": Budget(23, 5000, 2),
    "workspace": Budget(7, 900, 1),
}
"""By folder; a dot at the end stands for the files directly in it."""

ENGINE_CLOSURE = (60, 12_500)
"""Modules and lines that importing the scoring engine reads at most."""

OPTIONS, SCORE_OPTIONS, COMMAND_LINES = 220, 16, 24
"""Options of all commands, where a key of memaudit.toml counts as one; of `score`; and commands on
the first page."""

EDGES = 108
"""Between folders side by side: below memaudit, inside the kernel, inside the lab."""


def test_imports_know_only_what_is_below() -> None:
    """The kernel knows nothing else of ours, and nothing outside the lab knows the lab.

    The front door names the types of what the lab offers; it loads them by entry points.
    """
    wrong = [
        f"{name} imports {other}"
        for name, imported in imports().items()
        for other in sorted(imported)
        if (name.startswith("kernel.") and not other.startswith("kernel."))
        or (not name.startswith(("lab.", "__init__")) and other.startswith("lab."))
    ]
    assert wrong == []


def test_no_two_folders_import_each_other() -> None:
    assert [edge for edge in sorted(edges()) if edge[::-1] in edges() and edge < edge[::-1]] == []


def test_the_checker_reads_packages_and_nothing_else() -> None:
    """So that it can be read and trusted alone: no solver, no score, no file format."""
    seen = imports()["kernel.checker"]
    assert {name.split(".")[1] for name in seen} <= {"package", "words", "errors", "exact"}


def test_edges_between_folders() -> None:
    assert len(edges()) <= EDGES


@pytest.mark.parametrize("name", sorted(BUDGETS))
def test_every_folder_keeps_its_budget(name: str) -> None:
    own = [module for module in trees() if folder(module) == name]
    written = sum(lines(path_of(module).read_text()) for module in own)
    out = sum(first == name for first, _ in edges())
    budget = BUDGETS[name]
    assert len(own) <= budget.modules
    assert written <= budget.lines
    assert out <= budget.edges


def test_every_folder_has_a_budget() -> None:
    assert {folder(module) for module in trees()} == set(BUDGETS)


def test_the_scoring_engine_is_small() -> None:
    """What `kernel.score.package_scores` imports, and what that imports, and so on."""
    seen: set[str] = set()
    waiting = [ENGINE]
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += imports(eager=True)[module]
    read = sum(lines(path_of(module).read_text()) for module in seen)
    assert (len(seen) <= ENGINE_CLOSURE[0], read <= ENGINE_CLOSURE[1]) == (True, True)


def test_options_are_decisions() -> None:
    counts = {command: options_of(load(command)) for command in COMMANDS}
    assert len(COMMANDS) <= COMMAND_LINES
    assert counts["score"] <= SCORE_OPTIONS
    assert sum(counts.values()) + len(keys()) <= OPTIONS


def options_of(command: Any) -> int:
    """The options of a command, or of all commands of a group, without --help."""
    own = [item for item in command.params if item.param_type_name == "option"]
    below = getattr(command, "commands", {}).values()
    return sum("--help" not in item.opts for item in own) + sum(map(options_of, below))
