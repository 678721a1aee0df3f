"""Replies that are wrong are counted by name, kept, and never read as empty labels."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.build_folder import packages_at
from memaudit.building.passes.build import build_summary
from memaudit.building.passes.recipe import ModelRecipe
from memaudit.kernel.package.package import Package
from tests.building.passes.building import PLAIN, RECIPE, BuildRun, live, make
from tests.building.passes.fake_model import answer, blocks, instead, plays, which
from tests.building.passes.fake_model import unit as unit_row
from tests.models.server import Behaviour, Served, fails, serving

ONE = ("film-night",)


def ran(
    folder: Path, behaviour: Behaviour, recipe: ModelRecipe = PLAIN
) -> tuple[BuildRun, Package, dict[str, Any], Served]:
    with serving(behaviour) as served:
        made = make(folder, live(served.url), recipe, ONE)
    (package,) = packages_at(folder / "out")
    return made, package, made.entry("film-night"), served


def changed(name: str, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Behaviour:
    """The fake model with its replies to one prompt changed in place."""

    def reply(body: dict[str, Any]) -> str:
        found = answer(body)
        change(found, blocks(body["messages"][1]["content"]))
        return json.dumps(found)

    return instead(name, reply)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(one) for one in (folder / "out" / "failures.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("name", "hole"),
    [
        ("memories", "1 pieces of the source brought no valid memories"),
        ("units", "1 pieces of the source brought no valid units"),
    ],
)
def test_a_generator_that_never_validates(tmp_path: Path, name: str, hole: str) -> None:
    """The package is incomplete and out of the pool; the raw reply is in the side file."""
    made, package, entry, _ = ran(tmp_path, instead(name, '{"nothing": []}'))
    assert entry["failures"] == {name: {"invalid": 1}}
    assert (entry["status"], entry["scoring_pool"], entry["reasons"]) == (
        "incomplete",
        False,
        [hole],
    )
    assert package.attributes["scoring_pool"] is False
    (row,) = [one for one in rows(tmp_path) if one["whole_reply"]]
    assert (row["pass"], row["raw"]) == (name, '{"nothing": []}')
    assert made.manifest["statuses"] == {"incomplete": 1}


def test_refusals_and_server_errors(tmp_path: Path) -> None:
    """A refused question fails alone; a server error likewise; neither weighs anything."""

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if which(body) != "requirements":
            plays(handler, body)
        elif "popcorn" in body["messages"][1]["content"].split("BEGIN DATA: units")[0]:
            fails(500)(handler, body)
        else:
            instead("requirements", None, refusal="I cannot")(handler, body)

    _, package, entry, _ = ran(tmp_path, behave)
    assert entry["failures"] == {"requirements": {"http": 1, "refused": 3}}
    assert entry["queries"]["failed"] == 4
    assert (entry["status"], entry["scoring_pool"]) == ("failed", False)
    assert {(query.importance, query.required) for query in package.queries} == {(0, ())}


def test_invented_quotes(tmp_path: Path) -> None:
    """Asked about once more: a quote that holds then is taken, the others are refused by name."""
    extra = [
        unit_row(2, "Tunde loves jump scares", "wrong", who="Tunde"),
        unit_row(2, "my only rule", "repaired", who="Tunde"),
        unit_row(999, "x", "no such turn", who="Tunde"),
    ]

    def invents(reply: dict[str, Any], _: dict[str, Any]) -> None:
        reply["units"] += extra

    def requotes(body: dict[str, Any]) -> str:
        shown = blocks(body["messages"][1]["content"])["rejected"]
        assert [(one["number"], one["problem"]) for one in shown] == [
            (1, "quote not verbatim"),
            (2, "quote not verbatim"),
            (3, "unknown turn"),
        ]
        return json.dumps(
            {
                "quotes": [
                    {"number": 2, "turn": 2, "quote": "my one rule: no jump scares"},
                    {"number": 1, "turn": 2, "quote": "still invented"},
                    {"number": 4, "turn": 2, "quote": "my one rule"},
                ]
            }
        )

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if which(body) == "quotes":
            instead("quotes", requotes)(handler, body)
        else:
            changed("units", invents)(handler, body)

    made, package, entry, served = ran(tmp_path, behave)
    assert build_summary(made.manifest, tmp_path)[-3:] == [
        "        1    quotes: unknown number",
        "        1    units: quote not verbatim",
        "        1    units: unknown turn",
    ]
    assert entry["rejections"]["units"] == {"quote not verbatim": 1, "unknown turn": 1}
    assert entry["rejections"]["quotes"] == {"unknown number": 1}
    assert entry["units"]["requoted"] == 1
    (unit,) = [one for one in package.units if one.text == "repaired"]
    assert unit.sources[0].text == "my one rule: no jump scares"
    assert unit.attributes["quote_by"] == "model:one:quotes/2"
    assert not {"wrong", "no such turn"} & {one.text for one in package.units}
    assert [which(body) for body in served.bodies].count("quotes") == 1


def test_missing_cells_are_asked_for_again(tmp_path: Path) -> None:
    """A reply without its last cell: the second asking names it, one memory a request."""

    def forgets(reply: dict[str, Any], data: dict[str, Any]) -> None:
        if "asked before" not in data:
            reply["cells"].pop()

    _, package, entry, served = ran(tmp_path, changed("coverage", forgets))
    calls = [
        blocks(one["messages"][1]["content"]) for one in served.bodies if which(one) == "coverage"
    ]
    again = [one for one in calls if "asked before" in one]
    assert len(again) == len(calls) - len(again) > 0
    assert all(len(one["memories"]) == 1 for one in again)
    assert entry["cells"]["undecided"] == 0
    assert entry["scoring_pool"] is True
    fine = tmp_path / "fine"
    fine.mkdir()
    assert package.coverage == ran(fine, plays)[1].coverage


def test_cells_that_never_come_are_undecided(tmp_path: Path) -> None:
    """Named in the package, counted in the manifest, and the package is out of the pool."""

    def withholds(reply: dict[str, Any], data: dict[str, Any]) -> None:
        texts = {row["memory"]: row["text"] for row in data["memories"]}
        reply["cells"] = [
            cell for cell in reply["cells"] if "popcorn" not in texts[cell["memory"]].lower()
        ]

    _, package, entry, _ = ran(tmp_path, changed("coverage", withholds))
    undecided = [row for row in package.coverage if row.label == "undecided"]
    assert undecided
    assert all("popcorn" in package.candidate[row.candidate].text.lower() for row in undecided)
    assert {row.value for row in undecided} == {0}
    assert entry["cells"]["undecided"] == len(undecided)
    assert entry["rejections"]["coverage"]["undecided cell"] == len(
        {(package.candidate[row.candidate].text, row.unit) for row in undecided}
    )
    assert (entry["status"], entry["scoring_pool"]) == ("incomplete", False)
    assert entry["reasons"][0].endswith("cells are undecided")


def test_unknown_and_double_numbers(tmp_path: Path) -> None:
    """Turns and units nobody showed are refused one by one; what is said twice is kept once."""

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        def widens(reply: dict[str, Any], _: dict[str, Any]) -> None:
            if which(body) == "memories":
                first = reply["memories"][0]
                reply["memories"] += [
                    first,
                    {**first, "turns": [77]},
                    {**first, "turns": []},
                    {**first, "text": " "},
                ]
            elif which(body) == "units":
                reply["units"] += [reply["units"][0]]
            elif which(body) == "requirements" and reply["required"]:
                reply["required"] += [{"unit": 500, "or": [], "reason": "made up"}]

        changed(which(body), widens)(handler, body)

    _, package, entry, _ = ran(tmp_path, behave)
    assert entry["rejections"]["memories"] == {
        "duplicate": 1,
        "empty text": 1,
        "no turn cited": 1,
        "unknown turn": 1,
        "repeats its turn": 4,  # turns of one sentence
    }
    assert entry["rejections"]["units"]["duplicate"] >= 1
    supported = [query for query in package.queries if query.required]
    assert entry["rejections"]["requirements"] == {"unknown unit": len(supported)}
    assert {query.attributes["status"] for query in supported} == {"unsupported"}


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (
            {
                "verdict": "corrected",
                "required": [{"unit": 400, "or": []}],
                "rewrites": [],
                "reason": "r",
            },
            "unknown unit",
        ),
        (
            {
                "verdict": "corrected",
                "required": [{"unit": 1, "or": [400]}],
                "rewrites": [],
                "reason": "r",
            },
            "unknown unit",
        ),
        (
            {
                "verdict": "corrected",
                "required": [{"unit": 1, "or": []}],
                "rewrites": [{"unit": 400, "statement": "x"}],
                "reason": "r",
            },
            "unknown unit",
        ),
        (
            {
                "verdict": "accepted",
                "required": [{"unit": n, "or": []} for n in (1, 2, 3, 4)],
                "rewrites": [],
                "reason": "r",
            },
            "contradicts itself",
        ),
        (
            {
                "verdict": "corrected",
                "required": [{"unit": 1, "or": []}],
                "rewrites": [{"unit": 1, "statement": "  "}],
                "reason": "r",
            },
            "contradicts itself",
        ),
    ],
)
def test_verdicts_that_do_not_hold(tmp_path: Path, reply: dict[str, Any], what: str) -> None:
    """They make the question ambiguous; nothing is rewritten."""
    behaviour = instead("adjudication", json.dumps(reply))
    _, package, entry, _ = ran(tmp_path, behaviour, RECIPE)
    assert entry["rejections"]["adjudication"] == {what: 4}
    assert entry["queries"]["ambiguous"] == 4
    assert (entry["status"], package.attributes["status"]) == ("ambiguous", "ambiguous")
    assert entry["scoring_pool"] is False
    assert not any("text_before" in unit.attributes for unit in package.units)


def test_an_adjudicator_without_a_valid_reply(tmp_path: Path) -> None:
    _, _, entry, _ = ran(tmp_path, instead("adjudication", "no JSON at all"), RECIPE)
    assert entry["failures"] == {"adjudication": {"invalid": 4}}
    assert entry["queries"]["ambiguous"] == 4
