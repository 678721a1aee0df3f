"""Who decides which units a memory covers: what a judge is asked, and what it says."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import EvidenceUnit, Package
from memaudit.kernel.package.unit_parts import whole_units
from memaudit.kernel.words.scripts import SCRIPTS, script_shares

Pair = tuple[str, str]
"""The id of a memory and the id of a unit."""


@dataclass(frozen=True, slots=True)
class Cell:
    """How much of a unit a memory preserves, and who says so."""

    value: Fraction
    provenance: str
    rationale: str = ""
    upper: Fraction | None = None
    """What it could be at most, where nobody judged it."""


Cells = Mapping[str, Mapping[str, Cell]]
"""By memory id, then by unit id. A cell that is missing is not covered."""


@dataclass(frozen=True, slots=True)
class MemoryText:
    """A memory as a judge sees it: its text, the turns it names, and the package in question."""

    id: str
    text: str
    sources: tuple[str, ...] = ()
    example: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What memories cover, the pairs that got no answer, and counts of labels that were not used.

    No answer is not a zero: outputs count undecided pairs. `unknown` are texts that a file of
    labels says nothing about.
    """

    cells: Cells
    undecided: tuple[Pair, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()


class NotJudged(MemAuditError):
    """Nothing is known about this store and package, so there is no score. It is not a zero."""


class Judge(Protocol):
    """Decides coverage: one for all stores, or one each where files of labels name memories by id.

    A judge that cannot read every script says so by an attribute `reads`; .
    """

    @property
    def name(self) -> str: ...

    @property
    def is_estimate(self) -> bool:
        """Whether its judgement is a guess that every output must mark as one."""
        ...

    @property
    def judges_candidates(self) -> bool:
        """Whether it can also judge the candidates of a package, by their texts or ids."""
        ...

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        """What each memory of one store covers; of `pairs` alone where they are given."""
        ...


def for_package(judge: Judge, package: Package) -> Judge:
    """The judge of one package's pairs: some read its conversation, by a method of this name."""
    bind: Callable[[Package], Judge] | None = getattr(judge, "for_package", None)
    return judge if bind is None else bind(package)


NO_CORE = "parts kept without the core of their statement: they count as lost"
IN_PART = "parts judged between 0 and 1: they count as lost"


def ask_judge(
    judge: Judge,
    memories: Sequence[MemoryText],
    units: Sequence[EvidenceUnit],
    pairs: Collection[Pair] | None = None,
) -> Judgement:
    """What a judge says, with the rule of parts: a part is kept or lost, and it is lost where the
    core of its statement is.

    Where `pairs` have a part, the judge is asked about its core too. What breaks the rule is
    counted.
    """
    core_of = cores(units)
    if not core_of:
        return judge.judge(memories, units, pairs)
    # A part cannot be ruled on without its core, which the caller may not have asked about; the
    # cell of the core is left out again by `only`.
    asked = None
    if pairs is not None:
        of_parts = ((id, core_of[unit]) for id, unit in pairs if unit in core_of)
        asked = list(dict.fromkeys((*pairs, *of_parts)))
    judged = judge.judge(memories, units, asked)
    lost: Counter[str] = Counter()
    cells = {id: with_cores(row, core_of, lost) for id, row in judged.cells.items()}
    wanted = None if pairs is None else set(pairs)
    return replace(
        judged,
        cells=only(cells, pairs),
        undecided=tuple(pair for pair in judged.undecided if wanted is None or pair in wanted),
        left_out={**judged.left_out, **lost},
    )


def cores(units: Iterable[EvidenceUnit]) -> dict[str, str]:
    """The core of every part's statement, by ids; a core is its own."""
    return {
        unit.id: whole.core.id
        for whole in whole_units(units)
        if whole.has_parts
        for unit in whole.units
    }


def with_cores(
    cells: Mapping[str, Cell], core_of: Mapping[str, str], lost: Counter[str] | None = None
) -> dict[str, Cell]:
    """The cells of one text under the rule of parts; what breaks it is added to `lost`."""
    # A core that is itself in part leaves `kept`, and takes the other parts of its statement along.
    kept = {unit for unit, cell in cells.items() if cell.value == 1}
    ruled = dict(cells)
    for unit, cell in cells.items():
        if unit in core_of and cell.value and not {unit, core_of[unit]} <= kept:
            ruled[unit] = replace(cell, value=Fraction(0))
            if lost is not None:
                lost[NO_CORE if unit in kept else IN_PART] += 1
    return ruled


def goes_by_id(judge: Judge) -> bool:
    """Whether a judge knows memories by their ids alone, and not by their texts."""
    return getattr(judge, "goes_by_id", False)


def refuse_shared_ids(judge: Judge, stores: Sequence[ExportedStore]) -> None:
    """A judge that goes by ids alone cannot distinguish two stores that share one."""
    if not goes_by_id(judge):
        return
    seen: set[str] = set()
    for store in stores:
        ids = {memory.id for memory in store.active}
        if shared := sorted(ids & seen):
            raise MemAuditError(
                f"two stores have a memory {shared[0]!r}, and {judge.name} names memories by id: "
                "score one store at a time, give one judge per store, or write labels with texts "
                "(memaudit label sheets)"
            )
        seen |= ids


def judged_how(judge: str, is_estimate: bool) -> str:
    """The remark that follows a judge's name."""
    by_kind = {
        "offline": "an ESTIMATE by a small trained model, not labels",
        "lexical": "an ESTIMATE by shared words, not labels",
        "model": "as a model judged",
        "pointer": "an ESTIMATE by the turns that memories name as their sources",
    }
    kind = re.split("[ :,]", judge)[0]
    if is_estimate and kind not in by_kind:
        return "an ESTIMATE: much of it rests on assumed cells"
    return by_kind.get(kind, "as labelled")


def only(cells: Cells, pairs: Collection[Pair] | None) -> Cells:
    """The cells of some pairs; all where none are given."""
    if pairs is None:
        return cells
    wanted = set(pairs)
    return {
        memory: {unit: cell for unit, cell in row.items() if (memory, unit) in wanted}
        for memory, row in cells.items()
    }


# What a judge cannot read has no score: it would call it not covered, and that is not a zero. A
# judge says by the attribute `reads` which scripts it can read (names of words/scripts.py); without
# it, or with None, it reads every one.

ENOUGH = Fraction(1, 5)
"""The share of a text that matters. A name or the word user in another script does not."""


class ScriptAware(Protocol):
    """A judge, or a filter of pairs."""

    @property
    def name(self) -> str: ...


def scripts_read(reader: ScriptAware) -> frozenset[str] | None:
    """The scripts that a judge or a filter can read; None for every one."""
    reads: frozenset[str] | None = getattr(reader, "reads", None)
    return reads


def refuse_unreadable(
    reader: ScriptAware, package: Package, memories: Iterable[str] = (), other: str = ""
) -> None:
    """Raise if a judge cannot read the units or the memories, or compare the two.

    `other` is what to use instead.
    """
    known = scripts_read(reader)
    if known is None:
        return
    units, written = script_shares(unit.text for unit in package.units), script_shares(memories)
    for what, shares in ((f"the package {package.name!r}", units), ("the store", written)):
        if foreign := _unreadable(shares, known):
            instead = other or _instead(foreign)
            raise NotJudged(
                f"{what} is written in {foreign}, which {reader.name} cannot read; use {instead}"
            )
    # Both may be readable and still not comparable: a store in Russian about a conversation in
    # English has no word in common with it, whatever it remembers.
    shared = sum((min(share, written.get(name, Fraction(0))) for name, share in units.items()), 0)
    if units and written and shared < ENOUGH:
        raise NotJudged(
            f"the store is written in {next(iter(written))} and the package {package.name!r} in "
            f"{next(iter(units))}, and {reader.name} compares words of one script; use "
            f"{other or MODELS_AND_LABELS}"
        )


def foremost_script(units: Iterable[str]) -> str:
    """The script that most of some texts is written in."""
    return next(iter(script_shares(units)), "")


MODELS_AND_LABELS = "model:NAME or labels:FILE"


def _unreadable(shares: Mapping[str, Fraction], known: frozenset[str]) -> str | None:
    """The foremost script that is not known, if there is enough of all that are not."""
    # All foreign scripts count together: a tenth in each of two is a fifth that is not read.
    foreign = {script: share for script, share in shares.items() if script not in known}
    return next(iter(foreign)) if sum(foreign.values()) >= ENOUGH else None


def _instead(script: str) -> str:
    lexical = "lexical, " if script in SCRIPTS else ""
    return lexical + MODELS_AND_LABELS
