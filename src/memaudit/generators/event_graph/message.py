"""How something is said: greetings and openers around it, and small talk."""

import re
from dataclasses import dataclass
from fractions import Fraction

from memaudit.generators.event_graph.diary import Moment
from memaudit.generators.event_graph.dice import Dice
from memaudit.generators.event_graph.phrase import Piece, Stated
from memaudit.generators.event_graph.threads.protocol import Telling
from memaudit.generators.event_graph.words import smalltalk as said

LONGEST = 3
"""Sentences a message has at most."""

OPENED = Fraction(2, 5)
GREETED = Fraction(1, 2)
CLOSED = Fraction(1, 4)
ANSWERED = Fraction(1, 4)
"""How often small talk comes from the assistant."""

_END = re.compile(r"[.!?](?: |$)")


@dataclass(frozen=True, slots=True)
class Message:
    """What was written, and each telling's own words in it."""

    piece: Piece
    quotes: tuple[str, ...]


def message(dice: Dice, tellings: tuple[Telling, ...], moment: Moment) -> Message:
    """One or two tellings as somebody would write them."""
    parts: list[str] = []
    quotes: list[str] = []
    length = sum(len(_END.findall(telling.message.text)) for telling in tellings)
    greeted = moment.opens and length < LONGEST and dice.chance(GREETED)
    if greeted:
        parts.append(dice.pick(said.GREETINGS[moment.part]))
    for telling in tellings:
        sentence = telling.message.text
        opener = _opener(dice, sentence, moment.opens) if dice.chance(OPENED) else ""
        quote = sentence if opener else _capital(sentence)
        quotes.append(quote)
        parts.append(f"{_capital(opener)} {quote}" if opener else quote)
    if length + greeted < LONGEST and dice.chance(CLOSED):
        parts.append(dice.pick(said.CLOSERS))
    stated = tuple(slot for telling in tellings for slot in telling.message.stated)
    return Message(Piece(" ".join(parts), stated), tuple(quotes))


def _opener(dice: Dice, sentence: str, first: bool) -> str:
    """An opener that goes with the sentence: no second colon, no second opener."""
    opener = dice.pick(said.FIRST_OPENERS if first else said.OPENERS)
    twice = opener.endswith(":") and ":" in sentence
    return "" if twice or sentence.startswith(said.ALONE) else opener


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def chat(dice: Dice, moment: Moment) -> tuple[bool, str, str]:
    """Small talk: whether the speaker says it, the message, and what one could note of it."""
    if not moment.opens and dice.chance(ANSWERED):
        return False, dice.pick(said.ASSISTANT), ""
    if dice.below(2):
        weather, moods = dice.pick(said.WEATHER)
        note = f"{dice.pick(weather)}, {dice.pick(moods)}."
    else:
        note = f"{dice.pick(said.SUBJECTS)} {dice.pick(said.VERDICTS)}"
    start = f"{dice.pick(said.GREETINGS[moment.part])} " if moment.opens else ""
    end = f" {dice.pick(said.TAILS)}" if dice.below(2) else ""
    return True, f"{start}{note}{end}", note


def summary(dice: Dice, briefs: list[Piece]) -> Piece:
    """What a session's notes keep of it: most of what was told, in a few words each."""
    kept = [brief for brief in briefs if dice.below(4)][:4]
    texts: list[str] = []
    stated: dict[Stated, None] = {}
    for brief in kept:
        if brief.text and brief.text not in texts:
            texts.append(brief.text)
        stated |= dict.fromkeys(brief.stated)
    body = "; ".join(texts) or dice.pick(said.SUMMARY_EMPTY)
    return Piece(f"{dice.pick(said.SUMMARY_HEADS)} {body}.", tuple(stated))
