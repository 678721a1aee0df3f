"""UTF-8 with a byte order mark, as editors and spreadsheets save it, is read like UTF-8 without."""

import codecs
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memaudit.conversations.registry import read_conversations
from memaudit.judges.label_files import read_labels
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.certificates import read_certificates, write_certificates
from memaudit.kernel.io.foreign_json import records
from memaudit.kernel.io.packages import read_package, write_package
from memaudit.kernel.io.store_file import store_text
from memaudit.kernel.io.strict_json import read_object
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.explorer.library.entries import read_object as read_explored
from memaudit.lab.explorer.library.entries import recognise
from memaudit.lab.labels.frame_files import read_label_sets
from memaudit.stores.protocol import ImportOptions, MappedFields
from memaudit.stores.registry import import_store, open_store, parse_argument
from tests.kernel.io.test_package_check import GOOD
from tests.stores.exports import EXPORTS

Doors = dict[str, tuple[dict[str, str], Callable[[Path], object]]]
"""Files by name, and what is read from their folder."""

UNITS = '{"unit_id": "u1", "text": "Ann eats fish."}\n'
CELLS = "memory_id,unit_id,coverage\nm1,u1,1\n"
LABELS = {"a.csv": "cell_id,label\nc1,full\n", "a.jsonl": '{"cell_id": "c1", "label": "full"}\n'}


def memories(path: Path, fields: MappedFields | None = None) -> list[tuple[str, str]]:
    store = import_store([path], options=ImportOptions(fields=fields))
    return [(memory.id, memory.text) for memory in store.memories]


DOORS: Doors = {
    "export, JSON": (
        {"e.json": json.dumps(EXPORTS["mem0"].document)},
        lambda folder: memories(folder / "e.json"),
    ),
    "export, JSONL": (
        {"e.jsonl": '{"text": "a"}\n{"text": "b"}\n'},
        lambda folder: memories(folder / "e.jsonl"),
    ),
    "export, CSV": (
        {"e.csv": "m,n\na,b\n"},
        lambda folder: memories(folder / "e.csv", fields=MappedFields("m")),
    ),
    "export, text": ({"e.txt": "Ann eats fish.\n"}, lambda folder: memories(folder / "e.txt")),
    "export, Markdown": (
        {"MEMORY.md": "# Ann\n- eats fish\n"},
        lambda folder: memories(folder / "MEMORY.md"),
    ),
    "export, folder": ({"a.md": "# Ann\n- eats fish\n", "b.md": "- tea\n"}, memories),
    "dataset, chat": (
        {"chat.jsonl": '{"text": "a"}\n{"text": "b"}\n'},
        lambda folder: [one.conversation for one in read_conversations(folder / "chat.jsonl")],
    ),
    "dataset, JSON": ({"d.json": '[{"a": 1}]'}, lambda folder: list(records(folder / "d.json"))),
    "labels of a build": (
        {"u.jsonl": UNITS, "a.csv": CELLS},
        lambda folder: [
            file.rows for file in read_labels(folder / "u.jsonl", None, [folder / "a.csv"]).files
        ],
    ),
    "labels of people, CSV": (LABELS, lambda folder: read_label_sets(folder / "a.csv")),
    "labels of people, JSONL": (LABELS, lambda folder: read_label_sets(folder / "a.jsonl")),
    "settings": ({"run.json": '{"a": 1}'}, lambda folder: read_object(folder / "run.json", "")),
    "package, folder": (GOOD, read_package),
}


@pytest.mark.parametrize("door", DOORS)
def test_files_of_people(door: str, tmp_path: Path) -> None:
    files, read = DOORS[door]
    found = []
    for mark in (b"", codecs.BOM_UTF8):
        for name, text in files.items():
            (tmp_path / name).write_bytes(mark + text.encode())
        found.append(read(tmp_path))
    assert found[0] == found[1] != []


def test_files_of_ours_that_people_save_again(tiny: Package, tmp_path: Path) -> None:
    package, certificates, store = (tmp_path / f"{name}.json" for name in ("p", "c", "s"))
    write_package(tiny, package)
    best = solve(tiny, budget=3).certificate
    assert best is not None
    write_certificates([best], certificates)
    imported = import_store([EXPORTS["mem0"].write(tmp_path)])
    store.write_text(store_text(imported))
    for path in (package, certificates, store):
        path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert read_package(package) == tiny
    assert read_certificates(certificates) == [best]
    assert open_store(parse_argument(str(store))) == imported
    shown = recognise(package, package.stat().st_size)
    assert (shown and shown.kind) == "package"
    assert read_explored(package)["format"] == "memaudit-package"


def test_a_fault_after_the_mark_is_placed(tmp_path: Path) -> None:
    """The mark is three bytes long; `x` is the second character of the line."""
    path = tmp_path / "chat.jsonl"
    path.write_bytes(codecs.BOM_UTF8 + b"{x}\n")
    with pytest.raises(MemAuditError, match=r"chat.jsonl:1: is not valid JSON: .*\(at byte 4\)"):
        read_conversations(path, "chat")
