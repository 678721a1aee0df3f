"""What version 2 asks about a unit, checked row by row; units shown by two pieces are kept once."""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.passes.source import MAX_CHARACTERS, source_text
from memaudit.building.passes.units import ExtractedUnit, find_units
from memaudit.conversations.conversation import Session, Turn
from memaudit.models.cache import Cache
from memaudit.models.session import open_session
from tests.building.passes.building import live
from tests.building.passes.fake_model import instead
from tests.building.passes.fake_model import unit as row
from tests.models.server import serving

TEXTS = (
    ("Ann", "Where should I swim now?"),
    ("assistant", "**Lido**\n- open until *9 pm*\n- ($4.50 per visit)"),
    ("Ann", "I moved to Rome in May, so not there."),
)


def found(
    folder: Path, rows: list[dict[str, Any]], texts: tuple[tuple[str, str], ...] = TEXTS
) -> tuple[list[ExtractedUnit], dict[str, int]]:
    """The units of a conversation whose every piece gets these rows, and what was refused."""
    turns = [Turn(f"t{i}", "s", i, who, "user", text) for i, (who, text) in enumerate(texts)]
    source = source_text([Session("s", 0, "2025-06-01", tuple(turns))])
    with (
        serving(instead("units", json.dumps({"units": rows}))) as served,
        Cache(folder / "cache") as cache,
    ):
        session = open_session(live(served.url), cache)
        units = find_units({"x": source}, session, "one")["x"]
    assert units.lost == 0
    return list(units.items), session.ledger.counts("x", failure=False).get("units", {})


def test_details(tmp_path: Path) -> None:
    """Speaker, context, dates, dispute and parts are kept; a change gives the package's kind."""
    price = row(2, "($4.50 per visit)", "The assistant said that a visit to the Lido costs $4.50.")
    price |= {
        "said_by": "Assistant",
        "context": [{"turn": 2, "quote": "**Lido**"}],
        "disputed": True,
        "parts": [{"part": "amount", "words": "$4.50"}, {"part": "what", "words": "the Lido"}],
    }
    home = row(3, "I moved to Rome in May", "Ann lives in Rome since May 2025.", who="Ann")
    home |= {
        "change": "now",
        "from": "2025-05",
        "to": None,
        "context": [{"turn": 1, "quote": "Where should I swim"}],
    }
    unsure = row(1, "Where should I swim now?", "Ann does not know where to swim.", who="Ann")
    unsure |= {"kind": "unknown", "parts": [{"part": "what", "words": "where to swim"}]}
    units, refused = found(tmp_path, [price, home, unsure])
    assert units == [
        ExtractedUnit(
            2,
            "($4.50 per visit)",
            "fact",
            price["statement"],
            said_by="assistant",
            said_as="fact",
            context=((2, "**Lido**"),),
            disputed=True,
            parts=(("amount", "$4.50"), ("what", "the Lido")),
        ),
        ExtractedUnit(
            3,
            "I moved to Rome in May",
            "current",
            home["statement"],
            said_by="Ann",
            said_as="fact",
            context=((1, "Where should I swim"),),
            dates=("2025-05", "2025-05"),
        ),
        ExtractedUnit(
            1,
            "Where should I swim now?",
            "abstention",
            unsure["statement"],
            said_by="Ann",
            said_as="abstention",
        ),
    ]
    assert [unit.is_stated_by_turn for unit in units] == [True, False, True]
    assert refused == {}


@pytest.mark.parametrize(
    ("change", "what", "kept"),
    [
        ({"said_by": "Bob"}, "unknown speaker", {"said_by": "Ann"}),  # the turn's own
        (
            {"context": [{"turn": 2, "quote": "Lido is best"}]},
            "context not verbatim",
            {"context": ()},
        ),
        ({"context": [{"turn": 9, "quote": "Lido"}]}, "context not verbatim", {"context": ()}),
        ({"from": "in May"}, "dates not readable", {"dates": None}),
        ({"from": "2025-13-01", "to": "2025-13-02"}, "dates not readable", {"dates": None}),
        ({"from": "2025-06", "to": "2025-05-31"}, "dates not readable", {"dates": None}),
        (
            {"parts": [{"part": "what", "words": "a"}, {"part": "what", "words": "b"}]},
            "parts repeated or empty",
            {"parts": ()},
        ),
        ({"parts": [{"part": "what", "words": " "}]}, "parts repeated or empty", {"parts": ()}),
    ],
)
def test_a_detail_that_does_not_hold_is_left_out(
    tmp_path: Path, change: dict[str, Any], what: str, kept: dict[str, Any]
) -> None:
    """The unit stays; what is wrong is counted by name."""
    ((unit,), refused) = found(
        tmp_path, [row(3, "I moved to Rome", "Ann moved.", who="Ann") | change]
    )
    assert refused == {what: 1}
    assert {name: getattr(unit, name) for name in kept} == kept


def test_a_unit_of_two_pieces_is_kept_once(tmp_path: Path) -> None:
    """A long session is cut, its pieces overlap, and both replies quote the same words: the second
    is refused, though it is worded otherwise. Within one piece, two units may share a quote."""
    long = "x" * (MAX_CHARACTERS // 2)
    texts = (("Ann", f"My cat is Tom. {long}"), ("Ann", "He is 3."), ("Ann", long))
    rows = [row(2, "He is 3.", "Tom is 3.", who="Ann"), row(2, "He is 3.", "Ann has Tom, 3.")]
    units, refused = found(tmp_path, rows, texts)
    assert [unit.statement for unit in units] == ["Tom is 3.", "Ann has Tom, 3."]
    assert refused == {"quoted by the piece before": 2, "unknown speaker": 2}
