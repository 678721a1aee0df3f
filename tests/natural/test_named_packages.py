"""The bundled natural set as packages."""

from memaudit.natural.named_packages import natural_set
from memaudit.natural.reliability import reliability
from memaudit.solvers.solve import solve


def test_it_holds_what_its_readme_says() -> None:
    """26 conversations, 155 units, 268 labelled cells above 0, every quote row."""
    row = reliability("natural", natural_set())
    assert (row.packages, row.queries, row.units) == (26, 103, 155)
    assert row.coverage["pass:coverage"] == {"full": 189, "partial": 79}
    assert row.units_uncovered == 0
    assert row.quotes.checked == row.quotes.found > 155
    assert natural_set() is natural_set()


def test_its_optima_are_certified() -> None:
    """And at a budget that has room for everything, everything is covered."""
    for package in natural_set():
        tight, loose = solve(package, 20), solve(package, 10_000)
        assert (tight.status, loose.status) == ("certified", "certified")
        assert tight.value < loose.value == sum(package.weights.values())
