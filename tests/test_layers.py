"""Imports go one way: every package may import only the packages listed for it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import memaudit

ROOT = Path(memaudit.__path__[0])
BENCH = Path(__file__).parents[1] / "bench"

BASE = {"core", "io", "formats", "stats"}
INPUTS = {"datasets", "models", "adapters"}
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "checker": {"core"},
    "solvers": {"core"},
    "io": {"core"},
    "formats": {"core", "io"},
    "stats": {"core", "io"},
    "writers": BASE | {"solvers"},
    "generators": {"core"},
    "datasets": {"core", "io"},
    "models": {"core", "io"},
    "adapters": BASE | {"writers", "datasets", "models"},
    "natural": BASE | INPUTS | {"solvers", "generators"},
    "scoring": BASE | INPUTS | {"solvers", "writers", "natural"},
    "hygiene": BASE | INPUTS | {"solvers", "natural", "scoring"},
    "label_audit": BASE | INPUTS | {"solvers", "writers", "natural", "scoring"},
    "downstream": BASE | INPUTS | {"solvers", "writers", "natural", "scoring"},
}
MAY_IMPORT["experiments"] = BASE | {"solvers", "writers", "generators", "scoring", "natural"}
MAY_IMPORT["report"] = {*MAY_IMPORT}
MAY_IMPORT["reproduce"] = {*MAY_IMPORT} - {"checker"}
MAY_IMPORT["web"] = {*MAY_IMPORT} - {"reproduce"}
MAY_IMPORT["api"] = {*MAY_IMPORT} - {"reproduce", "web"}
MAY_IMPORT["pytest_plugin"] = {*MAY_IMPORT["label_audit"], "hygiene", "api"}
MAY_IMPORT["cli"] = {*MAY_IMPORT} - {"pytest_plugin"}
MAY_IMPORT["bench"] = {*MAY_IMPORT} - {"cli", "pytest_plugin"}
"""A package may always import itself."""

EXCEPTIONS = {
    # The rule of shared words is a judge's; a build uses it too.
    "building/coverage_rules.py imports memaudit.judges.lexical",
    # `solve` calls an optimum certified only after the checker agreed.
    "kernel/solvers/solve.py imports memaudit.kernel.checker",
    # Trains the shipped model; nothing imports it.
    "lab/writers/estimators/train.py imports memaudit.lab.generators.event_graph",
}


def imports(path: Path) -> Iterator[str]:
    """Every module of ours that a file imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "memaudit":
                yield from (f"memaudit.{alias.name}" for alias in node.names)
            elif node.module and node.module.startswith("memaudit."):
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("memaudit."))


def test_imports_go_one_way() -> None:
    files = [(path, path.relative_to(ROOT)) for path in ROOT.rglob("*.py")]
    files += [(path, path.relative_to(BENCH.parent)) for path in BENCH.rglob("*.py")]
    wrong = []
    for path, name in sorted(files):
        package = name.parts[0].removesuffix(".py")
        for module in imports(path):
            imported = module.split(".")[1]
            if package != "__init__" and imported not in MAY_IMPORT[package] | {package}:
                wrong.append(f"{name.as_posix()} imports {module}")
    assert sorted(set(wrong) - EXCEPTIONS) == []


def test_every_package_has_a_rule() -> None:
    """A new package has to be placed in the layers."""
    packages = {path.name.removesuffix(".py") for path in ROOT.iterdir()}
    assert packages - {"__init__", "__pycache__", "examples", "py.typed"} == set(MAY_IMPORT) - {
        "bench"
    }
