"""The page is one file that needs nothing else, and that everyone can read."""

import re
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.sweeps.runs.report.page import build_report, write_report
from memaudit.workspace.run_folder import ROWS
from tests.show.html_tree import Tree, assert_sound


def test_it_is_sound_and_names_no_other_place(plain_page: str) -> None:
    assert_sound(plain_page)
    assert not re.search(r"https?:|//[a-z]|@import|url\(|\bsrc=", plain_page)
    assert str(Path.cwd()) not in plain_page


def test_the_same_run_gives_the_same_page(plain_run: Path, plain_page: str, tmp_path: Path) -> None:
    write_report(plain_run, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == plain_page
    assert len(plain_page) < 400_000


def test_references_are_set_apart_in_words(plain_page: str) -> None:
    text = Tree(plain_page).text
    assert "Package-oracle references" in text
    assert "Deployable writers" in text
    assert "Proxies: stand-ins for families of systems" in text


def test_an_unfinished_run_is_refused(plain_run: Path, tmp_path: Path) -> None:
    for path in plain_run.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    lines = (tmp_path / ROWS).read_text().splitlines(keepends=True)
    (tmp_path / ROWS).write_text("".join(lines[:-1]))
    with pytest.raises(MemAuditError, match=r"holds 107 of 108 rows; finish the run"):
        build_report(tmp_path)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MemAuditError, match=r"cannot read .*run\.json"):
        build_report(tmp_path)
