"""Generation loss between generators: OPT of each alone, and of all together."""

from fractions import Fraction as F

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import Candidate, Coverage, EvidenceUnit, Experience, Package
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.commands.audit_generators import UNION, generator_rows, joined
from tests.cli.running import printed_json


def package(*candidates: tuple[str, str, int, str]) -> Package:
    """Candidates as id, generator, cost and the unit that each covers."""
    return Package(
        name="p",
        experiences=tuple(Experience(id=f"e{n}", index=n) for n in range(3)),
        candidates=tuple(
            Candidate(id=id, experience=f"e{n}", kind="fact", text=id, cost=cost, generator=by)
            for n, (id, by, cost, _) in enumerate(candidates)
        ),
        units=tuple(EvidenceUnit(id=u, kind="fact", text=u, weight=1) for u in "abc"),
        coverage=tuple(Coverage(candidate=id, unit=unit, value=1) for id, _, _, unit in candidates),
    )


def test_by_hand() -> None:
    """At 3: the first generator keeps a for 2; the second keeps b for 3; together only one fits.
    At 5 both fit, so each alone has half."""
    one = package(("x", "first", 2, "a"), ("y", "second", 3, "b"))
    rows = {(row.generator, row.budget): row for row in generator_rows(one, [F(3), F(5)])}
    values = {key: (row.candidates, row.optimum, row.share) for key, row in rows.items()}
    assert values == {
        ("first", 3): (1, 1, 1),
        ("second", 3): (1, 1, 1),
        (UNION, 3): (2, 1, 1),
        ("first", 5): (1, 1, F(1, 2)),
        ("second", 5): (1, 1, F(1, 2)),
        (UNION, 5): (2, 2, 1),
    }


def test_two_packages_of_the_same_units() -> None:
    """The union has the candidates of both, so its OPT is at least that of each. Those of one
    experience compete, whoever made them: x or the other x."""
    first, second = package(("x", "g", 2, "a")), package(("x", "g", 3, "b"), ("z", "h", 1, "c"))
    both = joined(first, second)
    assert sorted(both.candidate) == ["second: x", "second: z", "x"]
    rows = {row.generator: row.optimum for row in generator_rows(both, [F(6)])}
    assert rows == {"g": 1, "second: g": 1, "second: h": 1, UNION: 2}
    assert solve(both, 6).value == 2
    other = second.replace(
        units=(*second.units[:2], second.units[2].model_copy(update={"text": "another"}))
    )
    with pytest.raises(MemAuditError, match="have other units"):
        joined(first, other)


def test_the_command_gives_means_with_intervals() -> None:
    data = printed_json("audit", "generators", "short", "--budget", "20", "--set", "engine.jobs=1")
    assert data["packages"] == 26
    rows = {row["generator"]: row for row in data["rows"]}
    assert rows[UNION]["share"]["mean"] == 1
    (labelled,) = [row for name, row in rows.items() if name != UNION]
    assert labelled["packages"] == 26
    assert labelled["optimum"]["mean"] <= rows[UNION]["optimum"]["mean"]
    kinds = printed_json("audit", "generators", "short", "--budget", "20", "--by-kind")
    shares = {row["generator"]: row["share"]["mean"] for row in kinds["rows"]}
    assert {"raw", "fact", UNION} <= set(shares)
    assert shares["raw"] < 1
