"""Formats of outside packages: they work like ours, and a bad one is an error of one line."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memaudit.conversations import registry as conversations
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.entry_points import Registered
from memaudit.stores import registry as stores
from memaudit.stores.registry import import_store

DIARY = """
from memaudit.stores.field_map import FieldMap

FORMATS = [
    FieldMap(
        name="NAME", system="Diary", label="Diary", checked="nothing", views=("note",),
        marks=(("note",), ("entry_id",)), lists=("entries",), text="note", id="entry_id",
    )
]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("outside_diary", None)


def install(folder: Path, code: str, value: str = "outside_diary:FORMATS") -> None:
    """A package as an installer leaves it: a module, and its metadata."""
    (folder / "outside_diary.py").write_text(code)
    data = folder / "outside_diary-1.0.dist-info"
    data.mkdir()
    (data / "METADATA").write_text("Metadata-Version: 2.1\nName: outside-diary\nVersion: 1.0\n")
    (data / "entry_points.txt").write_text(f"[memaudit.stores]\ndiary = {value}\n")


def refused() -> str:
    with pytest.raises(MemAuditError) as error:
        dict(Registered("memaudit.stores"))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_ours_enter_by_the_same_door() -> None:
    for formats, group in (
        (stores.FORMATS, stores.ADAPTERS),
        (conversations.FORMATS, conversations.LOADERS),
    ):
        assert [format.name for format in formats] == list(group)


def test_an_outside_format(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(folder, DIARY.replace("NAME", "diary"))
    monkeypatch.setattr(stores, "ADAPTERS", Registered("memaudit.stores"))
    export = folder / "export.json"
    export.write_text('{"entries": [{"entry_id": "e1", "note": "Ann eats fish."}]}')
    store = import_store([export])
    assert (store.origin.format, store.origin.guessed) == ("diary", True)
    assert [memory.text for memory in store.memories] == ["Ann eats fish."]


WHO = "the entry point memaudit.stores 'diary' (outside_diary:FORMATS) of the package outside-diary"


def test_a_package_that_fails_to_load(folder: Path) -> None:
    install(folder, "raise RuntimeError('two\\nlines')")
    assert refused() == (
        f"{WHO} cannot be loaded: RuntimeError: two lines (update or uninstall the package)"
    )


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("", "AttributeError: "),
        ("FORMATS = 3", "TypeError: 'int' object is not iterable"),
        ("FORMATS = ['x']", "AttributeError: 'str' object has no attribute 'name'"),
    ],
)
def test_what_is_no_list_of_formats(folder: Path, code: str, fault: str) -> None:
    install(folder, code)
    assert refused().startswith(f"{WHO} cannot be loaded: {fault}")


def test_a_name_that_is_taken(folder: Path) -> None:
    install(folder, DIARY.replace("NAME", "mem0"))
    assert refused() == (
        f"{WHO}: the name 'mem0' is taken by the entry point memaudit.stores 'builtin' "
        "(memaudit.stores.registry:FORMATS) of the package memaudit-oracle; uninstall one of "
        "the packages"
    )


def test_an_installation_without_our_entry_points() -> None:
    with pytest.raises(MemAuditError, match="not completely installed"):
        len(Registered("memaudit.nothing"))
