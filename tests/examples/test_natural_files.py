"""The bundled natural set: its files are consistent, its README counts them, its packages solve."""

import json
import re
from collections import Counter
from functools import cache
from importlib.resources import as_file, files

import pytest

from memaudit.datasets.conversation import Conversation, Turn
from memaudit.datasets.irregularities import LoadedConversation
from memaudit.datasets.registry import read_conversations
from memaudit.natural.annotations import AnnotationRecipe, build_package
from memaudit.natural.label_files import read_labels
from memaudit.natural.named_packages import PASSES, natural_set
from memaudit.natural.reliability import reliability
from memaudit.solvers.solve import solve

Row = dict[str, object]
LABEL_FILES = [f"{name}.jsonl" for name in PASSES]

FOLDER = files("memaudit").joinpath("examples", "natural")
TOPICS = {
    "preference": 5, "update": 6, "temporal": 5, "deletion": 3, "scope": 3, "abstention": 4,
}  # fmt: skip
UNIT_KINDS = {
    "fact", "preference", "event", "relation", "rule", "current", "supersession", "deletion",
    "abstention", "temporal", "stale",
}  # fmt: skip
MEMORY_KINDS = {
    "fact", "summary", "event", "edge", "rule", "skill", "tombstone", "compound_update",
}  # fmt: skip
# Words an answer may need to be a sentence; everything else has to be said in a cited turn.
GRAMMAR = {
    "a", "an", "and", "at", "because", "before", "but", "by", "for", "from", "he", "her", "him",
    "his", "in", "is", "it", "no", "not", "of", "off", "on", "or", "she", "so", "that", "the",
    "then", "there", "to", "was", "what", "with", "yes",
}  # fmt: skip


@cache
def loaded() -> tuple[LoadedConversation, ...]:
    with as_file(FOLDER.joinpath("conversations.jsonl")) as path:
        return tuple(read_conversations(path))


def talks() -> dict[str, Conversation]:
    return {one.conversation.id: one.conversation for one in loaded()}


def turns(talk: Conversation) -> dict[str, Turn]:
    return {turn.id: turn for session in talk.sessions for turn in session.turns}


@cache
def rows(name: str) -> tuple[Row, ...]:
    text = FOLDER.joinpath(name).read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def of(name: str, talk: Conversation) -> list[Row]:
    return [row for row in rows(name) if row["conversation"] == talk.id]


def texts(row: Row, key: str) -> list[str]:
    value = row[key]
    assert isinstance(value, list)
    return [str(one) for one in value]


def words(text: str) -> set[str]:
    """Lower-case words; 2,000 and 7:30 and 12.50 are one each."""
    return set(re.findall(r"\w+(?:[.,:]\d+)*", text.lower()))


NAMES = sorted(talks())


def test_the_conversations_load_as_a_chat_with_nothing_irregular() -> None:
    """And every turn and question has an id of its own in the file."""
    assert [one.irregularities for one in loaded()] == [()] * 26
    for row in rows("conversations.jsonl"):
        if "text" in row or "question" in row:
            assert "id" in row


def test_labels_fit_their_conversations() -> None:
    """Every id resolves, none repeats, no field is unknown: nothing is left over."""
    with as_file(FOLDER) as folder:
        files = [folder / file for file in LABEL_FILES]
        labels = read_labels(folder / "units.jsonl", folder / "memories.jsonl", files)
    recipe = AnnotationRecipe("chat", labels=labels)
    assert [row for one in loaded() for row in build_package(one, recipe).misfits.rows] == []
    assert {row["kind"] for row in rows("units.jsonl")} == UNIT_KINDS
    assert {row["kind"] for row in rows("memories.jsonl")} == MEMORY_KINDS
    for file in LABEL_FILES:
        assert {row["coverage"] for row in rows(file)} == {1, 0.5}
        assert all(row["why"] for row in rows(file))


@pytest.mark.parametrize("name", NAMES)
def test_every_unit_is_quoted_from_a_turn_that_its_questions_cite(name: str) -> None:
    """So a raw turn covers it fully; only what no longer holds may be asked for by no question."""
    talk = talks()[name]
    evidence = {question.id: set(question.evidence) for question in talk.questions}
    for row in of("units.jsonl", talk):
        quote = str(row["quote"])
        holding = {id for id in texts(row, "turns") if quote in turns(talk)[id].text}
        assert holding, row["unit_id"]
        for question in texts(row, "questions"):
            assert holding & evidence[question], (row["unit_id"], question)
        assert row["questions"] or row["kind"] == "stale", row["unit_id"]


@pytest.mark.parametrize("name", NAMES)
def test_the_words_of_an_answer_are_in_the_turns_it_cites(name: str) -> None:
    talk = talks()[name]
    required = {id for row in of("units.jsonl", talk) for id in texts(row, "questions")}
    for question in talk.questions:
        assert question.abstention is (question.answer is None)
        if question.answer is None:
            continue
        assert question.id in required
        said = words(" ".join(turns(talk)[id].text for id in question.evidence))
        meant = words(re.sub(r"\([^)]*\)", "", question.answer)) - GRAMMAR
        assert meant, question.id
        assert meant <= said, (question.id, meant - said)


@pytest.mark.parametrize("name", NAMES)
def test_no_memory_says_fully_what_had_not_been_said_yet(name: str) -> None:
    """A full cell is of a memory written at or after a turn that states the unit."""
    talk = talks()[name]
    order = {id: place for place, id in enumerate(turns(talk))}
    written = {row["memory_id"]: order[str(row["turn"])] for row in of("memories.jsonl", talk)}
    stated = {
        row["unit_id"]: min(order[id] for id in texts(row, "turns"))
        for row in of("units.jsonl", talk)
    }
    for row in of("coverage.jsonl", talk):
        if row["coverage"] == 1:
            assert written[row["memory_id"]] >= stated[row["unit_id"]], row


def test_a_memory_that_keeps_what_was_to_be_deleted_earns_nothing() -> None:
    """The alarm code and the birthday are worth nothing to any question."""
    for name, secret in (("alarm-code", "4471"), ("forget-erik", "22 June")):
        talk = talks()[name]
        leaking = {
            row["memory_id"]
            for row in of("memories.jsonl", talk)
            if secret in str(row["text"])
        }  # fmt: skip
        asked = {row["unit_id"] for row in of("units.jsonl", talk) if row["questions"]}
        covered = {
            row["unit_id"]
            for row in of("coverage.jsonl", talk)
            if row["memory_id"] in leaking
        }  # fmt: skip
        assert leaking
        assert covered.isdisjoint(asked)


def test_the_readme_counts_what_is_there() -> None:
    """Both tables, the number of cells looked at, and the examples it quotes."""
    page = FOLDER.joinpath("README.md").read_text(encoding="utf-8")
    table = {
        what: int(number) for what, number in re.findall(r"^\| ([a-z ]+) \| (\d+) \|", page, re.M)
    }
    all_talks = list(talks().values())
    values = Counter(row["coverage"] for row in rows("coverage.jsonl"))
    cells = sum(len(of("units.jsonl", one)) * len(of("memories.jsonl", one)) for one in all_talks)
    assert table == TOPICS | {
        "conversations": len(all_talks),
        "sessions": sum(len(talk.sessions) for talk in all_talks),
        "turns": sum(len(turns(talk)) for talk in all_talks),
        "questions": sum(len(talk.questions) for talk in all_talks),
        "abstention questions": sum(one.abstention for talk in all_talks for one in talk.questions),
        "units": len(rows("units.jsonl")),
        "memories": len(rows("memories.jsonl")),
        "cells": cells,
        "full cells": values[1],
        "partial cells": values[0.5],
    }
    assert f"Of {cells} cells" in page
    assert f"over all {cells} cells" in page
    assert Counter(talk.topic for talk in all_talks) == TOPICS
    assisted = sum("assistant" in {t.speaker for t in turns(talk).values()} for talk in all_talks)
    assert f"In {assisted} of them" in page
    assert f"in {len(all_talks) - assisted} two friends" in page
    examples = re.findall(r'^\| [^|]+ \| "([^"]+)"', page, re.M)
    assert len(examples) == 14
    assert set(examples) <= {row["text"] for row in rows("memories.jsonl")}


def test_it_holds_what_its_readme_says() -> None:
    """26 conversations, 155 units, 268 labelled cells above 0, every quote row."""
    row = reliability("natural", natural_set())
    assert (row.packages, row.queries, row.units) == (26, 103, 155)
    assert row.coverage["pass:coverage"] == {"full": 189, "partial": 79}
    assert row.units_uncovered == 0
    assert row.quotes.checked == row.quotes.found > 155
    assert natural_set() is natural_set()


def test_its_optima_are_certified() -> None:
    """And at a budget that has room for everything, everything is covered."""
    for package in natural_set():
        tight, loose = solve(package, 20), solve(package, 10_000)
        assert (tight.status, loose.status) == ("certified", "certified")
        assert tight.value < loose.value == sum(package.weights.values())
