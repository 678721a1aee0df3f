"""Pages of audits: blind until all labels are there, then agreement and disputed cells."""

import json
import time
from pathlib import Path

import pytest

from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages import PAGES
from memaudit.lab.explorer.site import Site, show
from memaudit.lab.labels.annotate.labelling import DATABASE, LabelDatabase, frame_digest
from memaudit.lab.labels.frame_files import read_frame, write_frame, write_labels
from tests.lab.explorer.libraries import frame_of, labels_of, ratios_data
from tests.lab.explorer.site_pages import hrefs, page, refused, slug_of, table_rows, words_of

SECRETS = ("secret-provenance", "memory text", "unit text", "c0001", "hotel-rooms")


@pytest.fixture
def frame(tmp_path: Path) -> Path:
    write_frame(frame_of(4), tmp_path / "frame")
    return tmp_path / "frame"


def text_of(frame: Path) -> str:
    """The page of a frame, looked at afresh."""
    site = Site(Library([frame.parent]))
    return show(site, PAGES, f"frame/{slug_of(site, 'frame', 'frame')}.html", {})[1]


def decide(frame: Path, annotator: str, *labels: str) -> None:
    cells = read_frame(frame).cells
    saved = LabelDatabase(frame / DATABASE, frame_digest(cells), len(cells))
    for cell, label in zip(cells, labels, strict=False):
        saved.decide(annotator, cell.id, label, "")  # type: ignore[arg-type]
    saved.close()


def is_blind(text: str) -> bool:
    return "Still blind" in text and not any(secret in text for secret in SECRETS)


def test_a_frame_without_labels_shows_nothing(frame: Path) -> None:
    text = text_of(frame)
    assert is_blind(text)
    assert "An audit frame of 4 cells" in text
    assert "memaudit label annotate FRAME --annotator NAME" in text


def test_one_set_of_labels_is_not_enough(frame: Path) -> None:
    write_labels(labels_of("ann", "full", "full", "none", "none"), frame / "ann.csv")
    text = text_of(frame)
    assert is_blind(text)
    assert "ann.csv" in text


def test_two_sets_are_compared(records_site: Site) -> None:
    """ann full full none partial, ben full none none none: 2 of 4 agree.

    Chance: ann says full, none, partial 2, 1, 1 times, ben 1, 3, 0: (2·1 + 1·3) / 16 = 5/16;
    kappa = (1/2 - 5/16) / (1 - 5/16) = 3/11 = 0.273.
    """
    tree = page(records_site, f"frame/{slug_of(records_site, 'frame', 'labelled')}.html")
    assert "4 cells of 1 package were labelled more than once; 3 are disputed." in tree.text
    table = [words_of(row) for row in tree.named("tr")]
    (pair, _) = [row for row in table if row.startswith("ann - ben")]  # on either scale
    assert "0.273" in pair
    assert "0.500" in pair
    disputed = table_rows(tree, "disputed-table")
    assert len(disputed) == 3  # the package says full to all, so the cell of two nones as well
    assert [row[:3] for row in disputed] == [
        ["memory text 4", "unit text 4", "ann: partial ben: none package: full"],
        ["memory text 2", "unit text 2", "ann: full ben: none package: full"],
        ["memory text 3", "unit text 3", "ann: none ben: none package: full"],
    ]
    package = slug_of(records_site, "package", "hotel-rooms")
    links = hrefs(tree)
    assert sum(f"package/{package}/stream.html#c-" in href for href in links) == 3
    assert "other.csv" in tree.text  # what is no file of labels is told


def test_people_who_are_still_labelling_see_nothing(frame: Path) -> None:
    for name in ("ann", "ben"):
        write_labels(labels_of(name, "full", "full", "none", "none"), frame / f"{name}.csv")
    assert not is_blind(text_of(frame))
    decide(frame, "cem", "full", "none")
    text = text_of(frame)
    assert is_blind(text)
    assert "2 of 4 cells, still labelling" in text
    assert "Somebody is still labelling" in text
    decide(frame, "cem", "full", "none", "none", "none")
    text = text_of(frame)
    assert not is_blind(text)
    assert "ann - cem" in text


def test_a_database_that_cannot_be_read_is_no_reason_to_tell(frame: Path) -> None:
    for name in ("ann", "ben"):
        write_labels(labels_of(name, "full", "full", "none", "none"), frame / f"{name}.csv")
    (frame / DATABASE).write_bytes(b"no database at all, but somebody's labels" * 50)
    text = text_of(frame)
    assert is_blind(text)
    assert "Somebody may be still labelling" in text


def test_looking_writes_nothing(frame: Path) -> None:
    decide(frame, "ann", "full", "none", "none", "none")
    before = {path.name: path.read_bytes() for path in frame.iterdir()}
    text_of(frame)
    assert {path.name: path.read_bytes() for path in frame.iterdir()} == before


def test_new_labels_are_seen(frame: Path) -> None:
    """Without a new look at the folders: labels change while a frame does not."""
    write_labels(labels_of("ann", "full", "full", "none", "none"), frame / "ann.csv")
    write_labels(labels_of("ben", "full", "full", "none", "none"), frame / "ben.csv")
    site = Site(Library([frame.parent]))
    address = f"frame/{slug_of(site, 'frame', 'frame')}.html"
    assert "ann: full" not in show(site, PAGES, address, {})[1].split("ben - package")[0]
    first = table_rows(page(site, address), "disputed-table")
    time.sleep(0.01)
    write_labels(labels_of("ben", "none", "full", "none", "none"), frame / "ben.csv")
    assert table_rows(page(site, address), "disputed-table") != first


def test_labels_that_cannot_be_compared(frame: Path) -> None:
    for name in ("package", "ben"):
        write_labels(labels_of(name, "full", "full"), frame / f"{name}.csv")
    text = text_of(frame)
    assert "The labels cannot be compared" in text
    assert "reserved name" in text


def test_a_file_of_agreement(records_site: Site) -> None:
    tree = page(records_site, f"frame/{slug_of(records_site, 'frame', 'agreement')}.html")
    assert "a note" in tree.text
    assert [row[2] for row in table_rows(tree, "disputed-table")] == [
        "ann: full ben: none package: full"
    ]


def test_a_file_of_ratios(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(ratios_data("ann")))
    site = Site(Library([tmp_path]))
    tree = page(site, f"frame/{slug_of(site, 'frame', 'r')}.html")
    assert "2 packages; 4 optima solved, 1 of them not certified." in tree.text
    assert "1 swap" in tree.text


@pytest.mark.parametrize("wrong", [{"pairs": 3}, {"disputed": [{}]}, {"raters": [3]}])
def test_a_damaged_file_says_why(records: Path, tmp_path: Path, wrong: dict[str, object]) -> None:
    data = json.loads((records / "agreement.json").read_text())
    (tmp_path / "a.json").write_text(json.dumps({**data, **wrong}))
    site = Site(Library([tmp_path]))
    assert refused(site, f"frame/{slug_of(site, 'frame', 'a')}.html")[0] == 422
