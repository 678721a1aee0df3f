"""Statements with parts: who, what, when, where, amount, condition, polarity.

Every part is an evidence unit of its own, with h = min(1, z) and a share of the statement's weight.
So coverage of a statement is the weight of the union of the parts that a store keeps, and two
memories that lack the same part never add up to all of it. One part is the core, the value itself:
a memory that lacks it keeps no part.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memaudit.kernel.errors import MemAuditError, Problem
from memaudit.kernel.exact import common_denominator, plain
from memaudit.kernel.package.response import CLIPPED

if TYPE_CHECKING:
    from memaudit.kernel.package.package import Coverage, EvidenceUnit

CORE_SHARE = Fraction(1, 2)
"""The core's share of a statement's weight. The other parts share the rest equally."""

NO_PART = {"part_of": None, "part": None, "share": Fraction(1), "core": False}
"""The fields of a unit that is no part: what parts become where statements are taken apart."""

LONGEST_NAME = 40
NOT_IN_NAMES = "#;:()"
"""Characters that separate names of parts from other text in ids, texts and label files."""


@dataclass(frozen=True, slots=True)
class WholeUnit:
    """A unit as people read it: the whole statement, and the units of its parts, the core first.

    A plain unit is a statement without parts: its only unit is itself.
    """

    id: str
    text: str
    units: tuple["EvidenceUnit", ...]

    @property
    def has_parts(self) -> bool:
        return self.units[0].part_of is not None

    @property
    def core(self) -> "EvidenceUnit":
        return self.units[0]

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The names of the parts and their words, the core first; empty for a plain unit."""
        if not self.has_parts:
            return ()
        return tuple((unit.part or "", part_text(unit)[1]) for unit in self.units)

    @property
    def described(self) -> str:
        """The text, followed by the parts if there are any."""
        listed = "; ".join(f"{name}: {words}" for name, words in self.parts)
        return f"{self.text} [{listed}]" if listed else self.text

    def of_parts(self, names: Iterable[str]) -> tuple["EvidenceUnit", ...]:
        """The units of the parts of these names; a MemAuditError for a name it does not have."""
        by_name = {unit.part: unit for unit in self.units}
        wanted = set(names)
        if unknown := sorted(wanted - by_name.keys()):
            known = ", ".join(name for name, _ in self.parts) or "none"
            raise MemAuditError(f"unit {self.id!r} has no part {unknown[0]!r}; its parts: {known}")
        return tuple(unit for unit in self.units if unit.part in wanted)

    def share(self, kept: Collection[str]) -> Fraction:
        """The share of the statement that these unit ids make up."""
        return sum((unit.share for unit in self.units if unit.id in kept), Fraction(0))


def part_units(
    unit: "EvidenceUnit", parts: Sequence[tuple[str, str]]
) -> tuple["EvidenceUnit", ...]:
    """The units of a statement's parts, given as names and words, the core first.

    A statement with fewer than two parts stays as it is.
    """
    if len(parts) < 2:
        return (unit,)
    for name, words in parts:
        if not is_part_name(name):
            raise MemAuditError(
                f"unit {unit.id!r} has a part called {name!r}; names of parts are 1 to "
                f"{LONGEST_NAME} characters on one line without any of {NOT_IN_NAMES}"
            )
        if not has_usable_words(name, words):
            raise MemAuditError(f"part {name!r} of unit {unit.id!r} has no words that can be used")
    if repeated := [
        name for name, times in Counter(name for name, _ in parts).items() if times > 1
    ]:
        raise MemAuditError(f"unit {unit.id!r} has two parts called {repeated[0]!r}")
    if unit.alternatives:
        raise MemAuditError(f"unit {unit.id!r} has alternatives, so it cannot have parts")
    # Any other h would give a kept part less or more than its share, and the parts of a whole
    # statement would not add up to its weight.
    if unit.response != CLIPPED:
        raise MemAuditError(f"unit {unit.id!r} has parts, so its response must be min(1, z)")
    return tuple(
        unit.model_copy(
            update={
                "id": part_id(unit.id, name),
                "text": part_text_of(unit.text, name, " ".join(words.split())),
                "weight": None if unit.weight is None else unit.weight * share,
                "part_of": unit.id,
                "part": name,
                "share": share,
                "core": place == 0,
            }
        )
        for place, ((name, words), share) in enumerate(
            zip(parts, part_shares(len(parts)), strict=True)
        )
    )


def part_shares(count: int) -> list[Fraction]:
    """The shares of a statement's parts, of two or more, the core first."""
    return [CORE_SHARE] + [(1 - CORE_SHARE) / (count - 1)] * (count - 1)


def is_part_name(name: str) -> bool:
    return (
        0 < len(name) <= LONGEST_NAME
        and name == name.strip()
        and name.isprintable()
        and not set(NOT_IN_NAMES) & set(name)
    )


def has_usable_words(name: str, words: str) -> bool:
    """Whether a part of this name can have these words, so that they are found again."""
    return bool(words.strip()) and _mark(name) not in " ".join(words.split())


def part_id(statement: str, name: str) -> str:
    """The id of a part's unit."""
    return f"{statement}#{name}"


def part_text_of(statement: str, name: str, words: str) -> str:
    """The text of a part's unit: the statement, then the part."""
    return f"{statement}{_mark(name)}{words})"


def _mark(name: str) -> str:
    return f" ({name}: "


def part_text(unit: "EvidenceUnit") -> tuple[str, str]:
    """The statement's text and the words of the part, from a part's text.

    The words never contain the mark, so its last place is the right one.
    """
    statement, _, words = unit.text.removesuffix(")").rpartition(_mark(unit.part or ""))
    return statement, words


class NamedPart(NamedTuple):
    """A part as a row of results names it: the id and text of its statement, and its name."""

    statement: str
    text: str
    name: str


def named_part(id: str, text: str) -> NamedPart | None:
    """The part that the unit of this id and text is; None for a plain unit.

    Files of results have ids and texts only; those of parts are made by `part_units`.
    """
    statement, _, name = id.rpartition("#")
    whole, mark, words = text.removesuffix(")").rpartition(_mark(name))
    if not (statement and mark) or text != part_text_of(whole, name, words):
        return None
    return NamedPart(statement, whole, name)


Row = TypeVar("Row")


def by_statement(
    rows: Iterable[Row], statement: Callable[[Row], Hashable | None]
) -> list[list[Row]]:
    """The rows of units, those of the same statement together, in the order of their first rows.

    `statement` is None for the row of a plain unit, which stays alone.
    """
    together: dict[Hashable, list[Row]] = {}
    for place, row in enumerate(rows):
        name = statement(row)
        together.setdefault(place if name is None else (name,), []).append(row)
    return list(together.values())


def whole_units(units: Iterable["EvidenceUnit"]) -> tuple[WholeUnit, ...]:
    """The statements that units belong to, in the order of their first units.

    Where some parts of a statement are missing, the statement is made of those that are there.
    """
    # By kind as well as id: before a package is checked, a plain unit may have the id of a
    # statement.
    members: dict[tuple[bool, str], list[EvidenceUnit]] = {}
    for unit in units:
        is_part = unit.part_of is not None
        members.setdefault((is_part, unit.part_of or unit.id), []).append(unit)
    return tuple(
        WholeUnit(
            id,
            part_text(parts[0])[0] if is_part else parts[0].text,
            tuple(sorted(parts, key=lambda unit: not unit.core)),
        )
        for (is_part, id), parts in members.items()
    )


def statement_problems(units: Sequence["EvidenceUnit"]) -> Iterator[Problem]:
    """What is wrong with parts."""
    rows: dict[str, list[tuple[int, EvidenceUnit]]] = {}
    for row, unit in enumerate(units):
        if unit.part_of is not None and unit.part is not None:
            rows.setdefault(unit.part_of, []).append((row, unit))
        elif unit.part_of is not None or unit.part is not None or unit.core or unit.share != 1:
            yield Problem(
                "has only some of the fields of a part",
                "give part_of and part, or none of part_of, part, share and core",
                unit.id,
                "units",
                row,
            )
    ids = {unit.id for unit in units} if rows else set()
    for whole, members in rows.items():
        for row, unit in members:
            yield from _member_problems(whole, unit, ids, row)
        at = (whole, "units", members[0][0])
        parts = [unit for _, unit in members]
        if len({part_text(unit)[0] for unit in parts}) > 1:
            yield Problem("has parts with different statements", "begin them all alike", *at)
        for name, times in Counter(unit.part for unit in parts).items():
            if times > 1:
                yield Problem(f"has {times} parts called {name!r}", "name each part once", *at)
        cores = sum(unit.core for unit in parts)
        if cores != 1:
            yield Problem(
                f"has {cores or 'no'} part{'s' * (cores > 1)} marked as its core",
                "mark the part with the value itself",
                *at,
            )
        shares = [unit.share for unit in parts]
        if common_denominator(shares) is not None and (total := sum(shares, Fraction(0))) != 1:
            yield Problem(f"has parts with shares that sum to {plain(total)}", "make it 1", *at)


def core_problems(
    units: Sequence["EvidenceUnit"], coverage: Sequence["Coverage"]
) -> Iterator[Problem]:
    """Cells that break the rule of cores: a part is kept or lost, and none without its core.

    New packages are held to it. What `Package.replace` makes of them is not: lazy judging guesses
    values in between, and a core that rests on a rule may be left out alone.
    """
    parts = {unit.id: unit.part_of for unit in units if unit.part_of is not None}
    if not parts:
        return
    cores = {unit.part_of: unit.id for unit in units if unit.core}
    covered = {(cell.candidate, cell.unit) for cell in coverage if cell.value > 0}
    for row, cell in enumerate(coverage):
        whole = parts.get(cell.unit)
        if whole is None or cell.value <= 0:
            continue
        at = (f"{cell.candidate} x {cell.unit}", "coverage", row)
        core = cores.get(whole)
        if cell.value < 1:
            yield Problem(
                f"has coverage {plain(cell.value)} of a part",
                "a part is kept, 1, or lost, 0",
                *at,
            )
        elif core is not None and (cell.candidate, core) not in covered:
            covered.add((cell.candidate, core))  # one problem per statement
            yield Problem(
                f"keeps a part of {whole!r} without its core {core!r}",
                "add a cell of 1 for the core, or leave out the part",
                *at,
            )


def _member_problems(
    whole: str, unit: "EvidenceUnit", ids: Collection[str], row: int
) -> Iterator[Problem]:
    at = (unit.id, "units", row)
    if unit.id != part_id(whole, unit.part or ""):
        yield Problem(
            f"is the part {unit.part!r} of {whole!r} by another id",
            f"call it {part_id(whole, unit.part or '')}",
            *at,
        )
    if whole in ids:
        yield Problem(
            f"is a part of {whole!r}, which is a unit itself",
            "leave out the whole, or its parts",
            *at,
        )
    if not is_part_name(unit.part or ""):
        yield Problem(
            f"has the part name {unit.part!r}",
            f"use 1 to {LONGEST_NAME} characters on one line without any of {NOT_IN_NAMES}",
            *at,
        )
    else:
        words = part_text(unit)[1]
        if unit.text != part_text_of(part_text(unit)[0], unit.part or "", words) or (
            words != " ".join(words.split()) or not words
        ):
            yield Problem(
                f"has a text that does not end with its part, ({unit.part}: ...)",
                "write the statement, then the part on one line",
                *at,
            )
    if not 0 < unit.share <= 1:
        yield Problem(f"has the share {plain(unit.share)}", "shares are above 0, at most 1", *at)
    if unit.alternatives:
        yield Problem("is a part, and has alternatives", "give it one text", *at)
    if unit.response != CLIPPED:
        yield Problem("is a part, and its response is not min(1, z)", "leave it out", *at)
