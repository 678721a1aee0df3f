"""Records with something odd in some place are shown or refused in a line, never a crash."""

import copy
import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.io.store_file import store_text
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.library.packages import rows_with
from memaudit.lab.explorer.pages import PAGES
from memaudit.lab.explorer.site import Site, all_addresses, show
from memaudit.workspace.journal import to_line
from tests.lab.explorer.libraries import (
    diagnosis_row,
    exported,
    sheet_data,
    summary_data,
    write_diagnosis,
)
from tests.show.html_tree import Tree

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**400,
    1e308,
    1e-300,
    "x",
    "1/3",
    "1/0",
    "9" * 70,
    "\ud800",
    [],
    {},
    [1],
    {"a": 1},
)
CASES = 25


def damaged(data: Any, dice: random.Random) -> Any:
    """The same with one place that holds something else, or nothing."""
    data = copy.deepcopy(data)
    spots: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in inside:
            spots.append((value, key))
            if isinstance(one, dict | list):
                walk(one)

    walk(data)
    where, key = dice.choice(spots)
    if dice.random() < 0.2:
        del where[key]
    else:
        where[key] = dice.choice(ODD)
    return data


def scores(folder: Path, dice: random.Random) -> None:
    sheet = sheet_data("p", "x", dice.random() < 0.5)
    (folder / "s.json").write_text(json.dumps(damaged(sheet, dice)))


def diagnoses(folder: Path, dice: random.Random) -> None:
    rows = [diagnosis_row("p", f"q{n}", store, "x") for n in range(2) for store in "ab"]
    write_diagnosis(folder / "d", rows)
    rows[0] = damaged(rows[0], dice)
    (folder / "d" / "rows.jsonl").write_text("".join(map(to_line, rows)))
    summary = damaged(summary_data(["a", "b"], "x"), dice)
    (folder / "d" / "summary.json").write_text(json.dumps(summary))


def stores(folder: Path, dice: random.Random) -> None:
    data = json.loads(store_text(exported("notes", ("one", "two"))))
    del data["digest"]
    (folder / "s.json").write_text(json.dumps(damaged(data, dice)))


@pytest.mark.parametrize("write", [scores, diagnoses, stores])
def test_no_page_crashes(write: Callable[[Path, random.Random], None], tmp_path: Path) -> None:
    dice = random.Random(8)
    seen = set()
    for number in range(CASES):
        folder = tmp_path / str(number)
        folder.mkdir()
        write(folder, dice)
        site = Site(Library([folder]), bundled=number % 2 == 0)
        for address in all_addresses(site, PAGES):
            status, text = show(site, PAGES, address, {})
            seen.add(status)
            if address.endswith(".html"):
                Tree(text)
            if status != 200:
                (reason,) = [
                    element
                    for element in Tree(text).named("p")
                    if "finding" in (element.attributes.get("class") or "")
                ]
                assert "\n" not in reason.text.strip()
    assert seen == {200, 422}


def test_keys_that_appear_twice(tmp_path: Path) -> None:
    """Such a file says two things: it is listed as unreadable."""
    text = json.dumps(sheet_data("p", "x", True))
    (tmp_path / "s.json").write_text(text)
    assert len(Library([tmp_path]).of("scores")) == 1
    (tmp_path / "s.json").write_text(text.replace("{", '{"package": "q", ', 1))
    library = Library([tmp_path])
    assert library.of("scores") == ()
    (entry,) = library.unreadable
    assert "the key 'package' appears twice" in entry.reason


def test_rows_of_a_run_with_a_right_checksum_of_something_else(tmp_path: Path) -> None:
    """A line that names a package's digest and is no JSON is not one of its rows."""
    body = b'{"digest":"0123",'
    path = tmp_path / "rows.jsonl"
    path.write_bytes(body + b'"crc":"%08x"}\n' % zlib.crc32(body[:-1]))
    assert list(rows_with(tmp_path, "0123")) != []
    for body in (b'{"digest":"0123",[', b'["digest":"0123"', b'{"digest":"0123"' + b"[" * 5000):
        path.write_bytes(body + b',"crc":"%08x"}\n' % zlib.crc32(body))
        assert list(rows_with(tmp_path, "0123")) == []
