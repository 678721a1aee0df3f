"""Stores of one name: which package each was written for, and whose scores are whose."""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.adapters.store import ExportedStore, Memory, Origin, store_digest, write_store
from memaudit.io.packages import write_package
from memaudit.natural.named_packages import natural_set
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.site import Site
from memaudit.web.explorer.views.package_stores import system_stores
from tests.web.explorer.libraries import NOTES, json_output
from tests.web.explorer.site_pages import (
    element_with,
    entry_named,
    hrefs,
    page,
    slug_of,
    table_rows,
)

ANN, BO = "hotel-rooms", "film-night"
TEXTS = {
    ANN: {"mem0": NOTES[:2], "custom": NOTES[2:]},
    BO: {"mem0": ("Films.",), "custom": ("Bo likes films.", "Bo was out.")},
}


def store_of(name: str, texts: tuple[str, ...]) -> ExportedStore:
    """A store that does not say which package it was written for."""
    memories = tuple(Memory(id=f"m{n}", text=text) for n, text in enumerate(texts))
    return ExportedStore(name=name, origin=Origin(system="s", format="plain"), memories=memories)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two conversations, each with its own mem0 and custom, and the scores of each."""
    packages = {package.name: package for package in natural_set()}
    for name, stores in TEXTS.items():
        (tmp_path / name).mkdir()
        write_package(packages[name], tmp_path / name / "package.json")
        for store, texts in stores.items():
            write_store(store_of(store, texts), tmp_path / name / f"{store}.json")
        files = [tmp_path / name / f"{store}.json" for store in stores]
        score = json_output("score", tmp_path / name / "package.json", *files, "--budget", "12")
        (tmp_path / name / "scores.json").write_text(score)
    return tmp_path


def places(site: Site, package: str) -> list[str]:
    indexed = site.package(slug_of(site, "package", package))
    return [store.entry.place.partition("/")[2] for store in system_stores(site.library, indexed)]


def said_of(site: Site, store: str, place: str) -> str:
    one = entry_named(site, "store", store, place)
    return " ".join(
        element_with(page(site, f"store/{one.slug}/index.html"), "scores").all_text.split()
    )


def edit(path: Path, change: Any) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def test_each_package_has_its_own_stores(folder: Path) -> None:
    site = Site(Library([folder]))
    for name in (ANN, BO):
        assert places(site, name) == [f"{name}/custom.json", f"{name}/mem0.json"]


def test_a_store_page_has_scores_of_that_store(folder: Path) -> None:
    """One score each; the other store of the name is only counted."""
    site = Site(Library([folder]))
    for name, other in ((ANN, BO), (BO, ANN)):
        said = said_of(site, "mem0", f"/{name}/")
        assert name in said
        assert other not in said
        assert "Of this very store: the score files say its digest." in said
        assert "1 score of other stores of this name" in said


def test_a_score_leads_to_its_store(folder: Path) -> None:
    site = Site(Library([folder]))
    for name in (ANN, BO):
        (file,) = [entry for entry in site.library.of("scores") if f"/{name}/" in entry.place]
        for line in site.library.scores(file).lines:
            tree = page(site, f"scores/{file.slug}/at/{line.slug}.html")
            store = slug_of(site, "store", line.score.store, f"/{name}/")
            links = hrefs(tree)
            assert [href for href in links if "/store/" in href] == [
                f"../../../store/{store}/index.html"
            ]


def test_a_digest_decides(folder: Path) -> None:
    """Twins, told apart by what a score file says of one of them."""
    one, two = store_of("twin", ("a b",)), store_of("twin", ("c d",))
    write_store(one, folder / ANN / "twin.json")
    write_store(two, folder / BO / "twin.json")
    files = folder / ANN / "package.json", folder / ANN / "twin.json"
    score = folder / ANN / "twins.json"
    score.write_text(json_output("score", *files, "--budget", "12"))
    edit(score, lambda data: data["stores"][0].pop("digest", None))
    site = Site(Library([folder]))
    assert [place for place in places(site, ANN) if "twin" in place] == [
        f"{BO}/twin.json", f"{ANN}/twin.json",
    ]  # fmt: skip
    edit(score, lambda data: data["stores"][0].update(digest=store_digest(two)))
    assert [place for place in places(site, ANN) if "twin" in place] == [f"{BO}/twin.json"]
    assert "Of this very store" in said_of(site, "twin", f"/{BO}/")
    assert "Of this very store" not in said_of(site, "twin", f"/{ANN}/")


def test_stores_that_changed_since_are_all_shown_with_their_places(folder: Path) -> None:
    """No store is the one that was scored: both rows say where they lie, and lead there."""
    for name in (ANN, BO):
        write_store(store_of("mem0", ("changed since",)), folder / name / "mem0.json")
    site = Site(Library([folder]), seconds=20.0)
    slug = slug_of(site, "package", ANN)
    tree = page(site, f"package/{slug}/stores.html", budget="12")
    names = [row[0] for row in table_rows(tree, "stores-table") if row[0].startswith("mem0")]
    assert [name.split()[-1] for name in names] == [
        f"{folder.name}/{name}/mem0.json" for name in (BO, ANN)
    ]
    hrefs = {element.attributes.get("href") for element in tree.named("a")}
    for name in (ANN, BO):
        store = slug_of(site, "store", "mem0", f"/{name}/")
        assert f"../../store/{store}/index.html" in hrefs
    assert "listed" in said_of(site, "mem0", f"/{ANN}/")


def test_what_is_over_the_budget_comes_after_what_fits(records_site: Site) -> None:
    """In docs/scoring.md both stores cost more than 24: they have no ratio here, whatever they are
    worth, and say who scored them and how."""
    slug = slug_of(records_site, "package", "hotel-rooms")
    tree = page(records_site, f"package/{slug}/stores.html", budget="24")
    table = table_rows(tree, "stores-table")
    over = [row for row in table if row[1] == "not feasible"]
    assert {row[0].split()[0] for row in over} == {"notes", "digest"}
    ratios = [float(row[1]) for row in table if len(row) > 2 and row not in over]
    assert ratios == sorted(ratios, reverse=True)
    assert max(ratios) <= 1
    kinds = ["fits" if row[1][0].isdecimal() else row[1][:3] for row in table]
    assert list(dict.fromkeys(kinds)) in (["fits", "not"], ["fits", "not", "fai"])
    (digest,) = [row for row in over if "stores/digest.json" in row[0]]
    assert "cut by recency, by lexical, an estimate; in cells score 0.000" in digest[0]
    hrefs = {element.attributes.get("href") or "" for element in tree.named("a")}
    (file,) = [
        entry for entry in records_site.library.of("scores") if entry.place.endswith("/cells.json")
    ]
    lines = [line for line in records_site.library.scores(file).lines if line.score.budget == 24]
    for line in lines:
        assert f"../../scores/{file.slug}/at/{line.slug}.html" in hrefs
