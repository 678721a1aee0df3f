"""What reaches the wire: nothing that must not be seen, and texts that give orders only as data."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.passes.assemble import ModelBuild
from memaudit.building.passes.build import build_with_model
from memaudit.building.passes.memories import find_memories
from memaudit.building.passes.recipe import ModelRecipe
from memaudit.building.passes.source import source_text
from memaudit.building.passes.units import find_units
from memaudit.conversations.conversation import (
    Conversation,
    Question,
    Representation,
    Session,
    Turn,
)
from memaudit.conversations.records import LoadedConversation
from memaudit.judges.model_judge import Statement, judge_coverage
from memaudit.models.cache import Cache
from memaudit.models.prompts import RULE, pass_prompt
from memaudit.models.session import ModelSession, open_session
from tests.building.passes.building import live
from tests.building.passes.fake_model import answer, blocks, instead, plays, unit, which
from tests.models.server import Behaviour, Served, serving

HIDDEN = (
    "zebra-question",
    "zebra-answer",
    "zebra-kind",
    "zebra-asked",
    "zebra-choice",
    "zebra-wrong",
    "zebra-representation",
    "zebra-topic",
    "zebra-id",
    "zebra-session",
    "zebra-turn",
    "zebra-place",
    "zebra-role",
)
"""One canary for each field that passes a, b and d must not see."""

SEEN = ("heron-text", "heron-speaker", "heron-caption")
"""What they are meant to see, to show that a canary would be found."""


Wire = tuple[dict[str, list[tuple[dict[str, Any], dict[str, str]]]], ModelBuild]
"""By prompt the bodies and headers that reached the server, and what was built."""


def conversation() -> Conversation:
    """Canaries everywhere; the turns themselves say nothing of what is asked."""
    turns = tuple(
        Turn(
            f"zebra-turn:{i}",
            "zebra-session",
            i,
            "heron-speaker",
            "zebra-role",
            f"The heron-text number {i} of 12 stands in the reeds. It has 2 wings.",
            "2025-01-01T10:00:00",
            "heron-caption",
            "zebra-place",
        )
        for i in range(4)
    )
    question = Question(
        "zebra-id-q",
        "What is the zebra-question?",
        "zebra-answer (standing)",
        "zebra-kind",
        ("zebra-turn:1",),
        ("zebra-session",),
        "zebra-asked",
        False,
        "zebra-wrong",
        (("A", "zebra-choice"),),
        1,
    )
    shipped = Representation(
        "zebra-id-r",
        "zebra-kind",
        "zebra-representation",
        "Ann",
        "zebra-session",
        ("zebra-turn:1",),
    )
    session = Session("zebra-session", 0, "2025-01-01T09:00:00", turns)
    return Conversation("zebra-id", (session,), (question,), (shipped,), "zebra-topic")


def misquoted(body: dict[str, Any]) -> str:
    """Units whose quotes do not hold, so that the second asking happens as well."""
    row = unit(1, "nobody said this", "Reeds are 3.", who="heron-speaker")
    good = unit(1, "It has 2 wings.", "Standing there.", who="heron-speaker")
    assert which(body) == "units"
    return json.dumps({"units": [row, good]})


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Wire:
    """Everything that reached the server, headers included, by prompt; and what was built."""
    recipe = ModelRecipe("one", adjudicator="other")
    folder = tmp_path_factory.mktemp("blind")
    with serving(instead("units", misquoted)) as served, Cache(folder / "cache") as cache:
        session = open_session(live(served.url), cache)
        (built,) = build_with_model([LoadedConversation(conversation())], recipe, session)
    sent: defaultdict[str, list[tuple[dict[str, Any], dict[str, str]]]] = defaultdict(list)
    for body, headers in zip(served.bodies, served.headers, strict=True):
        sent[which(body)].append((body, headers))
    return dict(sent), built


@pytest.mark.parametrize(
    ("name", "hidden", "source"),
    [
        ("memories", [], SEEN),
        ("units", [], SEEN),
        ("quotes", [], SEEN),
        ("coverage", [], ()),
        ("requirements", ["zebra-question", "zebra-answer", "zebra-asked"], ()),
        ("adjudication", ["zebra-question", "zebra-answer", "zebra-asked"], ()),
    ],
)
def test_who_sees_what(wire: Wire, name: str, hidden: list[str], source: tuple[str, ...]) -> None:
    """No question, answer, kind, pointer, id or shipped text reaches a generator or the judge; the
    labelling passes see question and answer only."""
    sent = json.dumps(wire[0][name])
    assert [canary for canary in HIDDEN if canary in sent] == hidden
    assert all(text in sent for text in source)


def test_the_judge_sees_texts_and_numbers_only(wire: Wire) -> None:
    """Neither kinds, generators, costs, speakers nor times; raw turns beside written memories."""
    sent, built = wire
    texts: dict[str, set[str]] = {"memories": set(), "units": set()}
    for body, _ in sent["coverage"]:
        data = blocks(body["messages"][1]["content"])
        assert data.keys() == {"memories", "units", "pairs"}
        assert {key for row in data["memories"] for key in row} == {"memory", "text"}
        assert {key for row in data["units"] for key in row} == {"unit", "text"}
        assert {key for row in data["pairs"] for key in row} == {"memory", "units"}
        for name, found in texts.items():
            found |= {row["text"] for row in data[name]}
    candidates = built.package.candidates
    assert {one.kind for one in candidates} == {"raw", "fact"}
    own = {one.text for one in candidates if one.id == "zebra-turn:0/raw"}  # decided by its quote
    assert texts == {
        "memories": {one.text for one in candidates} - own,
        "units": {"Standing there."},
    }


def test_package_and_exported_memories_go_to_the_same_judge(tmp_path: Path) -> None:
    """The same texts make the same request, whoever they are from: one call, one cache key."""
    memories = ["Ann lives in Rome.", "Bob."]
    units = [Statement("Ann lives in Rome."), Statement("Bob is 9.")]
    with serving(plays) as served, Cache(tmp_path / "cache") as cache:
        session = open_session(live(served.url), cache)
        first = judge_coverage(memories, units, session, "one", "a package")
        exported = judge_coverage(
            memories[::-1] * 2, units[::-1], session, "one", "a memory system"
        )
    assert first == exported
    assert len(served.bodies) == 1
    labels = {(memory, unit.text): cell.label for (memory, unit), cell in first.items() if cell}
    assert labels == {
        ("Ann lives in Rome.", "Ann lives in Rome."): "full",
        ("Ann lives in Rome.", "Bob is 9."): "none",
        ("Bob.", "Ann lives in Rome."): "none",
        ("Bob.", "Bob is 9."): "none",
    }


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
        session = open_session(live(served.url), cache)
        cells = judge_coverage(memories, [*map(Statement, units)], session, "one", "x")
    labels: dict[tuple[str, str], str | None] = {
        (memory, unit.text): cell.label if cell else None for (memory, unit), cell in cells.items()
    }
    return labels, session, served


def test_it_arrives_inside_the_data_block_only(tmp_path: Path) -> None:
    """As turns and as memories: whole, in one JSON line, under instructions that never change."""
    turns = [
        Turn(f"t{i}", "s", i, text, "user", text) for i, text in enumerate(TEXTS.values())
    ]  # as speakers, too
    source = source_text([Session("s", 0, None, tuple(turns))])
    with serving(plays) as served, Cache(tmp_path / "cache") as cache:
        session = open_session(live(served.url), cache)
        find_memories({"x": source}, session, "one")
        find_units({"x": source}, session, "one")
        units = [Statement("Ann likes tea."), Statement(TEXTS["forged-end"])]
        judge_coverage(list(TEXTS.values()), units, session, "one")
    arrived: dict[str, set[str]] = {"memories": set(), "units": set(), "coverage": set()}
    for body in served.bodies:
        name = which(body)
        system, user = body["messages"]
        assert system == {
            "role": "system",
            "content": f"{pass_prompt(name).text}\n\n{RULE}",
        }
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
    found = answer(body)["cells"]
    extra = [
        {"memory": 1, "unit": 99, "label": "full", "kept": [], "reason": "told so"},
        {"memory": 99, "unit": 1, "label": "full", "kept": [], "reason": "told so"},
        {"memory": 0, "unit": -1, "label": "full", "kept": [], "reason": "told so"},
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
        {"cells": [{"memory": 1, "unit": 1, "label": "everything", "kept": [], "reason": ""}]},
        {
            "cells": [
                {"memory": 1, "unit": 1, "label": "full", "kept": [], "reason": "", "value": 7}
            ]
        },
        {"cells": [{"memory": "1", "unit": 1, "label": "full", "kept": [], "reason": ""}]},
        {"cells": [{"memory": 1, "unit": 1, "label": "full", "reason": ""}]},
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
