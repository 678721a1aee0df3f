"""Any file by its fields: where paths lead, and what is said where they lead nowhere."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from memaudit.kernel.io.store_file import ExportedStore
from memaudit.stores.protocol import ImportOptions, MappedFields
from memaudit.stores.registry import import_store
from tests.conversations.files import changed, ways
from tests.stores.exports import attempt, balanced, write_tables
from tests.stores.test_no_tracebacks import JUNK

POINTS = {
    "result": {
        "points": [
            {
                "id": 1,
                "payload": {"data": {"text": "Ann eats fish."}, "user": "ann", "ts": 1741954200},
            },
            {
                "id": 2,
                "payload": {"data": {"text": "Bo likes tea."}, "user": "bo", "ts": 1741867800},
            },
        ]
    },
    "status": "ok",
}


def by(text: str, **fields: str) -> ImportOptions:
    return ImportOptions(fields=MappedFields(text, **fields))


def written(folder: Path, document: Any) -> Path:
    """The document as JSON, or the text of a CSV file."""
    path = folder / ("e.csv" if isinstance(document, str) else "e.json")
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def read(folder: Path, document: Any, text: str, **fields: str) -> ExportedStore:
    return import_store([written(folder, document)], options=by(text, **fields))


def refused(folder: Path, document: Any, text: str, **fields: str) -> str:
    store, error = attempt([written(folder, document)], options=by(text, **fields))
    assert store is None
    return error


def rows(store: ExportedStore) -> list[tuple[str, str, str | None, str | None]]:
    return [(one.id, one.text, one.created_at, one.namespace) for one in store.memories]


EXPECTED = [
    ("2", "Bo likes tea.", "2025-03-13T12:10", "bo"),
    ("1", "Ann eats fish.", "2025-03-14T12:10", "ann"),
]
"""By time: Bo's was written a day before."""


TEXT = "result.points.payload.data.text"


def test_from_the_top(tmp_path: Path) -> None:
    given = {
        "time": "result.points.payload.ts",
        "id": "result.points.id",
        "namespace": "result.points.payload.user",
    }
    store = read(tmp_path, POINTS, TEXT, **given)
    assert rows(store) == EXPECTED
    assert store.warnings == ()
    assert (store.origin.format, store.origin.guessed) == ("mapped", False)
    assert store.origin.configuration == {"fields": {"text": TEXT, **given}}


CSV = "nr;who;what;when\n1;ann;Ann eats fish.;2025-03-14 12:10\n2;bo;Bo likes tea.;1741867800\n"


def test_csv(tmp_path: Path) -> None:
    """By its name, with the separator of its header; a row with another number of cells is lost."""
    fields = {"id": "nr", "time": "when", "namespace": "who"}
    assert rows(read(tmp_path, CSV, "what", **fields)) == EXPECTED
    short = read(tmp_path, f"{CSV}3;cy\n", "what", **fields)
    assert rows(short) == EXPECTED
    assert "1 row skipped, wrong number of cells: e.csv:4 (2 of 4)" in short.warnings
    dotted = "a.b,text\nAnn eats fish.,x\n"
    assert [one.text for one in read(tmp_path, dotted, "a.b").memories] == ["Ann eats fish."]


def test_csv_with_a_known_column_needs_no_fields(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text('id,text\na,"Ann eats fish,\nand cake."\n')
    store = import_store([tmp_path / "e.csv"])
    assert store.origin.format == "plain"
    assert [(one.id, one.text) for one in store.memories] == [("a", "Ann eats fish,\nand cake.")]


def test_jsonl(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text('{"m": ["Ann eats fish.", "Bo likes tea."]}\n{"m": "x"\n{"n": 1}\n')
    store = import_store([path], options=by("m"))
    assert [(one.id, one.text) for one in store.memories] == [
        ("row-1", "Ann eats fish."),
        ("row-2", "Bo likes tea."),
    ]
    assert store.count.skipped == {"no m": 1, "not valid JSON": 1}


def test_lists_inside_rows_and_objects_under_any_name(tmp_path: Path) -> None:
    """The user of a row is that of all its memories; a star takes every name."""
    users = [{"user": "ann", "all": [{"m": "a"}, {"m": "b"}]}, {"user": "bo", "all": [{"m": "c"}]}]
    found = read(tmp_path, users, "all.m", namespace="user").memories
    assert [(one.text, one.namespace) for one in found] == [("a", "ann"), ("b", "ann"), ("c", "bo")]
    keyed = {"k1": {"m": "a", "by": "ann"}, "k2": {"m": "b", "by": "bo"}}
    starred = read(tmp_path, keyed, "*.m", namespace="*.by").memories
    assert [(one.text, one.namespace) for one in starred] == [("a", "ann"), ("b", "bo")]


def test_several_lists(tmp_path: Path) -> None:
    """The path says which is the store."""
    lists = {"old": [{"m": "a"}], "new": {"rows": [{"m": "b", "t": "2025-01-01"}]}}
    assert [one.text for one in read(tmp_path, lists, "new.rows.m").memories] == ["b"]
    assert refused(tmp_path, lists, "m") == (
        "e.json: no row has the field 'm'; fields found: old.m, new.rows.m, new.rows.t"
    )


def test_missing_in_some_rows(tmp_path: Path) -> None:
    """Without a text the row is lost, without anything else it is kept and named."""
    table = [{"m": "a", "t": "2025-01-01", "n": 1, "w": "x"}, {"m": "b"}, {"t": "2025-01-01"}, 7]
    store = read(tmp_path, table, "m", time="t", id="n", namespace="w")
    assert [one.text for one in store.memories] == ["a", "b"]
    assert store.count.skipped == {"no m": 2}
    assert "2 rows skipped, no m: e.json: [2], e.json: [3]" in store.warnings
    for said in ("no t", "no w", "no id, numbered by its place"):
        assert f"1 row: {said}: e.json: [1]" in store.warnings


def test_missing_in_all_rows(tmp_path: Path) -> None:
    found = "fields found: result.points.id, result.points.payload.data.text, "
    for text, fields, name in (
        ("body", {}, "body"),
        (TEXT, {"time": "when"}, "when"),
        (TEXT, {"id": "id"}, "id"),
    ):
        line = refused(tmp_path, POINTS, text, **fields)
        assert line.startswith(f"e.json: no row has the field {name!r}; {found}")
    many = refused(tmp_path, [{f"field{at}" + "x" * 99: "" for at in range(30)}], "m")
    assert many.endswith(", ...")
    assert len(many) < 500


def test_empty(tmp_path: Path) -> None:
    """A list without rows is an empty store, an object without the list is not."""
    for document, text in (([], "m"), ({"r": []}, "r.m"), ("a,m\n", "m")):
        assert read(tmp_path, document, text).memories == ()
    assert "no row has the field 'm'" in refused(tmp_path, {"r": []}, "m")


def test_refused(tmp_path: Path) -> None:
    path = tmp_path / "e.md"
    path.write_text("- Ann eats fish.")
    assert attempt([path], options=by("m"))[1].startswith("e.md: is text without fields")
    assert attempt([path], "mapped")[1].startswith("the format mapped needs the names of fields: ")
    assert attempt([path], "mem0", by("m"))[1].endswith("leave out the format mem0")
    deep = json.loads('{"m":' * 70 + "1" + "}" * 70)
    assert refused(tmp_path, deep, "m.m") == "e.json: nests deeper than 64 levels"


def test_sqlite(tmp_path: Path) -> None:
    """The table that has the columns, opened inside if a text holds JSON, and left untouched."""
    path = tmp_path / "e.db"
    payload = json.dumps({"text": "Ann eats fish.", "by": "ann"})
    write_tables(
        path,
        {
            "log": [{"at": 1, "payload": "started"}],
            'mem""ories': [
                {"nr": 2, "payload": payload, "at": 1741954200.5},
                {"nr": 1, "payload": b'{"text": "\xff"}', "at": 1},
            ],
            "notes": [{'bo""dy': "Bo likes tea."}],
        },
    )
    before = path.read_bytes()
    fields = by('mem"ories.payload.text', time='mem"ories.at', id='mem"ories.nr')
    store = import_store([path], options=fields)
    assert rows(store) == [("2", "Ann eats fish.", "2025-03-14T12:10", None)]
    (skip,) = [line for line in store.warnings if "skipped, " in line]
    assert skip == '1 row skipped, not UTF-8: e.db: row 2 of mem"ories (at byte 10 of a column)'
    (note,) = import_store([path], options=by('notes.bo"dy')).memories
    assert note.text == "Bo likes tea."
    for text, said in {
        "body": "no row has the field 'body'; fields found: log.at, log.payload, mem",
        "log.body": "no row has the field 'log.body'; fields found: log.at, log.payload, mem",
    }.items():
        assert said in attempt([path], options=by(text))[1]
    assert [file.name for file in tmp_path.iterdir()] == ["e.db"]
    assert path.read_bytes() == before


def test_sqlite_tables_without_row_numbers(tmp_path: Path) -> None:
    path = tmp_path / "e.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE m (k PRIMARY KEY, v) WITHOUT ROWID;"
            "INSERT INTO m VALUES ('b', 'Bo likes tea.'), ('a', 'Ann eats fish.');"
            "CREATE VIEW w AS SELECT v AS s FROM m;"
        )
    store = import_store([path], options=by("m.v", id="m.k"))
    assert [one.id for one in store.memories] == ["a", "b"]
    assert "no row has the field 'w.s'" in attempt([path], options=by("w.s"))[1]  # views are code


def test_any_damage_is_one_line_or_accounted_for(tmp_path: Path) -> None:
    """A seeded sample of all parts of the document, exchanged or dropped."""
    cases = [(way, junk) for way in ways(POINTS) for junk in range(-1, len(JUNK))]
    for way, junk in random.Random(7).sample(cases, 80):
        new = changed(POINTS, way, JUNK[junk] if junk >= 0 else None, drop=junk < 0)
        path = written(tmp_path, new)
        fields = by(TEXT, time="result.points.payload.ts", id="result.points.id")
        store, error = attempt([path], options=fields)
        assert store is None or balanced(store)
        assert "\n" not in error


def test_an_unknown_format_says_how_to_map_it(tmp_path: Path) -> None:
    for name, content in {
        "e.json": json.dumps(POINTS),
        "e.jsonl": '{"body": "x", "by": {"who": 1}}\n' * 2,
        "e.csv": CSV,
    }.items():
        (tmp_path / name).write_text(content)
        line = attempt([tmp_path / name])[1]
        assert line.startswith(f"{name}: has no known format; its fields are ")
        assert "fields text=FIELD[,time=FIELD,id=FIELD,namespace=FIELD]" in line
        assert "plain (rows with text, memory, content or fact)" in line
    assert "its fields are nr, who, what, when: say which" in line
