"""Statements with parts: the value of a union of parts, exact optima, and what is refused."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.errors import InvalidPackage, MemAuditError
from memaudit.kernel.io.packages import read_package, write_package
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.objective import value
from memaudit.kernel.package.package import EvidenceUnit, Package
from memaudit.kernel.package.response import Sqrt
from memaudit.kernel.package.unit_parts import named_part, part_units, whole_units
from memaudit.kernel.solvers.solve import solve
from tests.published_layout import write_artifact

F = Fraction

MOVED = EvidenceUnit(id="u7", kind="fact", text="Ana moved to Lisbon in May 2023")
PARTS = (("what", "moved to Lisbon"), ("who", "Ana"), ("when", "in May 2023"))


def required_units(required: Sequence[str], units: Sequence[EvidenceUnit]) -> list[str]:
    """The ids of units, with the id of a statement replaced by those of its parts."""
    parts = {whole.id: [unit.id for unit in whole.units] for whole in whole_units(units)}
    return [id for name in required for id in parts.get(name, [name])]


def package_of(
    units: Sequence[EvidenceUnit],
    kept: Mapping[str, Sequence[str]],
    required: Sequence[str],
    costs: Mapping[str, Fraction] | None = None,
    importance: int | Fraction = 1,
) -> Package:
    """Every candidate in a group of its own, keeping units in full."""
    return Package.model_validate(
        {
            "name": "p",
            "experiences": [{"id": f"e {id}"} for id in kept],
            "candidates": [
                {
                    "id": id,
                    "experience": f"e {id}",
                    "kind": "fact",
                    "cost": (costs or {}).get(id, F(1)),
                }
                for id in kept
            ],
            "units": units,
            "queries": [
                {"id": "q", "required": required_units(required, units), "importance": importance}
            ],
            "coverage": [
                {"candidate": id, "unit": unit, "value": 1}
                for id, own in kept.items()
                for unit in own
            ],
        }
    )


def test_parts_by_hand() -> None:
    """The core has half of the weight, the two others a quarter each."""
    units = part_units(MOVED, PARTS)
    assert [unit.id for unit in units] == ["u7#what", "u7#who", "u7#when"]
    assert [unit.share for unit in units] == [F(1, 2), F(1, 4), F(1, 4)]
    assert [unit.core for unit in units] == [True, False, False]
    assert units[2].text == "Ana moved to Lisbon in May 2023 (when: in May 2023)"
    (whole,) = whole_units(units)
    assert (whole.id, whole.text, whole.parts) == ("u7", MOVED.text, PARTS)
    assert whole.share({"u7#what", "u7#when"}) == F(3, 4)
    assert part_units(MOVED, PARTS[:1]) == (MOVED,)


def test_two_memories_that_lack_the_same_part_never_add_up() -> None:
    units = part_units(MOVED, PARTS)
    kept = {"a": ["u7#what", "u7#who"], "b": ["u7#what", "u7#who"], "c": ["u7#what", "u7#when"]}
    package = package_of(units, kept, ["u7"], importance=4)
    assert value(package, ["a", "b"]).low == 3
    assert value(package, ["a", "c"]).low == 4


def test_a_question_may_need_one_part_only() -> None:
    """The core has no weight then, but is still asked about."""
    package = package_of(part_units(MOVED, PARTS), {"a": ["u7#what", "u7#when"]}, ["u7#when"])
    assert package.weights == {"u7#what": 0, "u7#who": 0, "u7#when": F(1, 4)}
    assert value(package, ["a"]).low == F(1, 4)
    assert package.asked_units == package.units


@st.composite
def stores_of_parts(draw: st.DrawFn) -> tuple[Package, dict[str, dict[str, set[str]]]]:
    """A package of one to three statements, and by candidate and statement the parts it keeps."""
    counts = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    names = ("what", "who", "when", "where")
    wholes = [
        EvidenceUnit(id=f"u{place}", kind="fact", text=f"s{place}") for place in range(len(counts))
    ]
    units = [
        unit
        for whole, count in zip(wholes, counts, strict=True)
        for unit in part_units(whole, [(name, name) for name in names[:count]])
    ]
    kept: dict[str, dict[str, set[str]]] = {}
    for place in range(draw(st.integers(1, 6))):
        own = {}
        for whole, count in zip(wholes, counts, strict=True):
            if draw(st.booleans()):
                others = draw(st.sets(st.sampled_from(names[1:count]))) if count > 1 else set()
                own[whole.id] = {"what"} | others
        kept[f"m{place}"] = own
    cells = {
        id: [
            unit.id
            for unit in units
            if (unit.part or "what") in own.get(unit.part_of or unit.id, set())
        ]
        for id, own in kept.items()
    }
    costs = {id: draw(st.sampled_from((F(1), F(2), F(1, 2)))) for id in kept}
    importance = draw(st.sampled_from((F(1), F(3), F(2, 3))))
    package = package_of(units, cells, [whole.id for whole in wholes], costs, importance)
    return package, kept


def defined_value(
    package: Package, kept: Mapping[str, Mapping[str, set[str]]], store: Sequence[str]
) -> Fraction:
    """By definition: per statement its weight times the weight of the union of kept parts."""
    total = F(0)
    for whole in whole_units(package.units):
        union = set().union(*(kept[id].get(whole.id, set()) for id in store))
        shares = {unit.part or "what": unit.share for unit in whole.units}
        total += package.queries[0].importance * sum((shares[name] for name in union), F(0))
    return total


@given(stores_of_parts())
@settings(max_examples=60)
def test_value_is_the_weight_of_the_union_of_parts(
    drawn: tuple[Package, dict[str, dict[str, set[str]]]],
) -> None:
    """For every store; it never falls with another memory, and the certified optimum is the best
    of all stores within the budget."""
    package, kept = drawn
    stores = [store for size in range(len(kept) + 1) for store in combinations(sorted(kept), size)]
    values = {store: defined_value(package, kept, store) for store in stores}
    for store in stores:
        assert value(package, store).low == value(package, store).high == values[store]
        for more in set(kept) - set(store):
            assert values[tuple(sorted((*store, more)))] >= values[store]
    budget = F(2)
    best = max(values[store] for store in stores if package.total_cost(store) <= budget)
    optimum = solve(package, budget)
    assert optimum.certified
    assert optimum.value == best


def test_digests_of_packages_without_parts_are_as_before() -> None:
    example = Path("src/memaudit/examples/travel.json")
    pinned = "1e8a47ddaad03bfb4d5c9111cc80bd10e371106cecdd100c913f5ee799c54e08"
    assert digest(read_package(Path(__file__).parents[3] / example)) == pinned


def test_a_package_with_parts_round_trips(tmp_path: Path) -> None:
    package = package_of(part_units(MOVED, PARTS), {"a": ["u7#what"]}, ["u7"])
    for name in ("p.json", "folder"):
        write_package(package, tmp_path / name)
        again = read_package(tmp_path / name)
        assert again == package
        assert digest(again) == digest(package)
    write_artifact([package], tmp_path / "artifact")
    assert read_package(tmp_path / "artifact") == package
    core = package.units[0].model_copy(update={"core": False})
    other = package.units[1].model_copy(update={"core": True})
    moved = package.replace(units=(core, other, package.units[2]))
    assert digest(moved) != digest(package)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({0: {"core": False}}, "u7: has no part marked as its core"),
        ({1: {"core": True}}, "u7: has 2 parts marked as its core"),
        ({1: {"share": "1/8"}}, "u7: has parts with shares that sum to 0.875"),
        ({1: {"share": 0}}, "u7#who: has the share 0"),
        ({1: {"part": "what"}}, "u7: has 2 parts called 'what'"),
        ({1: {"text": "other (who: Ana)"}}, "u7: has parts with different statements"),
        (
            {1: {"text": "Ana moved"}},
            "u7#who: has a text that does not end with its part, (who: ...)",
        ),
        ({1: {"part": "who: x"}}, "u7#who: has the part name 'who: x'"),
        ({1: {"part": None}}, "u7#who: has only some of the fields of a part"),
        ({1: {"part_of": None, "part": None}}, "u7#who: has only some of the fields of a part"),
        ({2: {"response": Sqrt()}}, "u7#when: is a part, and its response is not min(1, z)"),
        ({0: {"id": "u7"}}, "u7#who: is a part of 'u7', which is a unit itself"),
        ({1: {"alternatives": ["x"]}}, "u7#who: is a part, and has alternatives"),
        ({0: {"id": "x"}}, "x: is the part 'what' of 'u7' by another id"),
        (
            {1: {"text": f"{MOVED.text} (who: A\nB)"}},
            "u7#who: has a text that does not end with its part, (who: ...)",
        ),
    ],
)
def test_parts_that_are_refused(changes: dict[int, dict[str, Any]], message: str) -> None:
    units = [unit.model_dump() for unit in part_units(MOVED, PARTS)]
    for place, fields in changes.items():
        units[place] |= fields
    with pytest.raises(InvalidPackage) as caught:
        Package.model_validate({"name": "p", "experiences": [], "candidates": [], "units": units})
    assert message in [f"{problem.id}: {problem.message}" for problem in caught.value.problems]


def test_a_part_whose_row_is_broken_is_not_a_problem_of_the_others(tmp_path: Path) -> None:
    package = package_of(part_units(MOVED, PARTS), {}, ["u7"])
    write_package(package, tmp_path / "p.json")
    text = (tmp_path / "p.json").read_text()
    broken = text.replace('"share": "1/4"', '"share": "x"').replace('"share": 0.25', '"share": "x"')
    (tmp_path / "p.json").write_text(broken)
    with pytest.raises(InvalidPackage) as caught:
        read_package(tmp_path / "p.json")
    assert "bad field 'share'" in str(caught.value)
    assert "sum to" not in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((("what", "x"), ("a:b", "y")), "a part called 'a:b'"),
        ((("what", "x"), ("when", " ")), "part 'when' of unit 'u7' has no words"),
        ((("what", "x"), ("what", "y")), "two parts called 'what'"),
    ],
)
def test_parts_that_cannot_be_made(parts: Any, message: str) -> None:
    with pytest.raises(MemAuditError, match=message):
        part_units(MOVED, parts)


def test_new_packages_keep_to_the_rule_of_cores() -> None:
    """What is derived from one need not: lazy judging guesses values."""
    with pytest.raises(InvalidPackage, match="keeps a part of 'u7' without its core 'u7#what'"):
        package_of(part_units(MOVED, PARTS), {"a": ["u7#when"]}, ["u7"])
    package = package_of(part_units(MOVED, PARTS), {"a": ["u7#what"]}, ["u7"])
    guess = package.coverage[0].model_copy(update={"value": F(1, 2)})
    assert package.replace(coverage=(guess,)).coverage == (guess,)


@pytest.mark.parametrize(
    ("id", "text", "found"),
    [
        ("u7#when", f"{MOVED.text} (when: in May 2023)", ("u7", MOVED.text, "when")),
        ("a#b#when", "(when: x) y (when: z)", ("a#b", "(when: x) y", "when")),
        ("u7#when", MOVED.text, None),
        ("u7", "Ana moved (when: in May)", None),
        ("page#3", "Ana moved", None),
        ("u7#when", "", None),
    ],
)
def test_parts_by_id_and_text(id: str, text: str, found: tuple[str, str, str] | None) -> None:
    assert named_part(id, text) == found
