"""Same text, once."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.errors import InvalidPackage
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.equal_texts import distinct_texts
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.solve import solve
from memaudit.kernel.words.text import content_key
from tests.strategies import packages

F = Fraction
HALF = F(1, 2)


def merged(package: Package) -> Package:
    tables = distinct_texts(package.experiences, package.candidates, package.coverage)
    return package.replace(
        experiences=tables.experiences,
        candidates=tables.candidates,
        coverage=tables.coverage,
        equal_texts_once=True,
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Eats fish.", "eats  FISH", True),
        ("Eats fish. Hates peas!", "eats fish hates peas", True),
        ("Has 1.5 dogs", "Has 15 dogs", False),
        ("Eats fish", "Eats fishes", False),
        ("really?!", "Really...", True),
    ],
)
def test_case_spacing_and_ends_of_sentences_do_not_distinguish(
    one: str, other: str, same: bool
) -> None:
    assert (content_key(one) == content_key(other)) is same


def test_two_copies_of_half_a_unit_are_worth_half() -> None:
    package = Package.model_validate(
        {
            "name": "p",
            "group_cap": 2,
            "experiences": [{"id": "e"}, {"id": "f"}],
            "candidates": [
                {"id": "a", "experience": "e", "kind": "fact", "text": "Eats fish.", "cost": 2},
                {"id": "b", "experience": "f", "kind": "fact", "text": "eats fish", "cost": 1},
                {"id": "x", "experience": "f", "kind": "fact", "text": "", "cost": 1},
                {"id": "y", "experience": "f", "kind": "fact", "text": " ", "cost": 1},
            ],
            "units": [{"id": id, "kind": "fact", "weight": 1} for id in "uv"],
            "coverage": [
                {"candidate": "a", "unit": "u", "value": 0.5, "provenance": "heuristic:x"},
                {"candidate": "b", "unit": "u", "value": 0.5, "provenance": "pass:x"},
                {"candidate": "a", "unit": "v", "value": 0.25},
            ],
        }
    )
    assert solve(package, 9).value == F(5, 4)
    once = merged(package)
    assert solve(once, 9).value == F(3, 4)
    (kept,) = (candidate for candidate in once.candidates if candidate.text.strip())
    assert (kept.id, kept.cost) == ("b", 1)
    assert kept.experience not in {"e", "f"}, "outside any group: its copies share none"
    cells = {cell.unit: (cell.value, cell.provenance) for cell in once.coverage}
    assert cells == {"u": (HALF, "pass:x"), "v": (F(1, 4), None)}
    assert len(once.candidates) == 3, "an empty text equals no other"


def test_a_package_that_says_so_has_every_text_once() -> None:
    rows = [{"id": id, "experience": "e", "kind": "f", "text": "A.", "cost": 1} for id in "ab"]
    data = {"name": "p", "experiences": [{"id": "e"}], "candidates": rows, "units": []}
    off = Package.model_validate(data)
    with pytest.raises(InvalidPackage, match="has the same text as 'a'"):
        Package.model_validate({**data, "equal_texts_once": True})
    assert digest(off) == digest(off.replace(equal_texts_once=False))
    assert digest(merged(off)) != digest(off.replace(candidates=off.candidates[:1]))


@given(packages(responses=False), st.data())
def test_merging_never_lowers_an_optimum_below_that_of_distinct_texts(
    package: Package, data: st.DataObject
) -> None:
    """A store with every text at most once is worth no more than the merged optimum."""
    words = st.sampled_from(["", "fish", "Fish.", "peas", "Peas!"])
    texts = {candidate.id: data.draw(words) for candidate in package.candidates}
    package = package.replace(
        candidates=tuple(
            candidate.model_copy(update={"text": texts[candidate.id]})
            for candidate in package.candidates
        )
    )
    once = merged(package)
    budget = package.total_cost(texts) / 2
    first: dict[str, str] = {}
    for candidate in package.candidates:
        first.setdefault(content_key(candidate.text) or candidate.id, candidate.id)
    kept = set(first.values())
    distinct = package.replace(
        candidates=tuple(one for one in package.candidates if one.id in kept),
        coverage=tuple(cell for cell in package.coverage if cell.candidate in kept),
    )
    assert solve(once, budget).value >= solve(distinct, budget).value
    assert merged(once) == once


def documents(texts: dict[str, str], parts: dict[str, list[str]], **shared: str) -> Package:
    """Candidates by id, each worth half of a unit; those in `shared` share an experience."""
    homes = {id: shared.get(id, id) for id in texts}
    return Package.model_validate(
        {
            "name": "p",
            "experiences": [{"id": id} for id in dict.fromkeys(homes.values())],
            "candidates": [
                {
                    "id": id,
                    "experience": homes[id],
                    "kind": "memory",
                    "text": text,
                    "cost": len(text),
                    "parts": parts.get(id, []),
                }
                for id, text in texts.items()
            ],
            "units": [{"id": "u", "kind": "fact", "weight": 1}],
            "coverage": [{"candidate": id, "unit": "u", "value": 0.5} for id in texts],
        }
    )


def parts_of(package: Package) -> dict[str, tuple[str, ...]]:
    return {one.id: one.parts for one in package.candidates if one.parts}


def test_parts_name_the_candidate_that_stands_for_a_copy() -> None:
    """Two files share an entry. What a memory says that is a copy of one of them could be kept
    beside that file's entries, and still can."""
    once = merged(
        documents(
            {
                "f": "tea. jam.",
                "f1": "tea.",
                "f2": "jam.",
                "g": "tea rye",
                "g1": "tea",
                "g2": "rye",
                "copy": "Tea. Jam",
            },
            {"f": ["f1", "f2"], "g": ["g1", "g2"]},
        )
    )
    assert parts_of(once) == {"g": ("g1", "g2")}
    assert merged(once) == once


def test_a_file_of_one_entry_is_that_entry() -> None:
    once = merged(documents({"f": "Tea.", "f1": "tea"}, {"f": ["f1"]}))
    assert [(one.id, one.parts) for one in once.candidates] == [("f1", ())]


def test_a_part_of_a_part_becomes_a_part_of_the_larger_whole() -> None:
    """An entry of f is all that g says, and g has parts: a package has no parts of parts."""
    once = merged(
        documents(
            {"f": "tea jam rye", "f1": "tea jam", "f2": "rye", "g": "Tea jam", "g1": "tea"},
            {"f": ["f1", "f2"], "g": ["g1"]},
        )
    )
    assert parts_of(once) == {"f": ("f1", "f2", "g1")}


def test_a_copy_that_becomes_a_part_leaves_its_group() -> None:
    """The cheaper copy stands for the entry, and it shared an experience."""
    package = documents(
        {"f": "tea jam", "f1": "tea.", "x": "tea", "y": "rye"}, {"f": ["f1"]}, y="x"
    )
    once = merged(package)
    assert parts_of(once) == {"f": ("x",)}
    assert once.candidate["x"].experience == "same text: x"
    assert solve(once, 99).value == 1, "y and either f or x"
