"""Packages with cells that nobody judged: a value and an upper bound."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.checker import verify
from memaudit.kernel.errors import InvalidPackage
from memaudit.kernel.io.packages import read_package, write_package
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Coverage, Package
from memaudit.kernel.solvers.solve import solve
from tests.proofs import package as made
from tests.strategies import packages

F = Fraction
SHARES = (F(0), F(1, 4), F(1, 2), F(1))


@st.composite
def open_packages(draw: st.DrawFn) -> tuple[Package, Package]:
    """A package with open cells, and the same with some judge's answers."""
    package = draw(packages(max_groups=3, max_units=3))
    cells: list[Coverage] = []
    answers: list[Coverage] = []
    for cell in package.coverage:
        ends = sorted((cell.value, draw(st.sampled_from(SHARES)), draw(st.sampled_from(SHARES))))
        opened = draw(st.booleans())
        cells.append(
            cell.model_copy(update={"value": ends[0], "upper": ends[2]}) if opened else cell
        )
        answers.append(cell.model_copy(update={"value": ends[1]}) if opened else cell)
    return package.replace(coverage=tuple(cells)), package.replace(coverage=tuple(answers))


@given(open_packages(), st.integers(0, 12))
def test_the_optimum_lies_between_value_and_bound_whatever_a_judge_says(
    pair: tuple[Package, Package], budget: int
) -> None:
    package, answered = pair
    best, truth = solve(package, budget), solve(answered, budget)
    high = truth.value if truth.value_high is None else truth.value_high
    assert best.value <= high
    assert truth.value <= best.bound
    if best.certified:
        assert best.certificate is not None
        assert verify(package, best.certificate).valid
        assert truth.value <= best.certificate.value
        assert best.value <= best.certificate.value
    else:
        assert best.gap
        assert "not judged" in best.note


OPEN = made("a:e:1 b:f:1", {"u": 2}, [("a", "u", 0.5)]).replace(
    coverage=(
        Coverage(candidate="a", unit="u", value=F(1, 2)),
        Coverage(candidate="b", unit="u", value=F(0), upper=F(1)),
    )
)


def test_an_open_cell_leaves_an_interval_and_a_closed_one_a_certificate() -> None:
    best = solve(OPEN, 1)
    assert (best.value, best.bound, best.certified) == (1, 2, False)
    harmless = OPEN.replace(
        coverage=(OPEN.coverage[0], OPEN.coverage[1].model_copy(update={"upper": F(1, 2)}))
    )
    best = solve(harmless, 1)
    assert (best.value, best.store, best.certified) == (1, ("a",), True)


def test_verify_checks_values_and_upper_bounds() -> None:
    """The best store by upper bounds alone is refused: its value is not known."""
    highest = OPEN.replace(
        coverage=(OPEN.coverage[0], OPEN.coverage[1].model_copy(update={"value": F(1)}))
    )
    certificate = solve(highest, 1).certificate
    assert certificate is not None
    forged = replace(certificate, package=digest(OPEN))
    assert verify(OPEN, forged).reason == "the store is worth 0, not 2"
    lower = replace(forged, store=("a",), value=F(1))
    assert "does not exclude a better store" in verify(OPEN, lower).reason


def test_upper_bounds_survive_the_disk_and_are_checked(tmp_path: Path) -> None:
    for name in ("open.json", "open"):
        write_package(OPEN, tmp_path / name)
        assert digest(read_package(tmp_path / name)) == digest(OPEN)
    cell = {"candidate": "a", "unit": "u", "value": 0.5, "upper": 0.25}
    with pytest.raises(InvalidPackage, match=r"has the upper bound 0\.25"):
        Package.model_validate({**OPEN.model_dump(exclude_defaults=True), "coverage": [cell]})


def test_a_value_between_two_multiples_of_the_grain_proves_nothing() -> None:
    """One candidate that covers half for certain and may cover all: 1/2 is no optimum, although
    every store under the upper bound is worth 0 or 1."""
    one = OPEN.replace(
        candidates=OPEN.candidates[:1],
        coverage=(OPEN.coverage[0].model_copy(update={"upper": F(1)}),),
    )
    closed = one.replace(coverage=(OPEN.coverage[0].model_copy(update={"value": F(1)}),))
    certificate = solve(closed, 1).certificate
    assert certificate is not None
    forged = replace(certificate, package=digest(one), value=F(1), scale=2)
    assert not verify(one, forged).valid
    assert not solve(one, 1).certified
