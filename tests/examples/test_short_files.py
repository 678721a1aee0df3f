"""The bundled natural set: its files are consistent, its README counts them, its packages solve."""

import json
import re
from collections import Counter, defaultdict
from functools import cache
from importlib.resources import as_file, files
from itertools import permutations

import pytest

from memaudit.building.annotations import AnnotationRecipe, build_package
from memaudit.building.candidates import EXTRACT_RULES, extracts
from memaudit.building.named_packages import PASSES, short_set
from memaudit.building.reliability import reliability
from memaudit.building.transcript import split_conversation
from memaudit.conversations.conversation import Conversation, Turn
from memaudit.conversations.records import LoadedConversation
from memaudit.conversations.registry import read_conversations
from memaudit.judges.label_files import read_labels
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.solve import solve
from memaudit.kernel.words.text import contains

Row = dict[str, object]
LABEL_FILES = [f"{name}.jsonl" for name in PASSES]

FOLDER = files("memaudit").joinpath("examples", "short")
TOPICS = {
    "preference": 5,
    "update": 6,
    "temporal": 5,
    "deletion": 3,
    "scope": 3,
    "abstention": 4,
}
UNIT_KINDS = {
    "fact",
    "preference",
    "event",
    "relation",
    "rule",
    "current",
    "supersession",
    "deletion",
    "abstention",
    "temporal",
    "stale",
}
MEMORY_KINDS = {
    "fact",
    "summary",
    "event",
    "edge",
    "rule",
    "skill",
    "tombstone",
    "compound_update",
}
# Words an answer may need to be a sentence; everything else has to be said in a cited turn.
GRAMMAR = {
    "a",
    "an",
    "and",
    "at",
    "because",
    "before",
    "but",
    "by",
    "for",
    "from",
    "he",
    "her",
    "him",
    "his",
    "in",
    "is",
    "it",
    "no",
    "not",
    "of",
    "off",
    "on",
    "or",
    "she",
    "so",
    "that",
    "the",
    "then",
    "there",
    "to",
    "was",
    "what",
    "with",
    "yes",
}


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


def package(talk: Conversation) -> Package:
    (built,) = (one for one in short_set() if one.name == talk.id)
    return built


def is_extract(row: Row) -> bool:
    """Whether a row of memories.jsonl says that an extract was labelled; the build has its text."""
    return "text" not in row


def extract_ids() -> set[tuple[object, object]]:
    """The conversations and ids of labelled extracts."""
    return {
        (row["conversation"], row["memory_id"]) for row in rows("memories.jsonl") if is_extract(row)
    }


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
    kinds = {row["kind"] for row in rows("memories.jsonl") if not is_extract(row)}
    assert kinds == MEMORY_KINDS
    for file in LABEL_FILES:
        assert {row["coverage"] for row in rows(file)} == {1, 0.5}
        assert all(row["why"] for row in rows(file))


@pytest.mark.parametrize("name", NAMES)
def test_every_unit_is_quoted_from_a_turn_that_its_questions_cite(name: str) -> None:
    """Only what no longer holds may be asked for by no question."""
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
    """A full cell is of a memory written at or after a turn that states the unit.

    An extract is written at its turn, or at the last turn of its session.
    """
    talk = talks()[name]
    order = {id: place for place, id in enumerate(turns(talk))}
    written: dict[object, int] = {
        offer.id: max(order[id] for id in offer.whole_turns)
        for offer in extracts(split_conversation(talk, "chat")[0])
    }
    written |= {
        row["memory_id"]: order[str(row["turn"])]
        for row in of("memories.jsonl", talk)
        if not is_extract(row)
    }
    stated = {
        row["unit_id"]: min(order[id] for id in texts(row, "turns"))
        for row in of("units.jsonl", talk)
    }
    for row in of("coverage.jsonl", talk):
        if row["coverage"] == 1:
            assert written[row["memory_id"]] >= stated[row["unit_id"]], row


def test_a_memory_that_keeps_what_was_to_be_deleted_earns_nothing() -> None:
    """The alarm code and the birthday are worth nothing to any question, wherever they are."""
    for name, secret in (("alarm-code", "4471"), ("forget-erik", "22 June")):
        talk = talks()[name]
        leaking = {one.id for one in package(talk).candidates if secret in one.text}
        assert {package(talk).candidate[id].kind for id in leaking} >= {"raw", "session", "fact"}
        asked = {row["unit_id"] for row in of("units.jsonl", talk) if row["questions"]}
        covered = {
            row["unit_id"] for row in of("coverage.jsonl", talk) if row["memory_id"] in leaking
        }
        assert covered.isdisjoint(asked)


def test_all_extracts_are_labelled() -> None:
    offered = {
        (talk.id, offer.id)
        for talk in talks().values()
        for offer in extracts(split_conversation(talk, "chat")[0])
    }
    assert extract_ids() == offered


def test_no_two_extracts_of_one_turn_contain_each_other() -> None:
    """So that a larger group cap rewards no text twice."""
    for talk in talks().values():
        groups = defaultdict(list)
        for one in package(talk).candidates:
            if one.kind in EXTRACT_RULES:
                groups[one.experience].append(one.text)
        assert set(turns(talk)) < set(groups)  # and the ends of sessions
        for group in groups.values():
            assert not any(contains(one, other) for one, other in permutations(group, 2))


def test_extracts_have_the_lower_label_of_two_readers() -> None:
    """As the README says, which also has the number of cells where they differ."""
    by_pass = {
        file: {
            (row["conversation"], row["memory_id"], row["unit_id"]): row["coverage"]
            for row in rows(file)
            if (row["conversation"], row["memory_id"]) in extract_ids()
        }
        for file in LABEL_FILES
    }
    taken, first, second = by_pass.values()
    pairs = {at: (first.get(at, 0), second.get(at, 0)) for at in {*first, *second}}
    assert taken == {
        at: low
        for at, pair in pairs.items()
        if (low := min(pair, key=lambda level: float(str(level))))
    }
    differ = sum(one != other for one, other in pairs.values())
    page = FOLDER.joinpath("README.md").read_text(encoding="utf-8")
    assert f"They differ in {differ} cells." in page


def test_the_readme_counts_what_is_there() -> None:
    """Both tables, the numbers of cells looked at, and the examples it quotes."""
    page = FOLDER.joinpath("README.md").read_text(encoding="utf-8")
    table = {
        what: int(number) for what, number in re.findall(r"^\| ([a-z ]+) \| (\d+) \|", page, re.M)
    }
    all_talks = list(talks().values())
    own = extract_ids()
    # Whether it is an extract's, and its value.
    values = Counter(
        ((row["conversation"], row["memory_id"]) in own, row["coverage"])
        for row in rows("coverage.jsonl")
    )
    cells = {
        kind: sum(
            len(of("units.jsonl", talk))
            for talk in all_talks
            for row in of("memories.jsonl", talk)
            if is_extract(row) is kind
        )
        for kind in (False, True)
    }
    assert table == TOPICS | {
        "conversations": len(all_talks),
        "sessions": sum(len(talk.sessions) for talk in all_talks),
        "turns": sum(len(turns(talk)) for talk in all_talks),
        "questions": sum(len(talk.questions) for talk in all_talks),
        "abstention questions": sum(one.abstention for talk in all_talks for one in talk.questions),
        "units": len(rows("units.jsonl")),
        "memories": len(rows("memories.jsonl")) - len(own),
        "extracts": len(own),
        "cells of memories": cells[False],
        "full cells of memories": values[False, 1],
        "partial cells of memories": values[False, 0.5],
        "cells of extracts": cells[True],
        "full cells of extracts": values[True, 1],
        "partial cells of extracts": values[True, 0.5],
    }
    assert f"Of {cells[False]} cells" in page
    assert f"over all {cells[False]} cells" in page
    assert f"all {cells[True]} cells blind" in page
    kinds = Counter(str(id).split("/")[1] for _, id in own)
    assert f"the {kinds['raw']} turns" in page
    assert f"the {kinds['session']} sessions" in page
    assert Counter(talk.topic for talk in all_talks) == TOPICS
    assisted = sum("assistant" in {t.speaker for t in turns(talk).values()} for talk in all_talks)
    assert f"In {assisted} of them" in page
    assert f"in {len(all_talks) - assisted} two friends" in page
    examples = re.findall(r'^\| [^|]+ \| "([^"]+)"', page, re.M)
    assert len(examples) == 15
    assert set(examples) <= {one.text for talk in all_talks for one in package(talk).candidates}


def test_it_holds_what_its_readme_says() -> None:
    """26 conversations, 155 units, 673 cells above 0, all of them judged, every quote row."""
    row = reliability("natural", short_set())
    assert (row.packages, row.queries, row.units) == (26, 103, 155)
    assert row.coverage == {"pass:coverage": {"full": 189 + 306, "partial": 79 + 99}}
    assert row.units_uncovered == 0
    assert row.quotes.checked == row.quotes.found > 155
    assert short_set() is short_set()


def test_its_optima_are_certified() -> None:
    """And at a budget that has room for everything, everything is covered."""
    for package in short_set():
        tight, loose = solve(package, 20), solve(package, 10_000)
        assert (tight.status, loose.status) == ("certified", "certified")
        assert tight.value < loose.value == sum(package.weights.values())
