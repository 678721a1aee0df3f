"""Label files: read, fitted and checked, with several passes side by side."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.building.annotations import AnnotatedBuild, AnnotationRecipe, build_package
from memaudit.building.coverage_rules import INCLUSION
from memaudit.building.label_passes import label_passes, with_pass
from memaudit.building.reliability import reliability
from memaudit.judges.label_files import read_labels
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import FULL
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.provenance import STATEMENT
from memaudit.lab.sweeps.writers.protocol import visible
from tests.building.talks import DIET, Row, cells, load, write_rows

UNITS: list[Row] = [
    {
        "unit_id": "u1",
        "text": "Ann eats fish.",
        "kind": "current",
        "quote": "I eat  fish",
        "turns": ["t3"],
        "questions": ["q1"],
    },
    {
        "unit_id": "u2",
        "text": "Rome was warm.",
        "quote": "Rome was hot",
        "turns": ["t3", "t9"],
        "questions": [1, "q7"],
        "note": "SECRET",
    },
    {"unit_id": "u3", "text": "Ann says hello.", "session": "s1", "quote": "Hello there"},
]
MEMORIES: list[Row] = [
    {"memory_id": "m1", "text": "Fish now.", "turn": "t3", "confidence": 0.9},
    {"memory_id": "m2", "text": "Warm Rome.", "session": "s2", "sources": [{"source": "x"}]},
    {"memory_id": "m3", "text": "Ann writes.", "sources": [{"dia": "t1"}, {"dia": "t3"}]},
    {"memory_id": "m4", "text": "Nowhere.", "session": "s9"},
]
PASS_A: list[Row] = [
    {"memory_id": "m1", "unit_id": "u1", "coverage": 1, "why": "says it"},
    {"memory_id": "m2", "unit_id": "u2", "coverage": 0.5},
    {"memory_id": "m2", "unit_id": "u2", "coverage": 0.5},
    {"memory_id": "m4", "unit_id": "u2", "coverage": 1},
    {"memory_id": "m8", "unit_id": "u2", "coverage": 1},
    {"memory_id": "m1", "unit_id": "u8", "coverage": 1},
]
PASS_B: list[Row] = [
    {"memory_id": "m1", "unit_id": "u1", "coverage": 1},
    {"memory_id": "m2", "unit_id": "u2", "coverage": 1},
]


@pytest.fixture
def built(tmp_path: Path) -> AnnotatedBuild:
    labels = read_labels(
        write_rows(tmp_path / "u.jsonl", UNITS),
        write_rows(tmp_path / "m.jsonl", MEMORIES),
        [write_rows(tmp_path / "a.jsonl", PASS_A), write_rows(tmp_path / "b.jsonl", PASS_B)],
    )
    return build_package(load(tmp_path, DIET), AnnotationRecipe("chat", labels=labels))


def test_what_does_not_fit_is_counted_and_named(built: AnnotatedBuild) -> None:
    assert [(row.file, row.line, row.what, row.found) for row in built.misfits.rows] == [
        ("m.jsonl", 4, "unknown session", "s9"),
        ("m.jsonl", 4, "memory without a place", ""),
        ("u.jsonl", 2, "unknown turn", "t9"),
        ("u.jsonl", 2, "quote not found", "Rome was hot"),
        ("u.jsonl", 2, "unknown question", "q7"),
        ("u.jsonl", 3, "no turns", ""),
        ("a.jsonl", 3, "repeated cell", ""),
        ("a.jsonl", 5, "unknown memory", "m8"),
        ("a.jsonl", 6, "unknown unit", "u8"),
    ]
    assert (built.misfits.quotes, built.misfits.quotes_found) == (3, 2)


def test_units_of_ones_own(built: AnnotatedBuild) -> None:
    """Required by id or by number from 0; raw turns cover the units that name them.

    t3 has all of ann, eat, fish, which is a rule's guess. It states u2 word for word.
    """
    package = built.package
    assert [q.required for q in package.queries] == [("u1",), ("u2",), ()]
    rows = {name: (row.value, row.provenance) for name, row in cells(package, "u1").items()}
    assert rows == {
        "t3/raw": (FULL, INCLUSION),
        "s2/session": (FULL, INCLUSION),
        "m1": (FULL, "pass:a"),
    }
    assert cells(package, "u2")["t3/raw"].provenance == STATEMENT
    assert package.units[1].attributes == {"note": "SECRET", "unverified_quote": "Rome was hot"}
    assert [source.text for source in package.units[2].sources] == ["Hello there"]


def test_memories_are_placed(built: AnnotatedBuild) -> None:
    """At their turn, at the latest of their sources, or at a step of their own."""
    found = {c.id: (c.experience, c.kind) for c in built.package.candidates if c.id[0] == "m"}
    assert found == {"m1": ("t3", "fact"), "m2": ("s2/memory/m2", "fact"), "m3": ("t3", "fact")}
    assert built.package.candidate["m1"].confidence == Fraction(9, 10)
    assert [e.id for e in built.package.experiences][-2:] == ["s2/end", "s2/memory/m2"]
    assert "tombstone" not in {c.kind for c in built.package.candidates}


def test_passes_side_by_side(built: AnnotatedBuild) -> None:
    """Three memories times three units were judged: 8 agree; both list m1 x u1 and m2 x u2.

    Agreed 8/9. Pass a: 7 none, 1 half, 1 full; b: 7 none, 2 full. By chance (49 + 2) / 81, so
    kappa is (72 - 51) / (81 - 51) = 7/10.
    """
    labels = label_passes(built.package)
    assert labels is not None
    assert (labels.frame, labels.judged, [one.name for one in labels.passes]) == (
        "conversation",
        9,
        ["a", "b"],
    )
    (pair,) = reliability("x", [built.package]).agreement
    assert (pair.cells, pair.agreed, pair.kappa) == (9, 8, Fraction(7, 10))
    other = with_pass(built.package, "b")
    assert cells(other, "u2")["m2"].value == 1
    assert cells(other, "u2")["t3/raw"] == cells(built.package, "u2")["t3/raw"]
    assert cells(with_pass(other, "a"), "u2")["m2"].value == Fraction(1, 2)
    with pytest.raises(MemAuditError, match="no label pass 'c'; its passes: a, b"):
        with_pass(built.package, "c")


def test_labels_stay_behind(built: AnnotatedBuild) -> None:
    seen = repr(visible(built.package))
    for canary in ("SECRET", "Rome was hot", "says it", "Ann eats fish."):
        assert canary not in seen


def test_the_documented_examples_work(tmp_path: Path) -> None:
    """The rows of docs/natural.md, on a conversation that has what they name."""
    page = (Path(__file__).parents[2] / "docs" / "natural.md").read_text(encoding="utf-8")
    paths = {}
    for name in ("units", "memories", "coverage"):
        (rows,) = re.findall(rf"```jsonl {name}\n(.*?)```", page, re.DOTALL)
        paths[name] = tmp_path / f"{name}.jsonl"
        paths[name].write_text(rows, encoding="utf-8")
    labels = read_labels(paths["units"], paths["memories"], [paths["coverage"]])
    built = build_package(load(tmp_path, DIET), AnnotationRecipe("chat", labels=labels))
    assert [row.what for row in built.misfits.rows] == ["quote not found", "unknown question"]
    assert cells(built.package, "u1")["m1"].provenance == "pass:coverage"


def test_csv(tmp_path: Path) -> None:
    """Lists are split at semicolons; odd line separators belong to texts; odd digits are no ids."""
    text = "Fish,\u2028now\x0b or\x85later."
    (tmp_path / "u.csv").write_text(
        "unit_id,text,quote,turns,questions\n"
        f'u1,"{text}",fish food,t3; t1,q1;\u00b2;{"9" * 5000};1\n'
    )
    labels = read_labels(tmp_path / "u.csv")
    built = build_package(load(tmp_path, DIET), AnnotationRecipe("chat", labels=labels))
    package = built.package
    assert package.units[0].text == text
    assert [source.id for source in package.units[0].sources] == ["t1", "t3"]
    assert [q.required for q in package.queries] == [("u1",), ("u1",), ()]
    assert [row.what for row in built.misfits.rows] == ["unknown question"] * 2


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("u.jsonl", '{"unit_id": "u"}\n', "u.jsonl:1: lacks the field 'text'"),
        ("u.jsonl", '{"unit_id": "u", "text": "t", "turn": "t1"}\n', "the unknown field 'turn'"),
        ("u.jsonl", "", "u.jsonl: contains no rows"),
        ("u.csv", "unit_id,text\nu\n", "u.csv:2: has 1 cells, the header has 2"),
        ("u.csv", "a,a\n", "u.csv:1: names a column twice"),
    ],
)
def test_a_broken_file_is_one_line(tmp_path: Path, file: str, text: str, message: str) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(MemAuditError, match=r"^[^\n]+$") as error:
        read_labels(tmp_path / file)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"memory_id": "m1", "unit_id": "u1", "coverage": 2}, "has coverage 2"),
        ({"memory_id": "m1", "unit_id": "u1", "coverage": "x"}, "a bad field 'coverage'"),
        ({"memory_id": "m1", "unit_id": "u1", "coverage": 0}, "twice, with different values"),
    ],
)
def test_a_bad_cell_is_one_line(tmp_path: Path, row: Row, message: str) -> None:
    labels = read_labels(
        write_rows(tmp_path / "u.jsonl", UNITS),
        write_rows(tmp_path / "m.jsonl", MEMORIES),
        [write_rows(tmp_path / "a.jsonl", [PASS_A[0], row])],
    )
    with pytest.raises(MemAuditError, match=r"a\.jsonl:2: ") as error:
        build_package(load(tmp_path, DIET), AnnotationRecipe("chat", labels=labels))
    assert message in str(error.value)


def test_labels_without_memories_override_rules(tmp_path: Path) -> None:
    """A pass may judge the build's own candidates; its frame is what it lists."""
    rows: list[Row] = [
        {"memory_id": "t3/raw", "unit_id": "t3", "coverage": 0},
        {"memory_id": "t3/compound_update", "unit_id": "t3", "coverage": 1},
    ]
    labels = read_labels(passes=[write_rows(tmp_path / "a.jsonl", rows)])
    package: Package = build_package(
        load(tmp_path, DIET), AnnotationRecipe("chat", labels=labels)
    ).package
    found = {name: (row.value, row.provenance) for name, row in cells(package, "t3").items()}
    assert found == {"t3/compound_update": (FULL, "pass:a"), "s2/session": (FULL, STATEMENT)}
    passes = label_passes(package)
    assert passes is not None
    assert (passes.frame, passes.judged) == ("listed", 2)


def labelled(folder: Path, memories: list[Row], rows: list[Row]) -> Package:
    labels = read_labels(
        write_rows(folder / "u.jsonl", UNITS),
        write_rows(folder / "m.jsonl", memories),
        [write_rows(folder / "a.jsonl", rows)],
    )
    return build_package(load(folder, DIET), AnnotationRecipe("chat", labels=labels)).package


def test_extracts_can_be_labelled_too(tmp_path: Path) -> None:
    """Listed without a text: no rule says what it covers, and all its cells were judged. Extracts
    that are not listed are left out."""
    rows: list[Row] = [{"memory_id": "t3/raw", "unit_id": "u1", "coverage": 0.5}]
    package = labelled(tmp_path, [{"memory_id": "t3/raw"}], rows)
    extract = package.candidate["t3/raw"]
    assert (extract.experience, extract.kind, extract.generator) == ("t3", "raw", "labels:m")
    assert extract.text == "[2025-03-14] Ann: For travel meals I eat fish food now. Rome was warm."
    row = cells(package, "u1")["t3/raw"]
    assert (row.value, row.provenance) == (Fraction(1, 2), "pass:a")
    assert set(package.candidate) == {"t3/raw"}
    assert not cells(package, "u2")  # not in the pass: 0
    passes = label_passes(package)
    assert passes is not None
    assert (passes.frame, passes.judged) == ("conversation", 3)


def test_a_row_without_a_text_has_to_name_an_extract(tmp_path: Path) -> None:
    with pytest.raises(MemAuditError, match=r"m\.jsonl:1: .*no extract is called 't3/window'"):
        labelled(tmp_path, [{"memory_id": "t3/window"}], [PASS_A[0]])


def test_labels_of_the_same_text_are_those_of_one_candidate(tmp_path: Path) -> None:
    """The larger value of each cell; one memory times three units was judged."""
    memories: list[Row] = [
        {"memory_id": "m1", "text": "Fish now.", "turn": "t3"},
        {"memory_id": "m2", "text": "fish  NOW", "turn": "t4"},
    ]
    rows: list[Row] = [
        {"memory_id": "m1", "unit_id": "u1", "coverage": 0.5},
        {"memory_id": "m2", "unit_id": "u1", "coverage": 1},
        {"memory_id": "m2", "unit_id": "u2", "coverage": 0.5},
    ]
    package = labelled(tmp_path, memories, rows)
    assert "m2" not in package.candidate
    passes = label_passes(package)
    assert passes is not None
    assert passes.judged == 3
    values = {("m1", "u1"): FULL, ("m1", "u2"): Fraction(1, 2)}
    assert {at: value for at, (value, _) in passes.passes[0].cells.items()} == values
    listed = {("m1", unit): cells(package, unit)["m1"].value for unit in ("u1", "u2")}
    assert listed == values


def test_units_that_name_their_parts(tmp_path: Path) -> None:
    """Every part is a unit that the question requires. A label names the parts that are kept;
    rules give those whose words a text has. Nothing is kept without the core, the first part."""
    units: list[Row] = [
        {
            "unit_id": "u1",
            "text": "Ann eats fish on travels.",
            "turns": ["t3"],
            "questions": ["q1"],
            "parts": {"what": "eats fish", "when": "travel"},
        },
        {"unit_id": "u2", "text": "Rome was warm.", "turns": ["t3"], "questions": ["q2"]},
    ]
    labels: list[Row] = [
        {"memory_id": "m1", "unit_id": "u1", "parts": ["what"]},
        {"memory_id": "m2", "unit_id": "u1", "parts": ["when"]},
        {"memory_id": "m2", "unit_id": "u2", "coverage": 0.5},
    ]
    built = build_package(
        load(tmp_path, DIET),
        AnnotationRecipe(
            "chat",
            labels=read_labels(
                write_rows(tmp_path / "u.jsonl", units),
                write_rows(tmp_path / "m.jsonl", MEMORIES[:2]),
                [write_rows(tmp_path / "a.jsonl", labels)],
            ),
        ),
    )
    package = built.package
    assert [query.required for query in package.queries][:2] == [("u1#what", "u1#when"), ("u2",)]
    rows = {
        unit: {id: row.value for id, row in cells(package, unit).items()}
        for unit in ("u1#what", "u1#when", "u2")
    }
    assert rows["u1#what"]["m1"] == 1
    assert "m2" not in rows["u1#what"]
    assert not {"m1", "m2"} & rows["u1#when"].keys()
    assert rows["u1#what"]["t3/raw"] == rows["u1#when"]["t3/raw"] == 1
    assert rows["u2"]["m2"] == Fraction(1, 2)
    assert ("a.jsonl", 2, "part without its core", "what") in [
        (row.file, row.line, row.what, row.found) for row in built.misfits.rows
    ]
    passes = label_passes(package)
    assert passes is not None
    assert passes.judged == 2 * 3


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ("what: fish; when", "u.jsonl:1: has the part 'when'; write NAME: WORDS"),
        ({"what": "fish", "when": 3}, "u.jsonl:1: has a number as part 'when', text was expected"),
        ({"a;b": "x", "c": "y"}, "u.jsonl:1: unit 'u1' has a part called 'a;b'"),
    ],
)
def test_parts_that_are_refused(tmp_path: Path, parts: object, message: str) -> None:
    units: list[Row] = [{"unit_id": "u1", "text": "x", "turns": ["t3"], "parts": parts}]
    labels = read_labels(write_rows(tmp_path / "u.jsonl", units))
    with pytest.raises(MemAuditError) as caught:
        build_package(load(tmp_path, DIET), AnnotationRecipe("chat", labels=labels))
    assert message in str(caught.value)
