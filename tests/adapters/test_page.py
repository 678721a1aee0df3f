"""docs/stores.md holds what is true of the code."""

import re
from pathlib import Path

from memaudit.adapters.registry import ADAPTERS, import_store

PAGE = (Path(__file__).parents[2] / "docs" / "stores.md").read_text()


def test_every_format_is_there_with_its_views() -> None:
    """The table lists the importers and their views, in order."""
    rows = re.findall(r"^\| `([\w-]+)` \| [^|]+ \| (`[^|]+`) \|", PAGE, re.MULTILINE)
    found = {name: tuple(re.findall(r"`(\w+)`", views)) for name, views in rows}
    assert found == {name: adapter.views for name, adapter in ADAPTERS.items()}


def test_the_example(tmp_path: Path) -> None:
    """The plain example is a store."""
    block = re.search(r"^```jsonl store\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert block
    (tmp_path / "mine.jsonl").write_text(block[1])
    store = import_store([tmp_path / "mine.jsonl"])
    assert store.origin.format == "plain"
    assert [(memory.id, memory.state) for memory in store.memories] == [
        ("line-1", "active"), ("old", "superseded"), ("line-3", "active"),
    ]  # fmt: skip
    assert store.memories[2].example == "q7"
    assert store.warnings == ()
