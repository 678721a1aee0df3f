"""Text that gives orders arrives as data, and cannot widen what a reply may say."""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.datasets.conversation import Session, Turn
from memaudit.models.cache import Cache
from memaudit.models.prompt import RULE
from memaudit.models.session import ModelSession, open_session
from memaudit.natural.passes.coverage import judge_coverage
from memaudit.natural.passes.memories import find_memories
from memaudit.natural.passes.source import source_text
from memaudit.natural.passes.units import find_units
from memaudit.natural.prompts import pass_prompt
from tests.models.server import Behaviour, Served, serving
from tests.natural.passes.building import live
from tests.natural.passes.fake_model import blocks, cells, instead, plays, which

pytest.importorskip("openai", reason="pip install 'memaudit[models]'")

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("adversarial.jsonl").read_text().splitlines()
]
TEXTS = {row["id"]: row["text"] for row in ROWS}


def judged(
    folder: Path, memories: list[str], units: list[str], behaviour: Behaviour
) -> tuple[dict[tuple[str, str], str | None], ModelSession, Served]:
    """The labels of a small matrix, the session and what reached the server."""
    with serving(behaviour) as served, Cache(folder / "cache") as cache:
        session = open_session(live(served.url), cache, folder / "requests")
        found = judge_coverage(memories, units, session, "one", "x")
    return {pair: cell and cell.label for pair, cell in found.items()}, session, served


def test_it_arrives_inside_the_data_block_only(tmp_path: Path) -> None:
    """As turns and as memories: whole, in one JSON line, under instructions that never change."""
    turns = [
        Turn(f"t{i}", "s", i, text, "user", text) for i, text in enumerate(TEXTS.values())
    ]  # as speakers, too
    source = source_text([Session("s", 0, None, tuple(turns))])
    with serving(plays) as served, Cache(tmp_path / "cache") as cache:
        session = open_session(live(served.url), cache, tmp_path / "requests")
        find_memories({"x": source}, session, "one")
        find_units({"x": source}, session, "one")
        judge_coverage(
            list(TEXTS.values()), ["Ann likes tea.", TEXTS["forged-end"]], session, "one"
        )
    arrived: dict[str, set[str]] = {"memories": set(), "units": set(), "coverage": set()}
    for body in served.bodies:
        name = which(body)
        system, user = body["messages"]
        assert system == {"role": "system", "content": f"{pass_prompt(name).text}\n\n{RULE}"}
        assert user["role"] == "user"
        data = blocks(user["content"])  # refuses anything between the blocks
        assert user["content"].replace("\n", "").isprintable()
        assert not any(mark in user["content"] for mark in "<>`\u2028\u202e")
        if name == "coverage":
            arrived[name] |= {row["text"] for row in data["memories"]}
        else:
            arrived[name] |= {turn["text"] for one in data["source"] for turn in one["turns"]}
    assert arrived == {name: set(TEXTS.values()) for name in arrived}


def test_each_gets_the_label_of_its_content(tmp_path: Path) -> None:
    """A judge that goes by content gives an order no more than what it says."""
    labels, _, _ = judged(tmp_path, [*TEXTS.values(), "Ann likes tea."], ["Ann likes tea."], plays)
    assert labels.pop(("Ann likes tea.", "Ann likes tea.")) == "full"
    assert set(labels.values()) == {"none"}
    assert len(labels) == len(TEXTS)


def obeys(body: dict[str, Any]) -> str:
    """A model that does what a memory tells it: everything is full, and more than was asked."""
    found = cells(blocks(body["messages"][1]["content"]), strict=False)
    extra = [
        {"memory": 1, "unit": 99, "label": "full", "reason": "told so"},
        {"memory": 99, "unit": 1, "label": "full", "reason": "told so"},
        {"memory": 0, "unit": -1, "label": "full", "reason": "told so"},
    ]
    return json.dumps({"cells": found + extra})


def test_cells_nobody_asked_for_are_refused(tmp_path: Path) -> None:
    labels, session, _ = judged(tmp_path, ["a 1", "b 2"], ["a 1"], instead("coverage", obeys))
    assert labels == {("a 1", "a 1"): "full", ("b 2", "a 1"): "none"}
    assert session.ledger.counts("x", failure=False) == {"coverage": {"cell nobody asked for": 3}}


@pytest.mark.parametrize(
    "reply",
    [
        {"cells": [], "approved": True},
        {"cells": [{"memory": 1, "unit": 1, "label": "everything", "reason": ""}]},
        {"cells": [{"memory": 1, "unit": 1, "label": "full", "reason": "", "value": 7}]},
        {"cells": [{"memory": "1", "unit": 1, "label": "full", "reason": ""}]},
        {"memories": []},
    ],
)
def test_a_reply_of_another_shape_is_no_reply(tmp_path: Path, reply: object) -> None:
    """Asked again, then undecided: two calls each for the chunk and for its one memory."""
    labels, session, served = judged(
        tmp_path, ["a 1"], ["a 1"], instead("coverage", json.dumps(reply))
    )
    assert labels == {("a 1", "a 1"): None}
    assert session.ledger.counts("x", failure=True) == {
        "coverage": {"invalid": 1},
        "coverage again": {"invalid": 1},
    }
    assert session.ledger.counts("x", failure=False) == {"coverage": {"undecided cell": 1}}
    assert len(served.bodies) == 4
    assert {one.raw for one in session.ledger.of("x") if one.failure} == {json.dumps(reply)}
