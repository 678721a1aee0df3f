"""Label rows fitted to a conversation, and the misfits among them."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from pydantic import JsonValue

from memaudit.building.candidates import Offer
from memaudit.building.coverage_rules import names
from memaudit.building.evidence import LocatedUnit, query_of
from memaudit.building.label_passes import HOME_SESSION
from memaudit.building.transcript import Transcript, turn_text
from memaudit.conversations.conversation import Question
from memaudit.judges.label_files import LabelFile, LabelRow, labelled_units, named_parts
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import PASS, coverage_row
from memaudit.kernel.package.package import Coverage, EvidenceUnit, Query, Source
from memaudit.kernel.package.unit_parts import WholeUnit
from memaudit.kernel.words.text import contains

MISFIT_KINDS = {
    "quote not found": "kept; the quote is not used",
    "no turns": "kept; only labels can cover it",
    "unknown turn": "left out of the row",
    "unknown session": "left out of the row",
    "unknown question": "left out of the row",
    "memory without a place": "left out",
    "unknown memory": "left out",
    "unknown unit": "left out",
    "repeated cell": "the first is kept",
    "part without its core": "counts as lost",
    "unknown conversation": "not used",
}
"""Every kind of misfit and what is done about it."""


@dataclass(frozen=True, slots=True)
class Misfit:
    file: str
    line: int
    id: str
    what: str
    found: str
    done: str


@dataclass(slots=True)
class Misfits:
    """Collects misfits and counts the quotes that were found."""

    rows: list[Misfit] = field(default_factory=list)
    quotes: int = 0
    quotes_found: int = 0

    def add(self, row: LabelRow, id: str, what: str, found: object = "") -> None:
        """Add a misfit; `what` is a key of MISFIT_KINDS."""
        self.rows.append(Misfit(row.file, row.line, id, what, str(found)[:80], MISFIT_KINDS[what]))


UNVERIFIED = "unverified_quote"
"""The attribute for a quote that is in none of its turns."""

LabelledCells = dict[tuple[str, str], Coverage]


@dataclass(frozen=True, slots=True)
class LabelFitting:
    """A conversation that label rows are fitted to."""

    name: str
    transcript: Transcript
    questions: tuple[Question, ...]
    misfits: Misfits

    def units(self, file: LabelFile) -> tuple[list[LocatedUnit], list[Query]]:
        """The units, and the queries with the units that they require."""
        evidence: list[LocatedUnit] = []
        required: dict[str, list[str]] = defaultdict(list)
        seen: set[str] = set()
        for row in file.of(self.name):
            id = row.text("unit_id")
            if id in seen:
                raise row.wrong(f"the unit {id!r} is listed twice")
            seen.add(id)
            evidence.append(self._unit(row, id))
            for question in row.many("questions"):
                if (question_id := self._question(question)) is None:
                    self.misfits.add(row, id, "unknown question", question)
                elif id not in required[question_id]:
                    required[question_id] += [unit.id for unit in evidence[-1].units]
        queries = [query_of(question, required[question.id]) for question in self.questions]
        return evidence, queries

    def _unit(self, row: LabelRow, id: str) -> LocatedUnit:
        turns = self._turns(row, id, row.many("turns", "dia_ids"))
        session = self._session(row, id)
        if session is None and turns:
            session = self.transcript.turn[turns[0]].session
        quote = row.optional("quote") or ""
        # Without turns, the quote says which turn of the session is meant.
        searched = turns or self._turns_of(session)
        texts = {turn: turn_text(self.transcript.turn[turn]) for turn in searched}
        holder = next((turn for turn in searched if contains(texts[turn], quote)), None)
        self.misfits.quotes += bool(quote)
        self.misfits.quotes_found += holder is not None
        if quote and holder is None:
            self.misfits.add(row, id, "quote not found", quote)
        if not turns:
            self.misfits.add(row, id, "no turns")
        cited = turns or ((holder,) if holder else ())
        attributes: dict[str, JsonValue] = {}
        if (note := row.optional("note")) is not None:
            attributes["note"] = note
        if quote and holder is None:
            attributes[UNVERIFIED] = quote
        first = self.transcript.turn[cited[0]].session if cited else None
        if session is not None and session != first:
            # A pass judges the unit there, and no source says so.
            attributes[HOME_SESSION] = session
        unit = EvidenceUnit(
            id=id,
            kind=row.optional("kind") or "fact",
            text=row.text("text"),
            timestamp=self.transcript.turn[cited[-1]].timestamp if cited else None,
            sources=tuple(
                Source(
                    id=turn,
                    session=self.transcript.turn[turn].session,
                    text=quote if turn == holder else texts[turn],
                )
                for turn in cited
            ),
            attributes=attributes,
        )
        who = " ".join(sorted(names(unit.text)))
        located = LocatedUnit(
            unit, turns, session, unit.text, quote if holder else "", who, parts=named_parts(row)
        )
        try:
            located.units  # noqa: B018 - refuses parts that cannot be made
        except MemAuditError as error:
            raise row.wrong(str(error)) from None
        return located

    def memories(
        self, file: LabelFile, judged: bool, extracts: Sequence[Offer]
    ) -> tuple[list[Offer], list[tuple[str, str]]]:
        """The memories, and extra steps of the stream for those without a source turn.

        A row without a text says that the extract of that id was labelled too.

        Such a memory gets a step of its own after its session, because it is not known which of
        the session's turns it competes with.
        """
        offers: list[Offer] = []
        steps: list[tuple[str, str]] = []
        seen: set[str] = set()
        by_id = {offer.id: offer for offer in extracts}
        for row in file.of(self.name):
            id = row.text("memory_id")
            if id in seen:
                raise row.wrong(f"the memory {id!r} is listed twice")
            seen.add(id)
            if row.optional("text") is None:
                if id not in by_id:
                    raise row.wrong(f"has no text, and no extract is called {id!r}")
                extract = replace(by_id[id], generator=f"labels:{file.name}", judged=judged)
                offers.append(extract)
                continue
            points = self._sources(row, id)
            session = self._session(row, id)
            if points:
                experience = max(points, key=lambda turn: self.transcript.place[turn])
                session = self.transcript.turn[experience].session
            elif session is not None:
                experience = f"{session}/memory/{id}"
                steps.append((session, experience))
            else:
                self.misfits.add(row, id, "memory without a place")
                continue
            offers.append(
                Offer(
                    id,
                    experience,
                    row.optional("kind") or "fact",
                    row.text("text"),
                    f"labels:{file.name}",
                    points=points,
                    about=None if points else session,
                    judged=judged,
                    confidence=None
                    if row.optional("confidence") is None
                    else row.share("confidence"),
                )
            )
        return offers, steps

    def cells(
        self,
        file: LabelFile,
        candidates: set[str],
        units: Mapping[str, WholeUnit],
        left_out: set[str],
    ) -> LabelledCells:
        """The cells of one pass; `left_out` memories are misfits already."""
        labelled: LabelledCells = {}
        for row in file.of(self.name):
            memory, unit = row.text("memory_id"), row.text("unit_id")
            at = f"{memory} x {unit}"
            if memory in left_out:
                continue
            if memory not in candidates:
                self.misfits.add(row, at, "unknown memory", memory)
            elif unit not in units:
                self.misfits.add(row, at, "unknown unit", unit)
            else:
                whole, why = units[unit], row.optional("why") or ""
                values = labelled_units(row, whole)
                # Labels are kept as they are elsewhere. This one contradicts the rule of parts,
                # which the checker would refuse in the package.
                if whole.has_parts and any(values.values()) and not values[whole.core.id]:
                    self.misfits.add(row, at, "part without its core", whole.core.part)
                    values = dict.fromkeys(values, Fraction(0))
                if earlier := [
                    labelled[memory, own] for own in values if (memory, own) in labelled
                ]:
                    if [cell.value for cell in earlier] != list(values.values()):
                        raise row.wrong(f"labels {at} twice, with different values")
                    self.misfits.add(row, at, "repeated cell")
                    continue
                for own, value in values.items():
                    labelled[memory, own] = coverage_row(
                        memory, own, value, f"{PASS}{file.name}", why
                    )
        return labelled

    def _turns(self, row: LabelRow, id: str, cited: Sequence[object]) -> tuple[str, ...]:
        """The turns that a row cites, each once, in order of time."""
        turns: set[str] = set()
        for turn in map(str, cited):
            if turn in self.transcript.turn_ids:
                turns.add(self.transcript.turn_ids[turn])
            else:
                self.misfits.add(row, id, "unknown turn", turn)
        return tuple(sorted(turns, key=lambda turn: self.transcript.place[turn]))

    def _sources(self, row: LabelRow, id: str) -> tuple[str, ...]:
        """The source turns of a memory: its `turn`, or its sources if each names a turn."""
        if (turn := row.optional("turn")) is not None:
            return self._turns(row, id, [turn])
        cited: list[object] = []
        for source in row.many("sources"):
            named = source
            if isinstance(source, dict):
                named = source.get("turn", source.get("dia"))
                if named is None:
                    return ()
            cited.append(named)
        return self._turns(row, id, cited)

    def _session(self, row: LabelRow, id: str) -> str | None:
        named = row.optional("session")
        if named is None:
            return None
        if named not in self.transcript.session_ids:
            self.misfits.add(row, id, "unknown session", named)
        return self.transcript.session_ids.get(named)

    def _turns_of(self, session: str | None) -> tuple[str, ...]:
        if session is None:
            return ()
        return tuple(turn.id for turn in self.transcript.session[session].turns)

    def _question(self, given: object) -> str | None:
        """A question by its id, or by its number in the file, counted from 0."""
        ids = [question.id for question in self.questions]
        if str(given) in ids:
            return str(given)
        if not re.fullmatch("[0-9]{1,9}", str(given)):
            return None
        if f"qa{given}" in ids:
            return f"qa{given}"
        numbered = any(id.startswith("qa") for id in ids)  # LoCoMo: the number is in the id
        place = int(str(given))
        return ids[place] if not numbered and place < len(ids) else None
