"""What every importer must do, on an export of each shape it reads."""

import re
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import read_store, store_digest, store_text, write_store
from memaudit.stores.field_maps import FIELD_MAPS
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.registry import ADAPTERS, guess_adapter, import_store
from memaudit.stores.source import open_source
from tests.stores.exports import EXPORTS, Export, attempt, balanced

every_export = pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS.keys())


def test_every_importer_has_an_export() -> None:
    """Except of the one that is told its fields: test_mapped.py."""
    assert {export.format for export in EXPORTS.values()} == set(ADAPTERS) - {"mapped"}


@every_export
def test_guess_read_and_count(export: Export, tmp_path: Path) -> None:
    """The format is guessed; states, order, counts and warnings are as worked out by hand."""
    path = export.write(tmp_path)
    store = import_store([path])
    assert (store.origin.format, store.origin.guessed) == (export.format, True)
    assert [memory.text for memory in store.active] == export.active
    assert store.count.inactive == export.inactive
    assert store.count.skipped == export.skipped
    assert balanced(store)
    for piece in export.warned:
        assert any(piece in warning for warning in store.warnings), store.warnings
    for reason in export.skipped:
        (named,) = [warning for warning in store.warnings if f"skipped, {reason}" in warning]
        assert ": " in named.partition(reason)[2]
    given = import_store([path], export.format)
    assert not given.origin.guessed
    assert given.memories == store.memories


@every_export
def test_no_two_importers_claim_it(export: Export, tmp_path: Path) -> None:
    source = open_source([export.write(tmp_path)])
    scores = sorted(adapter.recognises(source) for adapter in ADAPTERS.values())
    assert scores[-1] > scores[-2]
    assert guess_adapter(source).name == export.format


@every_export
def test_on_disk_and_back(export: Export, tmp_path: Path) -> None:
    store = import_store([export.write(tmp_path)])
    path = tmp_path / "store.json"
    write_store(store, path)
    again = read_store(path)
    assert again == store
    assert store_text(again) == path.read_text()
    assert store_digest(again) == store_digest(store)


@every_export
def test_every_view(export: Export, tmp_path: Path) -> None:
    """Each view gives a store that says which it is; an unknown view is an error."""
    path = export.write(tmp_path)
    for view in ADAPTERS[export.format].views:
        store = import_store([path], options=ImportOptions(view=view))
        assert store.origin.view == view
        assert balanced(store)
    with pytest.raises(MemAuditError, match="has no view 'sideways'"):
        import_store([path], options=ImportOptions(view="sideways"))


@every_export
def test_other_formats_refuse_or_skip(export: Export, tmp_path: Path) -> None:
    """Read as any other format: one line, or an account of every row; never a traceback."""
    path = export.write(tmp_path)
    for name in ADAPTERS:
        store, error = attempt([path], name)
        assert store is None or balanced(store)
        assert "\n" not in error


PAGE = (Path(__file__).parents[2] / "docs" / "stores.md").read_text()


def test_every_format_is_there_with_its_views() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| [^|]+ \| (`[^|]+`) \|", PAGE, re.MULTILINE)
    found = {name: tuple(re.findall(r"`(\w+)`", views)) for name, views in rows}
    assert found == {name: adapter.views for name, adapter in ADAPTERS.items()}


def test_the_page_says_how_a_field_map_was_checked() -> None:
    """The page and the table of field maps agree on what each was read against."""
    rows = re.findall(r"^\| ((?:files|the system|public)[^|]+) \| ([^|]+) \|", PAGE, re.MULTILINE)
    against = {name: kind for kind, names in rows for name in re.findall(r"`([\w-]+)`", names)}
    for field_map in FIELD_MAPS:
        kind = re.split(r" \(|;", field_map.checked)[0]
        assert against[field_map.name].startswith(kind)


def test_the_example(tmp_path: Path) -> None:
    block = re.search(r"^```jsonl store\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert block
    (tmp_path / "mine.jsonl").write_text(block[1])
    store = import_store([tmp_path / "mine.jsonl"])
    assert store.origin.format == "plain"
    assert [(memory.id, memory.state) for memory in store.memories] == [
        ("line-1", "active"),
        ("old", "superseded"),
        ("line-3", "active"),
    ]
    assert store.memories[2].example == "q7"
    assert store.warnings == ()
