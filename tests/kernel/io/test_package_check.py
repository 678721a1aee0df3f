"""Broken package folders: every problem at once, each with its file, line and id."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from memaudit.kernel.errors import InvalidPackage
from memaudit.kernel.io.packages import problems_at, read_package
from memaudit.kernel.package.package import EvidenceUnit
from memaudit.kernel.package.unit_parts import part_units

GOOD = {
    "manifest.json": '{"format": "memaudit-package", "version": 1, "name": "p"}',
    "experiences.jsonl": '{"id": "e1"}\n{"id": "e2"}\n',
    "candidates.jsonl": '{"id": "m1", "experience": "e1", "kind": "raw", "text": "a", "cost": 1}\n',
    "units.jsonl": '{"id": "u1", "kind": "fact"}\n',
    "queries.jsonl": '{"id": "q1", "required": ["u1"]}\n',
    "coverage.jsonl": '{"candidate": "m1", "unit": "u1", "value": 1}\n',
}
CELL, MEMORY = GOOD["coverage.jsonl"], GOOD["candidates.jsonl"]


def make(folder: Path, changes: Mapping[str, str | bytes | None]) -> Path:
    """The good folder with some files changed or (None) removed."""
    folder.mkdir(exist_ok=True)
    for name, content in {**GOOD, **changes}.items():
        if content is not None:
            data = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(data)
    return folder


def manifest(**fields: object) -> str:
    return json.dumps({**json.loads(GOOD["manifest.json"]), **fields})


def cost(number: str) -> str:
    return MEMORY.replace('"cost": 1', f'"cost": {number}')


CASES: list[tuple[str, str | bytes | None, list[str]]] = [
    (
        "units.jsonl",
        '{"id": "u1", "kind": "fact"}\n{"id": "u1", "kind": "fact"}\n',
        ["units.jsonl:2: 'u1' is a duplicate id, first used in line 1 (ids are unique in a table)"],
    ),
    (
        "coverage.jsonl",
        CELL + CELL.replace("1}", "1.4}").replace("m1", "m9"),
        [
            "coverage.jsonl:2: 'm9 x u1' names the unknown candidate 'm9'",
            "coverage.jsonl:2: 'm9 x u1' has coverage 1.4 (coverage lies in [0, 1])",
        ],
    ),
    (
        "coverage.jsonl",
        CELL + "\n" + CELL,
        ["coverage.jsonl:3: 'm1 x u1' repeats the cell of line 1 (keep one row per cell)"],
    ),
    (
        "candidates.jsonl",
        cost("-1").replace("e1", "e7"),
        [
            "candidates.jsonl:1: 'm1' belongs to the unknown experience 'e7' "
            "(add the experience or correct the reference)",
            "candidates.jsonl:1: 'm1' has a negative cost (costs are 0 or more)",
        ],
    ),
    (
        "candidates.jsonl",
        cost("NaN"),
        ["candidates.jsonl:1: NaN is not a number a package can hold"],
    ),
    (
        "candidates.jsonl",
        cost('"inf"'),
        ["candidates.jsonl:1: 'm1' has a bad field 'cost': inf is not a finite number"],
    ),
    (
        "candidates.jsonl",
        cost("9" * 5000),
        ["candidates.jsonl:1: a number has more than 60 digits"],
    ),
    ("candidates.jsonl", cost("1e400"), ["candidates.jsonl:1: the number 1e400 is out of range"]),
    (
        "candidates.jsonl",
        cost("true"),
        ["candidates.jsonl:1: 'm1' has a bad field 'cost': expected a number, not true or false"],
    ),
    (
        "candidates.jsonl",
        MEMORY.replace(', "cost": 1', ', "price": 1'),
        [
            "candidates.jsonl:1: 'm1' lacks the field 'cost'",
            "candidates.jsonl:1: 'm1' has the unknown field 'price' (known fields: attributes, id, "
            "experience, kind, text, cost, confidence, generator, parts)",
        ],
    ),
    (
        "manifest.json",
        manifest(cost_rule="words", budgets=[1, -2]),
        ["manifest.json: budget -2 is negative (budgets are 0 or more)"],
    ),
    (
        "manifest.json",
        manifest(cost_rule="bytes"),
        [
            "candidates.jsonl:1: 'm1' has cost 1 but its text costs 9 under the declared rule "
            "'bytes' (recost the package or declare another rule)"
        ],
    ),
    (
        "manifest.json",
        manifest(cost_rule="nope"),
        [
            "manifest.json: unknown cost rule 'nope'; known rules: words, unicode_words, bytes, "
            "utf8, characters, lines, tokens:simple, tokens:tiktoken/ENCODING, "
            "tokens:hf/TOKENIZER.json, declared, or a sum "
            "such as 8+utf8/24 or words+kind:edge=4 "
            "(declare a rule this machine can measure)"
        ],
    ),
    (
        "manifest.json",
        manifest(group_cap=0, name="", more=1),
        [
            "manifest.json: has the unknown field 'more' (known fields: attributes, budgets, "
            "cost_rule, counts, digest, equal_texts_once, format, group_cap, name, sha256, "
            "version)",
            "manifest.json: has a bad field 'name': string should have at least 1 character",
            "manifest.json: has a bad field 'group_cap': input should be greater than or equal "
            "to 1",
        ],
    ),
    (
        "units.jsonl",
        '{"id": "u1", "kind": "fact", "response": {"shape": "cubic"}}\n',
        [
            "units.jsonl:1: 'u1' has a bad field 'response': input tag 'cubic' found using 'shape' "
            "does not match any of the expected tags: 'capped', 'piecewise', 'sqrt', 'log1p', "
            "'saturating'"
        ],
    ),
    (
        "units.jsonl",
        '{"id": "u1", "kind": 5, "response": {"shape": "capped", "cap": 0}}\n',
        [
            "units.jsonl:1: 'u1' has a bad field 'kind': input should be a valid string",
            "units.jsonl:1: 'u1' has a bad field 'response': cap must be positive",
        ],
    ),
    (
        "units.jsonl",
        '{"id": "u1", "kind": "fact", "query_weight": 2}\n',
        [
            "units.jsonl:1: 'u1' has query_weight 2 but its queries give 1 "
            "(correct it or leave it out)"
        ],
    ),
    (
        "queries.jsonl",
        '{"id": "q1", "required": ["u1", "u2"], "importance": -1}\n',
        [
            "queries.jsonl:1: 'q1' has a negative importance (importances are 0 or more)",
            "queries.jsonl:1: 'q1' requires the unknown unit 'u2' (add the unit or drop it)",
        ],
    ),
    (
        "queries.jsonl",
        '[1]\n{"id": "q1", "id": "q2"}\n{"id" "q"}\n{"id": "q3", "requ',
        [
            "queries.jsonl:1: expected one JSON object per line, found a list",
            "queries.jsonl:2: the key 'id' appears twice in one object",
            "queries.jsonl:3: is not valid JSON: Expecting ':' delimiter at column 7",
            "queries.jsonl:4: the file ends in the middle of a row: it was cut off",
        ],
    ),
    (
        "experiences.jsonl",
        '{"id": "e1"}\n{"id": "\xe9"}\n'.encode("latin-1"),
        ["experiences.jsonl:2: is not UTF-8: bad byte 0xe9 (save it as UTF-8)"],
    ),
    (
        "experiences.jsonl",
        GOOD["experiences.jsonl"].encode("utf-16"),
        ["experiences.jsonl:1: is UTF-16, not UTF-8 (save it as UTF-8)"],
    ),
    (
        "experiences.jsonl",
        b'{"id": "e1"}\n\0\0\n',
        ["experiences.jsonl:2: holds a NUL byte (the file is binary or damaged)"],
    ),
    (
        "experiences.jsonl",
        '{"id": "e1", "text": "\\ud800"}\n{"id": "e2"}\n',
        ["experiences.jsonl:1: holds half of a surrogate pair, which is not a character"],
    ),
    (
        "experiences.jsonl",
        '{"id": "e1", "attributes": {"x": ' + "[" * 99999 + "\n",
        ["experiences.jsonl:1: nests deeper than 64 levels"],
    ),
    (
        "experiences.jsonl",
        f'{{"id": "e1", "attributes": {{"x": {"[" * 80 + "]" * 80}}}}}\n',
        ["experiences.jsonl:1: nests deeper than 64 levels"],
    ),
    (
        "experiences.jsonl",
        '{"id": "e1", "index": 1}\n{"id": "e2", "index": 1}\n',
        [
            "experiences.jsonl:2: 'e2' has the same stream index 1 as 'e1' "
            "(give every experience its own index)"
        ],
    ),
    ("units.jsonl", None, ["units.jsonl: does not exist (check the path)"]),
    ("manifest.json", None, ["p: has no manifest.json (a package folder needs one)"]),
    ("manifest.json", "[]", ["manifest.json: is not a manifest: it holds a list"]),
    (
        "manifest.json",
        '{\n"format": "memaudit-package",\n',
        [
            "manifest.json:3: is not valid JSON: "
            "Expecting property name enclosed in double quotes at column 1"
        ],
    ),
    (
        "manifest.json",
        manifest(version=2),
        ["manifest.json: has format version 2 (this program reads 1)"],
    ),
    (
        "manifest.json",
        manifest(format="other"),
        [
            'manifest.json: is not a package: it lacks the line "format": "memaudit-package" '
            "(a conversation becomes one by memaudit build)"
        ],
    ),
    (
        "manifest.json",
        manifest(counts={"units": 2, "x": 1}, sha256={"units.jsonl": "0" * 64}),
        [
            "manifest.json: names the unknown entry 'x' in 'counts'",
            "units.jsonl: has 1 rows but the manifest counts 2 (rows were lost or added)",
            "units.jsonl: has SHA-256 1d6226c24ae9 but the manifest says 000000000000 "
            "(the file changed after it was written)",
        ],
    ),
]


@pytest.mark.parametrize(("file", "content", "expected"), CASES)
def test_every_problem_is_named(
    tmp_path: Path, file: str, content: str | bytes | None, expected: list[str]
) -> None:
    assert problems_at(make(tmp_path / "p", {})) == []
    (tmp_path / "p" / file).unlink()
    folder = make(tmp_path / "p", {file: content})
    assert [str(problem) for problem in problems_at(folder)] == expected


def test_a_wrong_digest_is_a_problem(tmp_path: Path) -> None:
    folder = make(tmp_path / "p", {"manifest.json": manifest(digest="f" * 64)})
    (problem,) = problems_at(folder)
    assert str(problem).startswith("manifest.json: declares the digest ffffffffffff but the conte")


def test_reading_raises_all_problems(tmp_path: Path) -> None:
    """read_package carries the same list and names the path."""
    folder = make(tmp_path / "p", {"units.jsonl": None, "queries.jsonl": "{"})
    with pytest.raises(InvalidPackage) as caught:
        read_package(folder)
    assert list(caught.value.problems) == problems_at(folder)
    assert caught.value.source == str(folder)


def test_the_rule_of_cores(tmp_path: Path) -> None:
    """One line per statement that lacks its core, and per part that is covered in part. Cells that
    cannot be read say nothing about the others."""
    whole = EvidenceUnit(id="u1", kind="fact", text="Ana moved in May")
    parts = part_units(whole, (("what", "moved"), ("who", "Ana"), ("when", "in May")))
    cells = [
        ("m1", "who", 1),
        ("m1", "when", 1),
        ("m2", "what", 0.5),
        ("m2", "when", 1),
        ("m3", "what", 1),
        ("m3", "when", 1),
        ("m4", "who", 0),
    ]
    rows = [{"candidate": id, "unit": f"u1#{name}", "value": value} for id, name, value in cells]
    changes = {
        "units.jsonl": "".join(
            unit.model_dump_json(exclude_defaults=True) + "\n" for unit in parts
        ),
        "queries.jsonl": "",
        "candidates.jsonl": "".join(MEMORY.replace("m1", f"m{n}") for n in range(1, 5)),
        "coverage.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
    }
    assert [str(problem) for problem in problems_at(make(tmp_path / "p", changes))] == [
        "coverage.jsonl:1: 'm1 x u1#who' keeps a part of 'u1' without its core 'u1#what' "
        "(add a cell of 1 for the core, or leave out the part)",
        "coverage.jsonl:3: 'm2 x u1#what' has coverage 0.5 of a part "
        "(a part is kept, 1, or lost, 0)",
    ]
    changes["coverage.jsonl"] = changes["coverage.jsonl"].replace("0.5", '"x"')
    (problem,) = problems_at(make(tmp_path / "p", changes))
    assert "bad field 'value'" in problem.message
