"""The files that the guides show really register, and hold what every built-in one must hold."""

import importlib.util
import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memaudit.kernel.solvers.registry import SOLVERS
from memaudit.stores.registry import ADAPTERS
from tests.docs.blocks import blocks, page_text
from tests.kernel.solvers import test_conformance as solvers
from tests.lab.sweeps.writers import test_conformance as writers
from tests.lab.sweeps.writers import test_visible_only
from tests.stores import test_registry as adapters
from tests.stores.exports import EXPORTS

pytestmark = pytest.mark.slow

FORMS = 200
"""Seeded problems for the solver of the guide; built-in ones get thousands."""


def shown(page: str, file: str, folder: Path) -> ModuleType:
    name = f"docs/how-to/{page}.md"
    (block,) = (one for one in blocks(name, page_text(name)) if one.words == (file,))
    path = folder / file
    path.write_text(block.text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checks_of(module: ModuleType, *parameters: str) -> list[Callable[..., Any]]:
    """The tests of a conformance module that take exactly these arguments."""
    found = [
        test
        for name, test in sorted(vars(module).items())
        if name.startswith("test_") and tuple(inspect.signature(test).parameters) == parameters
    ]
    assert found
    return found


def test_the_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the only registered writer it passes every check there is for writers."""
    writer = shown("add-a-writer", "newest_facts.py", tmp_path).NewestFacts()
    for module in (writers, test_visible_only):
        monkeypatch.setattr(module, "WRITERS", {writer.name: writer})
    for test in checks_of(writers, "name"):
        test(writer.name)
    for name in (
        "test_feasible_on_any_package",
        "test_same_store_twice",
        "test_a_budget_beyond_everything_changes_nothing",
        "test_a_monotone_writer_never_spends_less_of_more",
        "test_names_carry_no_information",
    ):
        getattr(writers, name)()
    test_visible_only.test_nothing_hidden_reaches_a_store()


def test_the_adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside all others: its export is its own, read and counted as the page says."""
    adapter = shown("add-an-adapter", "diary.py", tmp_path).Diary()
    export = shown("add-an-adapter", "diary_export.py", tmp_path).DIARY
    monkeypatch.setitem(ADAPTERS, adapter.name, adapter)
    for test in checks_of(adapters, "export", "tmp_path"):
        test(export, tmp_path)
    for name, other in EXPORTS.items():  # nor does it claim what is another's
        (tmp_path / name).mkdir()
        adapters.test_no_two_importers_claim_it(other, tmp_path / name)


def test_the_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal to brute force, also when it is stopped, hinted or given shuffled rows."""
    solver = shown("add-a-solver", "depth_first.py", tmp_path).DepthFirst
    monkeypatch.setitem(SOLVERS, solver.name, solver)
    monkeypatch.setitem(solvers.FORMS, solver.name, FORMS)
    for test in checks_of(solvers, "name"):
        test(solver.name)
    for limits in ({"seconds": 0.0}, {"nodes": 1.0}):
        solvers.test_early_stops_stay_valid(solver.name, limits)
    for irrational in (False, True):
        solvers.test_solving_twice_gives_the_same(solver.name, irrational)
