"""Sources: numbers instead of ids, nothing lost; which quotes are word for word."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.building.passes.source import (
    SourceSession,
    SourceText,
    SourceTurn,
    pieces,
    source_text,
)
from memaudit.building.passes.units import normalized, verbatim
from memaudit.conversations.conversation import Session, Turn


def session(name: str, *texts: str, time: str | None = None) -> Session:
    turns = [Turn(f"{name}{i}", name, i, "Ann", "user", text) for i, text in enumerate(texts)]
    return Session(name, 0, time, tuple(turns))


def test_types_have_no_room_for_anything_else() -> None:
    """No ids, questions, answers, evidence or representations: there is no field for them."""
    assert [one.name for one in fields(SourceText)] == ["sessions"]
    assert [one.name for one in fields(SourceSession)] == ["number", "time", "turns"]
    assert [one.name for one in fields(SourceTurn)] == [
        "number",
        "speaker",
        "text",
        "time",
        "again",
    ]


def test_numbers_count_through_the_conversation() -> None:
    pictured = Turn("x", "b", 0, "Bob", "user", "Look!", "2025-01-02", caption="a cat")
    source = source_text([session("a", "one", "two"), Session("b", 1, "2025-01-01", (pictured,))])
    assert source.as_data() == [
        {
            "session": 1,
            "time": None,
            "turns": [
                {"turn": 1, "speaker": "Ann", "text": "one"},
                {"turn": 2, "speaker": "Ann", "text": "two"},
            ],
        },
        {
            "session": 2,
            "time": "2025-01-01",
            "turns": [
                {"turn": 3, "speaker": "Bob", "text": "Look! [image: a cat]", "time": "2025-01-02"}
            ],
        },
    ]


def test_pieces_by_hand() -> None:
    """At most 10 characters: a with b, c cut between its turns, and a long turn stays whole."""
    source = source_text(
        [
            session("a", "12345"),
            session("b", "1234"),
            session("c", "123456", "", "12345"),
            session("d", "123456789012"),
        ]
    )
    found = [
        [[turn.number for turn in one.turns] for one in piece.sessions]
        for piece in pieces(source, 10)
    ]
    assert found == [[[1], [2]], [[3]], [[5]], [[6]]]  # turn 4 is empty


def test_overlap_by_hand() -> None:
    """At most 10 characters: a cut session repeats two turns, or what fits, and marks them."""
    source = source_text(
        [session("a", "1234567890"), session("b", "12", "34", "56", "78", "9012345678")]
    )
    found = [
        [(turn.number, turn.again) for turn in piece.turns.values()] for piece in pieces(source, 7)
    ]
    assert found == [
        [(1, False)],
        [(2, False), (3, False), (4, False)],
        [(3, True), (4, True), (5, False)],
        [(6, False)],
    ]
    again = next(iter(list(pieces(source, 7))[2].turns.values()))
    assert again.as_data(None) == {"turn": 3, "speaker": "Ann", "text": "34", "again": True}


@given(st.lists(st.lists(st.text("ab ", max_size=12), max_size=5), max_size=5), st.integers(1, 20))
def test_pieces_lose_nothing(texts: list[list[str]], most: int) -> None:
    """Every turn that says something is new in exactly one piece, in order; others are marked."""
    source = source_text([session(f"s{i}", *rows) for i, rows in enumerate(texts)])
    shown = [turn for piece in pieces(source, most) for turn in piece.turns.values()]
    found = [turn for turn in shown if not turn.again]
    assert {replace(turn, again=False) for turn in shown} == set(found)
    assert found == [turn for turn in source.turns.values() if turn.text.strip()]
    for piece in pieces(source, most):
        assert len(piece.turns) == 1 or sum(len(one.text) for one in piece.turns.values()) <= most


TEXT = "He said:  \u201cI\u2019m done\u201d,\nand left \u2014 at 9."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("and left", "and left"),
        ("  at 9.\n", "at 9."),
        ('"I\'m done"', "\u201cI\u2019m done\u201d"),  # marks are normalized, the source's are kept
        ("said: \u00abI`m done\u00bb,   and", "said:  \u201cI\u2019m done\u201d,\nand"),
        ("And left", None),
        ("and left - at", None),  # case counts, a dash is no quotation mark
        ("He left", None),
        ("done... left", None),  # not joined from two places
        ("", None),
        (" , ", None),  # no letter, no quote
    ],
)
def test_verbatim_quotes(quote: str, found: str | None) -> None:
    assert verbatim(quote, TEXT) == found


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_every_piece_of_a_text_is_found(text: str, start: int, end: int) -> None:
    """What is returned is a piece of the text, and equal to the quote as both are compared."""
    quote = text[start:end]
    found = verbatim(quote, text)
    if any(character.isalnum() for character in quote):
        assert found is not None
        assert found in text
        assert normalized(found)[0] == normalized(quote)[0]
    else:
        assert found is None


def test_verbatim_quotes_without_spaces() -> None:
    """Spaces between characters, width and kinds of marks aside; in the text's own spelling."""
    text = "明天\uff11\uff12\uff1a\uff13\uff10开会\uff0c他说「喝 茶」。"
    assert verbatim("12:30 开会", text) == "\uff11\uff12\uff1a\uff13\uff10开会"
    assert verbatim('他说"喝茶"', text) == "他说「喝 茶」"
    assert verbatim("他说喝茶", text) is None
