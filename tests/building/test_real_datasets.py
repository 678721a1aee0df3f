"""The published files, if they are available: everything builds, validates and solves."""

from pathlib import Path

import pytest

from memaudit.building.annotations import AnnotationRecipe, build_package
from memaudit.building.build_folder import BuildJob, build_into, packages_at
from memaudit.building.reliability import reliability
from memaudit.conversations.registry import iter_conversations
from memaudit.judges.label_files import read_labels
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.frontier import frontier
from memaudit.kernel.solvers.solve import solve_all
from memaudit.lab.sweeps.writers.protocol import visible
from tests.conversations.files import real_file

pytestmark = pytest.mark.slow

LOCOMO = "locomo/locomo10.json"
ORACLE = "longmemeval/longmemeval_oracle_99.json"


@pytest.fixture(scope="module")
def locomo() -> list[Package]:
    return [
        build_package(one, AnnotationRecipe("locomo")).package
        for one in iter_conversations(real_file(LOCOMO))
    ]


def test_locomo(locomo: list[Package]) -> None:
    """A unit for each of the turns that questions cite; four questions cite none."""
    found = reliability("locomo", locomo)
    assert (found.packages, found.queries, found.queries_without_units) == (10, 1986, 4)
    assert found.candidates["raw"] == 5882
    assert found.candidates["fact"] == 2541
    assert found.units_uncovered == 0
    assert found.quotes.checked == found.quotes.found == found.units


def test_no_candidate_of_locomo_spans_sessions(locomo: list[Package]) -> None:
    """So that conversations fall apart by session, and whole frontiers are quick."""
    for package in locomo:
        home = {one.id: one.session for one in package.experiences}
        units = {one.id: one.sources[0].session for one in package.units}
        for row in package.coverage:
            assert home[package.candidate[row.candidate].experience] == units[row.unit]


def test_longmemeval(tmp_path: Path) -> None:
    """99 records: 197 marked turns, and a change for each of the 21 updates."""
    build_into(BuildJob(real_file(ORACLE)), tmp_path)
    packages = packages_at(tmp_path)  # what does not validate is refused
    found = reliability("oracle", packages)
    assert (found.packages, found.units) == (99, 197 + 21)
    assert found.units_by_kind["supersession"] == found.units_by_kind["current"] == 21
    assert not any("answer_" in one.id for p in packages for one in visible(p).experiences)


def test_double_labelled_conversation() -> None:
    """203 units, 660 memories, of which 643 have a text of their own, and two passes.

    Pass a lists 548 cells, 8 of them again for a copy. The memories have 7,016 cells in their
    sessions; without copies, in the session of the first of them, 6,853.
    """
    folder = real_file("labels/locomo_conv26/units.jsonl").parent
    labels = read_labels(
        folder / "units.jsonl",
        folder / "memories.jsonl",
        [folder / "coverage_pass_a.jsonl", folder / "coverage_pass_b.jsonl"],
    )
    (loaded,) = (
        one for one in iter_conversations(real_file(LOCOMO)) if one.conversation.id == "conv-26"
    )
    built = build_package(loaded, AnnotationRecipe("locomo", labels=labels))
    found = reliability("conv-26", [built.package])
    assert (found.units, built.misfits.quotes, built.misfits.quotes_found) == (203, 203, 201)
    assert sum(c.generator == "labels:memories" for c in built.package.candidates) == 643
    assert built.repeated == 660 - 643
    assert sum(found.coverage["pass:coverage_pass_a"].values()) == 548 - 8
    (pair,) = found.agreement
    assert pair.cells == 6853


def test_every_locomo_optimum_and_frontier(locomo: list[Package]) -> None:
    """All ten at five budgets, certified; whole frontiers in one pass that agree with them."""
    budgets = (100, 500, 1000, 2000, 5000)
    for package in locomo:
        optima = solve_all(package, budgets)
        assert all(optimum.certified for optimum in optima)
        curve = frontier(package, max(budgets))
        assert curve.method == "components"
        assert [curve.values[budget] for budget in budgets] == [one.value for one in optima]
