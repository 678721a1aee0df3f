"""A frame answered by a deterministic model over real HTTP, blind."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from memaudit.lab.labels.frame import Frame
from memaudit.lab.labels.model_labels import labels_by_model
from memaudit.models.cache import Cache
from memaudit.models.session import ModelSession, ModelSettings, open_session
from tests.building.passes.building import live
from tests.building.passes.fake_model import blocks, instead, plays, which
from tests.lab.labels.small_frames import cell, keyed_frame
from tests.models.server import serving

ROME, DOG = "Ann moved to Rome.", "Bob has a dog."
TEXTS = [("Yes: Ann moved to Rome.", ROME), ("Ann moved", ROME), ("Ann moved", DOG), ("Soup.", DOG)]
CELLS = [
    cell(place, candidate_text=memory, unit_text=unit, package="pq"[place // 3], quote="secret")
    for place, (memory, unit) in enumerate(TEXTS)
]
FRAME = keyed_frame(*CELLS)
SAID = {"c0000": "full", "c0001": "partial", "c0002": "none", "c0003": "none"}


@contextmanager
def session(folder: Path, settings: ModelSettings) -> Iterator[ModelSession]:
    with Cache(folder / "cache") as cache:
        yield open_session(settings, cache)


def asked_pairs(body: dict[str, Any]) -> set[tuple[str, str]]:
    data = blocks(body["messages"][1]["content"])
    memories = {row["memory"]: row["text"] for row in data["memories"]}
    units = {row["unit"]: row["text"] for row in data["units"]}
    return {
        (memories[row["memory"]], units[unit]) for row in data["pairs"] for unit in row["units"]
    }


def test_the_frames_cells_and_no_others(tmp_path: Path) -> None:
    with serving(plays) as served, session(tmp_path, live(served.url)) as asked:
        found = labels_by_model(FRAME, asked, "one")
    assert (found.labels.annotator, found.labels.labels, found.undecided) == (
        "model:one:coverage/2",
        SAID,
        (),
    )
    assert found.labels.notes["c0000"] == "is full"
    assert {which(body) for body in served.bodies} == {"coverage"}
    pairs = [pair for body in served.bodies for pair in asked_pairs(body)]
    assert sorted(pairs) == sorted(TEXTS)
    words = json.dumps([body["messages"][1] for body in served.bodies])
    assert not [word for word in ("secret", "c000", "m1", "pass:a", "event") if word in words]


def test_equal_texts_are_asked_once(tmp_path: Path) -> None:
    twin = cell(9, candidate_text=TEXTS[0][0], unit_text=ROME, candidate="other")
    with serving(plays) as served, session(tmp_path, live(served.url)) as asked:
        found = labels_by_model(Frame((CELLS[0], twin)), asked, "one")
    assert found.labels.labels == {"c0000": "full", "c0009": "full"}
    assert [len(asked_pairs(body)) for body in served.bodies] == [1]


@pytest.mark.parametrize(
    ("content", "more", "kind"),
    [(None, {"refusal": "I cannot"}, "refused"), ("certainly!", {}, "invalid")],
)
def test_no_answer_is_no_zero(
    tmp_path: Path, content: str | None, more: dict[str, str], kind: str
) -> None:
    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        about_soup = any("Soup." in pair for pair in asked_pairs(body))
        (instead("coverage", content, **more) if about_soup else plays)(handler, body)

    with serving(behave) as served, session(tmp_path, live(served.url)) as asked:
        found = labels_by_model(FRAME, asked, "one")
    assert found.undecided == ("c0003",)
    assert found.labels.labels == {id: SAID[id] for id in ("c0000", "c0001", "c0002")}
    troubles = [(one.what, one.failure) for one in asked.ledger.problems]
    assert troubles.count((kind, True)) == 2
    assert troubles.count(("undecided cell", False)) == 1
