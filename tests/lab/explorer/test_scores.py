"""Pages of score files: the numbers of two small stores, waterfalls, and what was lost."""

import json
import shutil
from pathlib import Path

from memaudit.board.board_of_scores import board_of_scores
from memaudit.board.board_page import build_board_page
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.unit_parts import part_units
from memaudit.kernel.score.score_files import read_scores
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages import scores
from memaudit.lab.explorer.site import Site
from tests.kernel.package.test_unit_parts import MOVED, PARTS, package_of
from tests.lab.explorer.libraries import sheet_data
from tests.lab.explorer.site_pages import (
    element_with,
    entry_named,
    hrefs,
    page,
    refused,
    slug_of,
    table_rows,
    words_of,
)
from tests.show.html_tree import Tree


def line(site: Site, file: str, store: str, budget: int) -> str:
    one = entry_named(site, "scores", file)
    (slug,) = [
        line.slug
        for line in site.library.scores(one).lines
        if line.score.store == store and line.score.budget == budget
    ]
    return f"scores/{one.slug}/at/{slug}.html"


def falls(tree: Tree) -> list[list[tuple[str, str]]]:
    """Every waterfall: names and figures."""
    return [
        [(bar.children[0].text.strip(), words_of(bar.children[2])) for bar in element.children]
        for element in tree.named("div")
        if element.attributes.get("class") == "fall"
    ]


def test_every_store_and_budget(records_site: Site) -> None:
    """A row each, with the policy, the score and what the store cost."""
    tree = page(records_site, f"scores/{slug_of(records_site, 'scores', 'cells')}/index.html")
    table = table_rows(tree, "scores-table")
    assert [(row[0], *row[2:5], *row[6:]) for row in table] == [
        ("notes", "12", "0.000", "recency", "1.000", "29", "4"),
        ("digest", "12", "0.000", "recency", "0.000", "30", "2"),
        ("notes", "24", "0.667", "recency", "0.778", "29", "4"),
        ("digest", "24", "0.000", "recency", "0.778", "30", "2"),
    ]
    assert "digest: truncated: the list may go on" in element_with(tree, "unseen").all_text
    assert "an estimate, not labels" in tree.text


def test_the_waterfall_of_the_digest(records_site: Site) -> None:
    """By shared words OPT is 4.5 = 0.5 + 0.5 + 0 + 3.5 + 0."""
    tree = page(records_site, line(records_site, "cells", "digest", 24))
    (fall,) = falls(tree)
    assert fall == [
        ("OPT", "4.5 100.0%"),
        ("generation", "0.5 11.1%"),
        ("extraction", "0.5 11.1%"),
        ("cost", "0 0.0%"),
        ("selection", "3.5 77.8%"),
        ("kept", "0 0.0%"),
    ]
    bars = [
        (element.attributes["x"], element.attributes["width"])
        for element in tree.named("rect")
        if "%" in (element.attributes["x"] or "") and "class" in element.attributes
    ]
    assert bars == [
        ("0.0%", "100.0%"),
        ("88.889%", "11.111%"),
        ("77.778%", "11.111%"),
        ("77.778%", "0.0%"),
        ("0.0%", "77.778%"),
        ("0.0%", "0.0%"),
    ]
    exact = [[words_of(cell) for cell in row.children][:4] for row in tree.named("tr")[1:7]]
    assert exact == [
        ["OPT", "4.5", "100.0%", "1"],
        ["generation", "0.5", "11.1%", "1/9"],
        ["extraction", "0.5", "11.1%", "1/9"],
        ["cost", "0", "0.0%", "0"],
        ["selection", "3.5", "77.8%", "7/9"],
        ["kept", "0", "0.0%", "0"],
    ]


def test_lost_units_lead_to_the_package(records_site: Site) -> None:
    address = line(records_site, "cells", "digest", 24)
    tree = page(records_site, address)
    table = table_rows(tree, "lost-table")
    assert [(row[0], row[2], row[3]) for row in table] == [
        ("For Ingrid a shower will do; a bathtub is only nice to have.", "1", "generation"),
        ("Ingrid wants hotel rooms away from the lift.", "+0.5", "generation"),
        ("Feather pillows make Ingrid sneeze.", "0.5", "extraction"),
        ("Ingrid wants hotel rooms away from the lift.", "1", "selection"),
        ("Ingrid never wants breakfast booked.", "1", "selection"),
        ("Ingrid wants foam pillows.", "1", "selection"),
        ("Feather pillows make Ingrid sneeze.", "0.5", "selection"),
    ]
    package = slug_of(records_site, "package", "hotel-rooms")
    links = hrefs(tree)
    assert sum(f"package/{package}/query/" in href for href in links) == 7
    assert sum(f"package/{package}/coverage.html#u-" in href for href in links) >= 5


def test_a_file_without_cells_takes_texts_from_the_package(records_site: Site) -> None:
    """The same units are lost, and the page says what the file lists."""
    with_cells = table_rows(
        page(records_site, line(records_site, "cells", "digest", 24)), "lost-table"
    )
    without = table_rows(
        page(records_site, line(records_site, "plain", "digest", 24)), "lost-table"
    )
    assert {row[0] for row in without} == {row[0] for row in with_cells}
    assert {(row[0], row[3]) for row in without} == {(row[0], row[3]) for row in with_cells}


def signs(tree: Tree) -> dict[str, set[tuple[str | None, str | None]]]:
    """By the word after it, the shape and the colour of every sign on a page."""
    found: dict[str, set[tuple[str | None, str | None]]] = {}
    for sign in tree.elements:
        parent = sign.parent.parent if sign.parent else None
        if parent is not None and "sign" in (sign.attributes.get("class") or "").split():
            name = parent.all_text.split()
            look = (sign.attributes.get("d"), sign.attributes.get("class"))
            found.setdefault(name[0] if name else "", set()).add(look)
    return found


def test_a_store_has_one_sign_everywhere(records_site: Site, records: Path, tmp_path: Path) -> None:
    """In scores, on its own page, beside writers, in a diagnosis, and on the board."""
    cells = slug_of(records_site, "scores", "cells")
    package = slug_of(records_site, "package", "hotel-rooms")
    store = slug_of(records_site, "store", "notes", "stores")
    (diagnosis,) = records_site.library.of("diagnosis")
    pages = [
        page(records_site, f"scores/{cells}/index.html"),
        page(records_site, line(records_site, "cells", "notes", 24)),
        page(records_site, f"store/{store}/index.html"),
        page(records_site, f"package/{package}/stores.html", budget="24"),
        page(records_site, f"diagnosis/{diagnosis.slug}/index.html"),
    ]
    shutil.copy(records / "scores" / "cells.json", tmp_path)
    pages.append(Tree(build_board_page(board_of_scores(read_scores(tmp_path)))))
    found = [signs(tree)["notes"] for tree in pages]
    assert all(one == found[0] for one in found)
    assert len(found[0]) == 1
    assert found[0] != signs(pages[0])["digest"]


def test_means_over_packages(records_site: Site) -> None:
    tree = page(records_site, f"scores/{slug_of(records_site, 'scores', 'many')}/index.html")
    assert "Means over packages" in tree.text
    assert "film-night: no store was written for it" in element_with(tree, "unscored").all_text


def test_what_a_file_does_not_list_is_said(tmp_path: Path) -> None:
    """Without cells: one unit a step, and five more of each of three."""
    (tmp_path / "s.json").write_text(json.dumps(sheet_data("p", "x", lost=False)))
    site = Site(Library([tmp_path]))
    tree = page(site, line(site, "s", "store x", 3))
    assert "15 more are in none of its lists" in tree.text
    rows = table_rows(tree, "lost-table")
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("unit x", "2", step) for step in ("generation", "extraction", "cost")
    ]
    assert "(not in the library)" in tree.text
    assert "0.250 to 0.500" in tree.text  # an optimum that is not certified: two ends


def test_no_diagnosis_says_why(tmp_path: Path) -> None:
    sheet = sheet_data("p", "x")
    sheet["scores"][0]["diagnosis"] = {"undefined": "zero", "message": "the optimum is 0"}
    sheet["scores"][0]["lost_units"] = []
    (tmp_path / "s.json").write_text(json.dumps(sheet))
    site = Site(Library([tmp_path]))
    tree = page(site, line(site, "s", "store x", 3))
    assert "There is no diagnosis: the optimum is 0." in tree.text
    assert falls(tree) == []


def test_shares_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    sheet = sheet_data("p", "x")
    sheet["scores"][0]["diagnosis"]["kept"] = "1/2"
    (tmp_path / "s.json").write_text(json.dumps(sheet))
    site = Site(Library([tmp_path]))
    slug = slug_of(site, "scores", "s")
    status, text = refused(site, f"scores/{slug}/index.html")
    assert status == 422
    assert "kept and the losses do not sum to 1" in text
    assert refused(site, f"scores/{slug}/at/nothing.html")[0] == 422


def test_many_lines_have_pages(tmp_path: Path) -> None:
    count = scores.MOST_ROWS + 1
    sheets = [sheet_data(f"p{n}", "x") for n in range(count)]
    data = {"format": "memaudit-scores", "version": 2, "packages": sheets}
    (tmp_path / "s.json").write_text(json.dumps(data))
    site = Site(Library([tmp_path]))
    slug = slug_of(site, "scores", "s")
    pages = [page(site, f"scores/{slug}/{name}.html") for name in ("index", "index-2")]
    assert [len(table_rows(tree, "scores-table")) for tree in pages] == [500, 1]
    assert refused(site, f"scores/{slug}/index-3.html")[0] == 404
    assert refused(site, f"scores/{slug}/at/nothing.html")[0] == 404


def test_lost_parts_share_the_row_of_their_statement(tmp_path: Path) -> None:
    """Those lost at one step together, what was gained apart; with or without texts in the file."""
    write_package(package_of(part_units(MOVED, PARTS), {}, ["u7"]), tmp_path / "p.json")
    lost = [("u7#who", 1.0), ("u7#when", 1.0), ("u7#what", -2.0), ("plain", 3.0)]
    texts = {unit.id: unit.text for unit in part_units(MOVED, PARTS)}
    query = {"id": "q", "text": "Where is Ana?"}
    with_texts, without = sheet_data("p", "x"), sheet_data("p", "x", lost=False)
    with_texts["scores"][0]["lost_units"] = [
        {
            "unit": id,
            "text": texts.get(id, ""),
            "kind": "fact",
            "lost": amount,
            "step": "extraction",
            "asked_by": [query],
        }
        for id, amount in lost
    ]
    losses = without["scores"][0]["diagnosis"]["losses"]
    losses |= {step: {**loss, "units": []} for step, loss in losses.items()}
    losses["extraction"]["units"] = [list(row) for row in lost]
    for name, sheet in (("texts", with_texts), ("none", without)):
        (tmp_path / f"{name}.json").write_text(json.dumps(sheet))
    site = Site(Library([tmp_path]))
    for name in ("texts", "none"):
        tree = page(site, line(site, name, "store x", 3))
        assert [(row[0], row[2]) for row in table_rows(tree, "lost-table")] == [
            (f"{MOVED.text} (who, when)", "2"),
            (f"{MOVED.text} (what)", "+2"),
            ("plain", "3"),
        ]
    asked = [
        row[4] for row in table_rows(page(site, line(site, "texts", "store x", 3)), "lost-table")
    ]
    assert asked == ["Where is Ana?"] * 3
