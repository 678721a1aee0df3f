"""A package that is changed is checked again, as far as the change can break it."""

from fractions import Fraction

import pytest

from memaudit.kernel.errors import InvalidPackage
from memaudit.kernel.package.package import Package


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"candidate": "nobody"}, "unknown candidate 'nobody'"),
        ({"unit": "nothing"}, "unknown unit 'nothing'"),
        ({"value": Fraction(2)}, "coverage lies in"),
        ({}, "repeats the cell"),
    ],
)
def test_other_coverage(tiny: Package, wrong: dict[str, object], message: str) -> None:
    cells = (*tiny.coverage, tiny.coverage[0].model_copy(update=wrong))
    with pytest.raises(InvalidPackage, match=message):
        tiny.replace(coverage=cells)


def test_other_tables(tiny: Package) -> None:
    with pytest.raises(InvalidPackage, match="unknown candidate"):
        tiny.replace(candidates=tiny.candidates[1:])
