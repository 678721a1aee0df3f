"""The bundled natural set and its stores: consistent files, a README that counts them, and optima
that do not saturate."""

import json
import re
from collections import Counter, defaultdict
from functools import cache
from importlib.resources import files
from typing import Any

import pytest

from memaudit.building.label_passes import label_passes
from memaudit.building.named_packages import (
    PASSES,
    STORES,
    natural_set,
    natural_stores,
    store_files,
)
from memaudit.judges.label_judges import LabelJudge
from memaudit.kernel.score.judging import judge_store
from memaudit.kernel.solvers.solve import PackageSolver

FOLDER = files("memaudit").joinpath("examples", "natural")
README = FOLDER.joinpath("README.md").read_text("utf-8")
BUDGETS = (30, 60, 100)


@cache
def rows(name: str) -> tuple[dict[str, Any], ...]:
    text = FOLDER.joinpath(name).read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def setting_of(package: str) -> str:
    topics = {
        row["conversation"]: row["topic"] for row in rows("conversations.jsonl") if "topic" in row
    }
    return str(topics[package])


def table(heading: str) -> list[list[str]]:
    """The rows of the README's table whose heading begins so, without its rule."""
    start = README.index(heading)
    lines = README[start:].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_readme_counts_the_set() -> None:
    """Eight settings of eight conversations; every number of the first table."""
    packages = natural_set()
    texts = Counter(row["conversation"] for row in rows("memories.jsonl") if "text" in row)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for package in packages:
        setting = setting_of(package.name)
        for name in (setting, "all"):
            found[name] += Counter(
                conversations=1,
                turns=sum(bool(one.text) for one in package.experiences),
                questions=len(package.queries),
                units=len(package.units),
                memories=texts[package.name],
            )
    for setting, conversations, _, _, turns, questions, units, memories in table("| setting | con"):
        own = found.pop(setting)
        assert list(map(int, (conversations, turns, questions, units, memories))) == [
            own[name] for name in ("conversations", "turns", "questions", "units", "memories")
        ], setting
    assert not found


def test_every_cell_was_judged_twice() -> None:
    """Both blind passes cover every pair of each conversation, and the passes differ somewhere."""
    for package in natural_set():
        passes = label_passes(package)
        assert passes is not None
        assert tuple(one.name for one in passes.passes) == PASSES
        assert passes.judged == len(package.candidates) * len(package.units)


@pytest.mark.slow
def test_optima_do_not_saturate() -> None:
    """More budget and a second candidate of a session are worth something, as the README says."""
    shares: dict[tuple[int, int], list[float]] = defaultdict(list)
    for package in natural_set():
        weight = sum(package.weights.values())
        for cap in (1, 2):
            solver = PackageSolver(package, cap)
            for budget in BUDGETS:
                best = solver.solve(budget)
                assert best.certified
                shares[cap, budget].append(float(best.value / weight))
    means = {key: sum(values) / len(values) for key, values in shares.items()}
    one = [means[1, budget] for budget in BUDGETS]
    two = [means[2, budget] for budget in BUDGETS]
    assert [round(100 * mean) for mean in one] == [16, 28, 39]
    assert [round(100 * mean) for mean in two[1:]] == [29, 43]
    said = re.search(
        r"(\d+) % of all weight at a budget of 30, (\d+) % at 60 and (\d+) %",
        README.replace("\n", " "),
    )
    assert said is not None
    assert list(map(int, said.groups())) == [16, 28, 39]


def test_stores_are_labelled_and_scored() -> None:
    """Every store has memories of every conversation, each with labels and a salience."""
    counts = {name: int(number.replace(",", "")) for name, number, _ in table("| store | mem")}
    with store_files() as found:
        judge = LabelJudge(found.labels, found.memories)
        salience = {name: found.salience(name).read_text("utf-8") for name in STORES}
    for store in natural_stores():
        assert len(store.active) == counts[f"`{store.name}`"]
        for package in natural_set()[::16]:
            written = judge_store(package, store, judge)
            assert written.memories
            assert f'"{package.name}"' in salience[store.name]
