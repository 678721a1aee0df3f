"""Stores of one name: which package each was written for, and whose scores are whose."""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import read_package, write_package
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin, store_digest, write_store
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import Site
from memaudit.lab.explorer.views.package_stores import system_store, system_stores
from memaudit.lab.explorer.views.store_table import first_budget, store_data
from tests.lab.explorer.libraries import NOTES, json_output
from tests.lab.explorer.site_pages import (
    element_with,
    entry_named,
    hrefs,
    page,
    slug_of,
    table_rows,
)

ANN, BO = "hotel-rooms", "film-night"
TEXTS: dict[str, dict[str, tuple[str, ...]]] = {
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
    packages = {package.name: package for package in short_set()}
    for name, stores in TEXTS.items():
        (tmp_path / name).mkdir()
        write_package(packages[name], tmp_path / name / "package.json")
        for store, texts in stores.items():
            write_store(store_of(store, texts), tmp_path / name / f"{store}.json")
        files = [tmp_path / name / f"{store}.json" for store in stores]
        score = json_output(
            "score",
            tmp_path / name / "package.json",
            *files,
            "--budget",
            "12",
            "--judge",
            "lexical",
        )
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
    """Twins, distinguished by what a score file says of one of them."""
    one, two = store_of("twin", ("a b",)), store_of("twin", ("c d",))
    write_store(one, folder / ANN / "twin.json")
    write_store(two, folder / BO / "twin.json")
    files = folder / ANN / "package.json", folder / ANN / "twin.json"
    score = folder / ANN / "twins.json"
    score.write_text(json_output("score", *files, "--budget", "12"))
    edit(score, lambda data: data["stores"][0].pop("digest", None))
    site = Site(Library([folder]))
    assert [place for place in places(site, ANN) if "twin" in place] == [
        f"{BO}/twin.json",
        f"{ANN}/twin.json",
    ]
    edit(score, lambda data: data["stores"][0].update(digest=store_digest(two)))
    site.library.refresh()
    assert [place for place in places(site, ANN) if "twin" in place] == [f"{BO}/twin.json"]
    assert "Of this very store" in said_of(site, "twin", f"/{BO}/")
    assert "Of this very store" not in said_of(site, "twin", f"/{ANN}/")


def test_a_store_scored_with_other_times_is_the_same_store(folder: Path) -> None:
    files = folder / ANN / "package.json", folder / ANN / "mem0.json"
    score = json_output("score", *files, "--budget", "20", "--set", "score.times=none")
    (folder / ANN / "times.json").write_text(score)
    site = Site(Library([folder]))
    indexed = site.package(slug_of(site, "package", ANN))
    (mem0,) = [one for one in system_stores(site.library, indexed) if one.store.name == "mem0"]
    assert sorted(line.score.budget for _, line in mem0.scores) == [12, 20]


def test_stores_that_changed_since_are_all_shown_with_their_places(folder: Path) -> None:
    """No store is the one that was scored: both rows say where they lie, and lead there."""
    for name in (ANN, BO):
        write_store(store_of("mem0", ("changed since",)), folder / name / "mem0.json")
    site = Site(Library([folder]), seconds=20.0)
    slug = slug_of(site, "package", ANN)
    tree = page(site, f"package/{slug}/stores.html", budget="12")
    names = [row[0] for row in table_rows(tree, "systems-table") if row[0].startswith("mem0")]
    assert [name.split()[-1] for name in names] == [
        f"{folder.name}/{name}/mem0.json" for name in (BO, ANN)
    ]
    hrefs = {element.attributes.get("href") for element in tree.named("a")}
    for name in (ANN, BO):
        store = slug_of(site, "store", "mem0", f"/{name}/")
        assert f"../../store/{store}/index.html" in hrefs
    assert "listed" in said_of(site, "mem0", f"/{ANN}/")


def test_systems_come_first_with_their_scores(records_site: Site) -> None:
    """Both stores cost more than 24 and were scored by shared words. They are listed by that,
    before the writers, and say who scored them and how."""
    slug = slug_of(records_site, "package", "hotel-rooms")
    tree = page(records_site, f"package/{slug}/stores.html", budget="24")
    scored = [row for row in table_rows(tree, "systems-table") if "stores/" in row[0]]
    assert [(row[0].split()[0], *row[1:4]) for row in scored] == [
        ("notes", "0.667", "lexical an estimate", "recency"),
        ("digest", "0.000", "lexical an estimate", "recency"),
    ]
    assert [row[5] for row in scored] == ["29", "30"]
    assert "by lexical, an estimate; in plain score 0.667" in scored[0][0]
    assert tree.text.index("Systems") < tree.text.index("Writers, for comparison")
    ratios = [float(row[1]) for row in table_rows(tree, "stores-table") if len(row) > 2]
    assert ratios == sorted(ratios, reverse=True)
    assert max(ratios) <= 1
    hrefs = {element.attributes.get("href") or "" for element in tree.named("a")}
    (file,) = [
        entry for entry in records_site.library.of("scores") if entry.place.endswith("/cells.json")
    ]
    lines = [line for line in records_site.library.scores(file).lines if line.score.budget == 24]
    for line in lines:
        assert f"../../scores/{file.slug}/at/{line.slug}.html" in hrefs


LABELS = "memory_id,unit_id,coverage\n{}"
JUDGE = "labels none, labels labels"


@pytest.fixture
def labelled(folder: Path) -> Path:
    """The stores of one conversation, scored by labels too: only the first memory of custom covers
    something, and all of it."""
    here = folder / ANN
    unit = read_package(here / "package.json").units[0].id
    (here / "labels.csv").write_text(LABELS.format(f"m0,{unit},1\n"))
    files = here / "mem0.json", here / "custom.json"
    (here / "none.csv").write_text(LABELS.format(f"m0,{unit},0\n"))
    judges = ("--judge", f"labels:{here / 'none.csv'}", "--judge", f"labels:{here / 'labels.csv'}")
    (here / "judged.json").write_text(
        json_output(
            "score",
            here / "package.json",
            *files,
            "--budget",
            "15,20",
            *judges,
            "--explain",
            "cells",
            "--set",
            "score.trust_package_cells=true",
        )
    )
    return folder


def test_a_labelled_score_counts_before_an_estimate(labelled: Path) -> None:
    """At a budget with both. The estimate is still listed."""
    here = labelled / ANN
    files = here / "mem0.json", here / "custom.json"
    guess = json_output(
        "score", here / "package.json", *files, "--budget", "15,20", "--judge", "lexical"
    )
    (here / "guess.json").write_text(guess)
    site = Site(Library([labelled]), seconds=20.0)
    tree = page(site, f"package/{slug_of(site, 'package', ANN)}/stores.html", budget="20")
    table = table_rows(tree, "systems-table")
    assert [row[0].split()[0] for row in table] == ["custom", "mem0"]
    assert {row[2] for row in table} == {JUDGE}
    assert float(table[0][1]) > float(table[1][1]) == 0
    assert all("by lexical, an estimate; in guess" in row[0] for row in table)


def test_a_page_begins_at_a_budget_with_scores(labelled: Path) -> None:
    """12 by shared words, 15 and 20 as labelled: the middle one."""
    site = Site(Library([labelled]), seconds=20.0)
    indexed = site.package(slug_of(site, "package", ANN))
    assert site.budgets(indexed) == (12, 15, 20)
    assert first_budget(site.frontier(indexed)) == 15
    tree = page(site, f"package/{indexed.entry.slug}/stores.html")
    assert {row[2] for row in table_rows(tree, "systems-table")} == {JUDGE}


def test_labelled_cells_replace_the_estimate(labelled: Path) -> None:
    """What custom covers is what the labels say, on every page; mem0 covers nothing."""
    site = Site(Library([labelled]), seconds=20.0)
    indexed = site.package(slug_of(site, "package", ANN))
    stores = {
        one.store.name: system_store(indexed, one) for one in system_stores(site.library, indexed)
    }
    assert not any(store.is_estimate for store in stores.values())
    assert [dict(item.cells) for item in stores["custom"].items] == [
        {indexed.units[0].id: 1},
        *[{}] * (len(TEXTS[ANN]["custom"]) - 1),
    ]
    assert stores["mem0"].value(indexed.package) == 0
    data = store_data(indexed, stores["custom"])
    assert data["memories"][0]["cells"] == [[0, 1.0]]
    assert data["estimate"] is False
    edit(labelled / ANN / "judged.json", lambda data: data.update(digest="another"))
    stale = Site(Library([labelled]), seconds=20.0)
    indexed = stale.package(slug_of(stale, "package", ANN))
    (custom, *_) = system_stores(stale.library, indexed)
    assert system_store(indexed, custom).is_estimate
    assert stale.budgets(indexed) == (12,)
