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

import memaudit

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


def lines(text: str) -> int:
    """Lines of a module without those that hold nothing but a comment."""
    rows = text.splitlines()
    comments = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and rows[token.start[0] - 1].lstrip().startswith("#")
    }
    return len(rows) - len(comments)


EDGES = 110
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
