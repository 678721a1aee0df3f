"""A chat model as the reader, over real HTTP to a deterministic model."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memaudit.lab.downstream.answer_readers import (
    AnswerReply,
    ReaderReply,
    ReadingTask,
    ReplyState,
    named_reader,
)
from memaudit.models.cache import Cache
from memaudit.models.prompts import RULE, load_prompt
from memaudit.models.request import schema_of
from memaudit.models.session import ModelSession, ModelSettings, open_session
from tests.building.passes.building import live
from tests.building.passes.fake_model import blocks
from tests.lab.downstream.fake_reader import reads
from tests.lab.downstream.small import ASKED, DOG, NOW, OLD
from tests.models.server import Behaviour, Served, fails, says, serving

CALL = ReadingTask("ann", ASKED["dog"], (DOG, OLD))
SECRET = replace(
    ASKED["dog"],
    id="ID",
    gold="GOLD",
    kind="KIND",
    stale={"UNIT": "STALE"},
    says={"dog": "SAYS"},
    holds=("H!",),
)
HIDDEN = ("OWNER", "ID", "GOLD", "KIND", "UNIT", "STALE", "SAYS", "H!", "m-dog")


@contextmanager
def session(folder: Path, settings: ModelSettings) -> Iterator[ModelSession]:
    """A session with a cache in a folder."""
    with Cache(folder / "cache") as cache:
        yield open_session(settings, cache, concurrency=1)


def asked(
    folder: Path, *behaviour: Behaviour, tasks: tuple[ReadingTask, ...] = (CALL,)
) -> tuple[list[ReaderReply], Served]:
    """The replies of a model that behaves so."""
    with serving(*behaviour) as served, session(folder, live(served.url)) as at:
        return named_reader("model:one", at).read(tasks), served


def test_the_reply_schema_is_pinned() -> None:
    """Its name and docstring are part of it, and it is part of the keys of the cache."""
    text = json.dumps(schema_of(AnswerReply), sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest().startswith("598d9cccc38602e2")


def test_blind(tmp_path: Path) -> None:
    """It gets texts and numbers, and names what it used by id."""
    task = ReadingTask("OWNER", SECRET, (DOG, OLD))
    (reply,), served = asked(tmp_path, reads, tasks=(task,))
    assert reply == ReaderReply(ReplyState.ANSWERED, DOG.text, ("m-dog",))
    (body,) = served.bodies
    text = load_prompt("memaudit.lab.downstream", "answer-if-supported").text
    assert body["messages"][0]["content"] == f"{text}\n\n{RULE}"
    assert blocks(body["messages"][1]["content"]) == {
        "question": ASKED["dog"].text,
        "memories": [{"memory": 1, "text": DOG.text}, {"memory": 2, "text": OLD.text}],
    }
    words = json.dumps(body)
    assert not [word for word in HIDDEN if f'"{word}' in words or f" {word}" in words]


@pytest.mark.parametrize(
    ("behaviour", "state"),
    [
        (says(None, refusal="I cannot help with that"), ReplyState.REFUSED),
        (says("", finish_reason="content_filter"), ReplyState.REFUSED),
        (says("The dog is called Rex."), ReplyState.UNPARSEABLE),
        (says(""), ReplyState.UNPARSEABLE),
        (says('{"memories": [1], "answer": 7, "abstained": false}'), ReplyState.UNPARSEABLE),
        (says('{"memories": [1], "answer": " ", "abstained": false}'), ReplyState.EMPTY),
        (says('{"memories": [], "answer": "", "abstained": true}'), ReplyState.ABSTAINED),
        (fails(500), ReplyState.NO_REPLY),
    ],
)
def test_replies_that_are_no_answers(
    tmp_path: Path, behaviour: Behaviour, state: ReplyState
) -> None:
    """Each sort has a state of its own, and none is an answer."""
    (reply,), _ = asked(tmp_path, behaviour)
    assert reply.state is state


def test_one_bad_reply_spoils_no_other(tmp_path: Path) -> None:
    """The replies keep their order; equal questions are asked once."""

    def behave(handler: Any, body: dict[str, Any]) -> None:
        bad = "Which diet" in body["messages"][1]["content"]
        (says(None, refusal="no") if bad else reads)(handler, body)

    tasks = (CALL, ReadingTask("ann", ASKED["diet"], (NOW,)), CALL)
    replies, served = asked(tmp_path, behave, tasks=tasks)
    states = [reply.state for reply in replies]
    assert states == [ReplyState.ANSWERED, ReplyState.REFUSED, ReplyState.ANSWERED]
    assert len(served.bodies) == 2


def test_what_it_claims_is_checked(tmp_path: Path) -> None:
    """A memory that it was not shown is noted, and one named twice is named once."""
    content = {"memories": [2, 9, 2], "answer": "Rex", "abstained": False}
    (reply,), _ = asked(tmp_path, says(json.dumps(content)))
    assert (reply.used, reply.notes) == (("m-old",), ("cites_unknown_memory",))
