"""Whether a conversation says what a memory says: an estimate by words, and the nearest turn.

Every sentence of a memory is looked for in the conversation: which share of its words, rare ones
counting more, do a turn and its neighbours have? Names and numbers that the whole conversation does
not have weigh most. A model can give the verdict instead (building/passes/store_passes.py); the
nearest turns are then what it is shown.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memaudit.building.passes.store_passes import MemoryToCheck, Verdict, find_support
from memaudit.judges.pair_features import passages, with_plain_numbers
from memaudit.kernel.io.store_file import Memory
from memaudit.kernel.package.package import Experience
from memaudit.kernel.words.text import counted, stem, terms, times
from memaudit.linting.findings import Evidence, Finding, evidence, quoted
from memaudit.linting.secrets import masked, without_secrets
from memaudit.linting.statement_pairs import Statement, statement
from memaudit.models.session import ModelSession

FOUND_FROM, SAID_FROM = 0.35, 0.2
"""Shares of a sentence's words that a turn and its neighbours have: a memory is found in the
conversation by its best sentence, and a sentence below the second is said nowhere."""

SHOWN_TO_MODEL = 4
"""Turns nearest to a memory, each with its neighbours, that a model is shown."""

UNRELATED_FROM = 0.6
"""Share of memories that nothing in the conversation says, from which it is another one."""

FEWEST_TERMS = 2
"""A shorter sentence says too little to be looked for alone."""

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_DAY = re.compile(r"^\d{1,2}$|^(?:19|20)\d\d$")


@dataclass(frozen=True, slots=True)
class FoundSupport:
    """The verdict on a memory, the place of the nearest turn, and what no turn says."""

    verdict: Verdict
    turn: int | None
    missing: tuple[str, ...] = ()
    reason: str = ""


class ConversationIndex:
    """The turns of a conversation by their words."""

    def __init__(self, turns: Sequence[Experience]) -> None:
        self.turns = tuple(turns)
        own = [_words(turn) for turn in turns]
        self._windows = [
            frozenset[str]().union(*(own[at] for at in _around(place, turns)))
            for place in range(len(turns))
        ]
        self._everywhere = frozenset[str]().union(*own)
        holders: dict[str, list[int]] = {}
        for place, found in enumerate(self._windows):
            for term in found:
                holders.setdefault(term, []).append(place)
        self._holders = {term: np.array(places) for term, places in holders.items()}

    @cached_property
    def _rarest(self) -> float:
        return float(np.log((len(self.turns) + 1) / 0.5))

    def _weight(self, term: str) -> float:
        held = self._holders.get(term)
        if held is None:
            return self._rarest
        return max(0.3, float(np.log((len(self.turns) + 1) / (len(held) + 0.5))))

    def _shares(self, wanted: Statement) -> NDArray[np.float64]:
        """Per turn, the weighted share of a sentence's words that it and its neighbours have."""
        found, total = np.zeros(len(self.turns)), 0.0
        for term in wanted.terms - {"user"}:
            # A memory dates what the turn calls yesterday, so a day that is missing says little.
            weight = self._weight(term) * (0.3 if _is_time(term) else 1.0)
            total += weight
            held = self._holders.get(term)
            if held is not None:
                found[held] += weight
        return found / total if total else np.ones(len(self.turns))

    def support(self, text: str) -> FoundSupport:
        """The verdict by words."""
        best: list[float] = []
        lost: list[str] = []
        nearest, highest = None, -1.0
        for sentence in _sentences(text):
            wanted = statement(sentence)
            if len(wanted.terms - {"user"}) < FEWEST_TERMS or not self.turns:
                continue
            shares = self._shares(wanted)
            place = int(shares.argmax())
            own = sorted(
                term
                for term in (wanted.names | wanted.numbers) - self._everywhere
                if not _is_time(term)
            )
            lost += own
            best.append(float(shares[place]))
            if shares[place] > highest:
                nearest, highest = place, float(shares[place])
        # The worst sentence decides, and so does a name or number that nobody said: a memory is as
        # true as its least true part.
        if not best or (min(best) >= SAID_FROM and not lost):
            return FoundSupport("supported", nearest)
        verdict: Verdict = "partly" if max(best) >= FOUND_FROM else "not"
        return FoundSupport(verdict, nearest, tuple(_as_written(text, lost)))

    def to_check(self, text: str) -> MemoryToCheck:
        """A memory with the turns that a model is shown with it."""
        near: set[int] = set()
        for sentence in _sentences(text):
            order = np.argsort(-self._shares(statement(sentence)), kind="stable")
            for place in order[:SHOWN_TO_MODEL].tolist():
                near.update(_around(place, self.turns))
        return MemoryToCheck(text, tuple(sorted(near)))


def _as_written(text: str, lost: Sequence[str]) -> list[str]:
    """Lost words as the memory has them, where they are not numbers in another notation."""
    words = {stem(word.casefold()): word for word in reversed(_WORD.findall(text))}
    return [words.get(term, term) for term in dict.fromkeys(lost)]


def _sentences(text: str) -> list[str]:
    head, pieces = passages(text)
    return [f"{head}{piece}" for piece in pieces]


def _words(turn: Experience) -> frozenset[str]:
    """The words of a turn, with its speaker and its day."""
    said = f"{turn.speaker or ''}. {turn.text} {(turn.timestamp or '')[:10]}"
    found = statement(said)
    return found.terms | terms(with_plain_numbers((turn.timestamp or "")[:10]))


def _around(place: int, turns: Sequence[Experience]) -> list[int]:
    """A turn and its neighbours in the same session."""
    return [
        at
        for at in range(max(0, place - 1), min(len(turns), place + 2))
        if turns[at].session == turns[place].session
    ]


def _is_time(term: str) -> bool:
    """Whether a word may be a day that the conversation says otherwise: yesterday, last week."""
    return bool(_DAY.match(term) or times(frozenset([term])))


def own_text(memory: Memory) -> str:
    """The text of an entry without the headings above it."""
    return memory.text.removeprefix("".join(f"{part}: " for part in memory.context))


def support_findings(
    memories: Sequence[Memory],
    turns: Sequence[Experience],
    cost: dict[str, Fraction],
    model: str | None,
    session: ModelSession | None,
    notes: list[str],
) -> list[Finding]:
    index = ConversationIndex(turns)
    found: list[FoundSupport | None]
    if model is not None and session is not None:
        # The model may be run by somebody else, who must not be told the secrets of a store.
        asked = [index.to_check(without_secrets(own_text(memory))) for memory in memories]
        answers = find_support(asked, turns, session, model, "support")
        found = [
            None
            if answer is None
            else FoundSupport(answer.verdict, answer.turn, (), masked(answer.reason))
            for answer in answers
        ]
        notes.append(f"support: model:{model}")
    else:
        found = [index.support(without_secrets(own_text(memory))) for memory in memories]
        notes.append("support: offline, an estimate by words; read the nearest turn")
    unsaid = sum(support is not None and support.verdict == "not" for support in found)
    if len(memories) > 1 and unsaid >= UNRELATED_FROM * len(memories):
        notes.append(
            f"UNRELATED: nothing in the conversation says {unsaid:,} of {len(memories):,} "
            "memories; is it another conversation?"
        )
    if silent := sum(support is None for support in found):
        notes.append(f"{counted(silent, 'memory')} got no verdict on support")
    findings = []
    for memory, support in zip(memories, found, strict=True):
        if support is None or support.verdict == "supported":
            continue
        near = () if support.turn is None else (_turn(turns[support.turn]),)
        what = (
            "the conversation says it only in part"
            if support.verdict == "partly"
            else ("nothing in the conversation says it")
        )
        missing = ", ".join(support.missing[:5])
        detail = support.reason or (f"not said anywhere: {missing}" if missing else "")
        findings.append(
            Finding(
                "unsupported",
                (memory.id,),
                f"{what}; {detail}" if detail else what,
                (quoted(memory), *near),
                cost[memory.id] if support.verdict == "not" else Fraction(0),
            )
        )
    return findings


def _turn(turn: Experience) -> Evidence:
    speaker = f"{turn.speaker}: " if turn.speaker else ""
    return evidence("nearest turn", turn.id, f"{speaker}{turn.text}")
