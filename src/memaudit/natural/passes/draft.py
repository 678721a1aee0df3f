"""One conversation on its way through the passes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from memaudit.datasets.irregular import Loaded
from memaudit.datasets.shape import Question
from memaudit.natural.extracts import extracts
from memaudit.natural.label_passes import CONVERSATION
from memaudit.natural.passes.chunks import Pair
from memaudit.natural.passes.coverage import Cells
from memaudit.natural.passes.memories import FoundMemory, Memories
from memaudit.natural.passes.requirements import ShownUnit
from memaudit.natural.passes.rulings import Rulings
from memaudit.natural.passes.source import SourceText, source_text
from memaudit.natural.passes.spot_check import SpotCheck
from memaudit.natural.passes.units import FoundUnit, Units
from memaudit.natural.sentences import one_line
from memaudit.natural.transcript import Transcript, split


@dataclass(frozen=True, slots=True)
class RawTurn:
    """A turn as a candidate of its own."""

    id: str
    turn: int
    text: str


@dataclass
class Draft:
    """What is known about a conversation so far."""

    loaded: Loaded
    transcript: Transcript
    questions: tuple[Question, ...]
    source: SourceText
    memories: Memories = field(default_factory=lambda: Memories(()))
    units: Units = field(default_factory=lambda: Units(()))
    rulings: Rulings = field(default_factory=Rulings)
    cells: Cells = field(default_factory=dict)
    spot: SpotCheck | None = None

    @classmethod
    def of(cls, loaded: Loaded, format: str) -> "Draft":
        """A conversation before the first pass."""
        transcript, questions = split(loaded.conversation, format)
        return cls(loaded, transcript, questions, source_text(transcript.sessions))

    @property
    def name(self) -> str:
        """The conversation's id."""
        return self.loaded.conversation.id

    @cached_property
    def turn_ids(self) -> dict[int, str]:
        """Turn ids by the numbers the passes use."""
        return dict(enumerate(self.transcript.turn, start=1))

    @cached_property
    def raw(self) -> list[RawTurn]:
        """The turns as candidates, by the rule that packages without a model use."""
        numbers = {id: number for number, id in self.turn_ids.items()}
        return [
            RawTurn(one.id, numbers[one.experience], one.text)
            for one in extracts(self.transcript)
            if one.kind == "raw"
        ]

    @property
    def repeats(self) -> list[FoundMemory]:
        """Memories that only repeat their turn, which is a candidate already."""
        raw = {(one.turn, one_line(one.text)) for one in self.raw}
        return [one for one in self.memories.found if (one.turn, one_line(one.text)) in raw]

    @property
    def written(self) -> Iterator[tuple[str, FoundMemory]]:
        """The model's other memories, with their ids."""
        left_out = set(self.repeats)
        seen: dict[int, int] = {}
        for one in self.memories.found:
            if one not in left_out:
                seen[one.turn] = seen.get(one.turn, 0) + 1
                yield f"{self.turn_ids[one.turn]}/memory-{seen[one.turn]}", one

    @property
    def shown_units(self) -> list[ShownUnit]:
        """The units as questions are compared with them."""
        sessions = {session.number: session for session in self.source.sessions}
        return [
            ShownUnit(
                number, unit.kind, sessions[self.session_of[unit.turn]].time, unit.statement,
                unit.quote, self.session_of[unit.turn],
            )
            for number, unit in enumerate(self.units.found, start=1)
        ]  # fmt: skip

    @property
    def numbered_units(self) -> list[tuple[int, FoundUnit]]:
        """Units by number, from 1."""
        return list(enumerate(self.units.found, start=1))

    def statement(self, number: int) -> str:
        """A unit's text, reworded where the adjudicator did."""
        if number in self.rulings.rewrites:
            return self.rulings.rewrites[number][0]
        return self.units.found[number - 1].statement

    @cached_property
    def session_of(self) -> dict[int, int]:
        """The session a turn belongs to."""
        return {
            turn.number: session.number
            for session in self.source.sessions
            for turn in session.turns
        }

    def pairs(self, judge_raw: bool, frame: str) -> set[Pair]:
        """The pairs for the judge: candidates with required units, of a session or of all.

        Raw turns that hold a unit's verified quote are decided; they are not asked about.
        """
        memories = [(memory.text, memory.turns) for _, memory in self.written]
        raw = [(one.text, (one.turn,)) for one in self.raw] if judge_raw else []
        asked: set[Pair] = set()
        for number in sorted(self.rulings.required):
            statement, own = self.statement(number), self.units.found[number - 1].turn
            texts = memories + [one for one in raw if one[1] != (own,)]
            asked |= {
                (text, statement)
                for text, turns in texts
                if frame == CONVERSATION or self.session_of[own] in map(self.session_of.get, turns)
            }
        return asked
