"""Candidates that contain others: what a package allows, its digest, and what stays on disk."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import InvalidPackage
from memaudit.kernel.io.packages import problems_at, read_packages, write_package
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.objective import violations
from memaudit.kernel.package.package import Package
from tests.published_layout import write_artifact


def package(parts: dict[str, list[str]], **homes: str) -> Package:
    """Candidates a to d, each in an experience of its own unless `homes` says otherwise."""
    rows: list[dict[str, Any]] = [
        {"id": id, "experience": homes.get(id, id), "kind": "fact", "cost": 1} for id in "abcd"
    ]
    for row in rows:
        if row["id"] in parts:
            row["parts"] = parts[row["id"]]
    return Package.model_validate(
        {
            "name": "p",
            "experiences": [{"id": id} for id in "abcd"],
            "candidates": rows,
            "units": [{"id": "u", "kind": "fact", "weight": 1}],
            "coverage": [{"candidate": id, "unit": "u", "value": "1/4"} for id in "abcd"],
        }
    )


SHARED = {"a": ["c", "d"], "b": ["d"]}


@pytest.mark.parametrize(
    ("parts", "homes", "problem"),
    [
        ({"a": ["x"]}, {}, "'a' has as a part the unknown candidate 'x'"),
        ({"a": ["a"]}, {}, "'a' is a part of itself"),
        ({"a": ["b"], "b": ["c"]}, {}, "'a' has the part 'b', which has parts"),
        ({"a": ["b", "b"]}, {}, "'a' names its part 'b' 2 times"),
        ({"a": ["b"]}, {"c": "a"}, "'a' has or is a part, and shares the experience 'a'"),
        ({"a": ["b"]}, {"c": "b"}, "'b' has or is a part, and shares the experience 'b'"),
    ],
)
def test_parts_that_are_refused(
    parts: dict[str, list[str]], homes: dict[str, str], problem: str
) -> None:
    with pytest.raises(InvalidPackage) as caught:
        package(parts, **homes)
    assert problem in str(caught.value.problems[0])


def test_a_part_of_several_and_company_elsewhere_are_fine() -> None:
    assert package(SHARED).candidate["a"].parts == ("c", "d")
    assert package({"a": ["b"]}, d="c").candidate["d"].experience == "c"


def test_a_store_keeps_a_candidate_or_its_parts() -> None:
    shared = package(SHARED)
    assert violations(shared, ["a", "b"], Fraction(9), 1) == []
    assert violations(shared, ["c", "d"], Fraction(9), 1) == []
    assert violations(shared, ["b", "a", "d"], Fraction(9), 1) == [
        "'a' is kept together with its part 'd'",
        "'b' is kept together with its part 'd'",
    ]


def test_the_digest_counts_parts_but_not_their_order() -> None:
    assert digest(package(SHARED)) != digest(package({}))
    assert digest(package(SHARED)) == digest(package({"a": ["d", "c"], "b": ["d"]}))


def test_every_form_round_trips(tmp_path: Path) -> None:
    """The published layout puts the package's name before every id, those of parts too."""
    shared = package(SHARED)
    write_package(shared, tmp_path / "p.json")
    write_package(shared, tmp_path / "p")
    write_artifact([shared, shared.replace(name="q")], tmp_path / "artifact")
    for name in ("p.json", "p", "artifact"):
        assert read_packages(tmp_path / name)[0] == shared


def test_packages_without_parts_are_written_as_before(tmp_path: Path) -> None:
    write_package(package({}), tmp_path / "p.json")
    assert "parts" not in (tmp_path / "p.json").read_text()


def test_a_part_whose_row_is_broken_is_not_a_problem_of_its_own(tmp_path: Path) -> None:
    write_package(package(SHARED), tmp_path / "p.json")
    document = json.loads((tmp_path / "p.json").read_text())
    del document["candidates"][3]["cost"]
    document["coverage"] = []
    (tmp_path / "p.json").write_text(json.dumps(document))
    assert [problem.message for problem in problems_at(tmp_path / "p.json")] == [
        "lacks the field 'cost'"
    ]


def test_some_candidates_only() -> None:
    some = package(SHARED).only({"a", "b", "c"})
    assert {one.id: one.parts for one in some.candidates} == {"a": ("c",), "b": (), "c": ()}
    assert [cell.candidate for cell in some.coverage] == ["a", "b", "c"]
