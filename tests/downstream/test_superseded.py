"""Which stale units belong to a question."""

from memaudit.core.package import EvidenceUnit, Source
from memaudit.downstream.question import superseded


def unit(id: str, kind: str, text: str, *sources: str) -> EvidenceUnit:
    """A unit on these sources."""
    return EvidenceUnit(
        id=id, kind=kind, text=text, sources=tuple(Source(id=one) for one in sources)
    )


PLAYED = unit("played", "stale", "Ilka plays the cello, in a small orchestra.", "t1")
BANKED = unit("banked", "stale", "As of 9 July 2023, Wendel banks with Cobalt.", "t2")
PLAYS = unit("plays", "current", "As of 9 July 2023, Ilka plays the harp.", "t3")
ENDED = unit("ended", "supersession", "That is over.", "t2", "t3")
FACT = unit("fact", "fact", "Ilka plays with Zelda.", "t4")
UNITS = [PLAYED, BANKED, PLAYS, ENDED, FACT]
NOW = "Which instrument does Ilka play now?"


def test_by_words() -> None:
    """Two shared terms; a shared date is none."""
    assert list(superseded(NOW, [PLAYS], UNITS)) == ["played"]


def test_by_source() -> None:
    """A supersession that stands on the turn of the old value."""
    assert list(superseded("What is over?", [ENDED], UNITS)) == ["banked"]


def test_only_where_something_says_what_holds() -> None:
    """A question about a fact, or without evidence, has no stale answer."""
    assert superseded(NOW, [FACT], UNITS) == {}
    assert superseded(NOW, [], UNITS) == {}


def test_the_past_is_no_mistake_where_it_is_asked_for() -> None:
    """Required alone the old value is the answer; beside the current one `current-v1` decides."""
    assert superseded("Which did Ilka play first?", [PLAYED, ENDED], UNITS) == {}
    assert superseded(NOW, [PLAYED, PLAYS], UNITS) == {}
