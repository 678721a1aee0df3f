"""Candidates: made from the transcript alone, by the same rules for every turn."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memaudit.building.candidates import dataset_offers, extracts, pairs, update_offers
from memaudit.building.transcript import Transcript, split_conversation, turn_text
from memaudit.conversations.conversation import (
    Conversation,
    Question,
    Representation,
    Session,
    Turn,
)
from tests.building.talks import DIET, load

TEXTS = st.lists(
    st.lists(st.sampled_from(["Ann", "went", "home.", "Why?", "7", "to", "Rome!"]), max_size=60),
    min_size=1,
    max_size=4,
).map(lambda texts: [" ".join(text) for text in texts])


def talk(texts: list[str], time: str | None = None, **more: object) -> Transcript:
    turns = tuple(
        Turn(f"t{n}", "s1", n, "Ann", "user", text, None, **more)  # type: ignore[arg-type]
        for n, text in enumerate(texts)
    )
    conversation = Conversation("c", (Session("s1", 0, time, turns),))
    return split_conversation(conversation, "chat")[0]


@given(TEXTS)
def test_extracts_hold_what_they_say_they_hold(texts: list[str]) -> None:
    """One per spoken turn, and one of all of them at the end, which is a group of its own."""
    transcript = talk(texts)
    spoken = [turn.id for turn in transcript.turn.values() if turn.text]
    offers = list(extracts(transcript))
    groups = [*spoken, "s1/end"] if spoken else []
    assert [offer.experience for offer in offers] == groups
    for offer in offers:
        held = [f"Ann: {turn_text(transcript.turn[turn])}" for turn in offer.whole_turns]
        assert offer.text == "\n".join(held)
        assert offer.whole_turns == (
            tuple(spoken) if offer.kind == "session" else (offer.experience,)
        )


def test_extracts_say_who_and_when() -> None:
    """A turn has its date and speaker, a session its date once; a blank turn none."""
    transcript = talk(["Hi Bo. Rome?", " ", "Nice one."], "2025-02-04 12:30")
    assert {offer.id: offer.text for offer in extracts(transcript)} == {
        "t0/raw": "[2025-02-04] Ann: Hi Bo. Rome?",
        "t2/raw": "[2025-02-04] Ann: Nice one.",
        "s1/session": "[2025-02-04]\nAnn: Hi Bo. Rome?\nAnn: Nice one.",
    }


def test_a_turn_may_have_a_date_of_its_own() -> None:
    """Else it is dated as its session."""
    turns = (
        Turn("t1", "s1", 0, "Ann", "user", "Hi."),
        Turn("t2", "s1", 1, "Bo", "user", "Hello.", "2025-02-05T00:10"),
    )
    conversation = Conversation("c", (Session("s1", 0, "2025-02-04", turns),))
    first, second, session = extracts(split_conversation(conversation, "chat")[0])
    assert (first.text, second.text) == ("[2025-02-04] Ann: Hi.", "[2025-02-05] Bo: Hello.")
    assert session.text == "[2025-02-04]\nAnn: Hi.\nBo: Hello."


def test_captions_are_marked() -> None:
    transcript = talk(["Look!", ""], caption="a red dog")
    assert [turn_text(turn) for turn in transcript.turn.values()] == [
        "Look! [image: a red dog]",
        "[image: a red dog]",
    ]


def test_revealing_ids_are_replaced(tmp_path: Path) -> None:
    """LongMemEval's session ids, and names that only some turns have; numbered ids stay."""
    turn = Turn("answer_1:1", "answer_1", 0, "user", "user", "Hi.")
    session = Session("answer_1", 0, "2024-01-01", (turn,))
    asked = Question("q", "Q?", "A", "fact", ("answer_1:1",), ("answer_1",))
    transcript, (question,) = split_conversation(
        Conversation("c", (session,), (asked,)), "longmemeval"
    )
    assert list(transcript.turn) == ["s1:1"]
    assert (question.evidence, question.evidence_sessions) == (("s1:1",), ("s1",))
    assert transcript.turn_ids == {"answer_1:1": "s1:1"}
    assert list(split_conversation(load(tmp_path, DIET).conversation, "chat")[0].turn) == [
        "t1",
        "t2",
        "t3",
        "t4",
    ]
    named = [dict(row, id="diet") if row.get("id") == "t1" else row for row in DIET]
    named = [{k: v for k, v in row.items() if k != "evidence"} for row in named]
    assert "s1:1" in split_conversation(load(tmp_path, named).conversation, "chat")[0].turn


def test_updates_pair_a_turn_with_the_most_similar_earlier_one(tmp_path: Path) -> None:
    """t3 shares travel, meal, eat and food with t1, of an earlier session and the same speaker."""
    transcript, _ = split_conversation(load(tmp_path, DIET).conversation, "chat")
    ((number, pair),) = pairs(transcript)
    assert (number, pair.earlier, pair.later) == (1, "t1", "t3")
    assert {offer.id: offer.text for offer in update_offers(transcript)} == {
        "t3/tombstone": "[2025-03-14] No longer holds: Ann: "
        "For travel meals I eat vegetarian food.",
        "t3/compound_update": "[2025-03-14] Ann: For travel meals I eat fish food now. "
        "(before: For travel meals I eat vegetarian food.)",
    }


def test_what_the_dataset_ships() -> None:
    """At the latest source, else at the session's end; without a session it is counted."""
    turns = tuple(Turn(f"D1:{n}", "s1", n, "Ann", "a", "Hi.") for n in (1, 2))
    conversation = Conversation(
        "c",
        (Session("s1", 0, None, turns), Session("s2", 1, None, ())),
        (),
        (
            Representation("o", "observation", "Ann greets.", "Ann", "s1", ("D1:2", "D1:1")),
            Representation("again", "observation", "Ann greets.", "Ann", "s1", ("D1:2",)),
            Representation("sum", "session_summary", "Greetings.", None, "s1"),
            Representation("lost", "event_summary", "Nothing.", None, None),
            Representation("empty", "event_summary", "Nothing.", None, "s2"),
        ),
    )
    shipped = dataset_offers(split_conversation(conversation, "locomo")[0])
    assert [(o.id, o.experience, o.kind, o.points, o.about) for o in shipped.offers] == [
        ("o", "D1:2", "fact", ("D1:2", "D1:1"), None),
        ("sum", "s1/end", "summary", (), "s1"),
    ]
    assert shipped.unplaced == ("lost", "empty")
