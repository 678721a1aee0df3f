"""Who decides which units a memory covers: the protocol, judges by name, lexical and pointer.

label_judges.py has the judges that read a file, model_judge.py the one that asks a model.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.package import TEMPORAL, EvidenceUnit, Package
from memaudit.core.scripts import SCRIPTS
from memaudit.core.text import terms
from memaudit.core.unit_parts import WholeUnit, whole_units
from memaudit.natural.coverage_rules import LEXICAL, has_words, lexical

if TYPE_CHECKING:
    from memaudit.models.session import ModelSession

Pair = tuple[str, str]
"""The id of a memory and the id of a unit."""

AskedPair = tuple[str, WholeUnit]
"""The text of a memory and a statement, with its parts if it has any."""


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
    is_heading: bool = False
    """A heading of a document, judged to know what entries owe to it."""


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
    """Decides coverage; the same one for every system.

    A judge that cannot read every script says so by an attribute `reads`; see readable.py.
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
    asked = None
    if pairs is not None:
        of_parts = ((id, core_of[unit]) for id, unit in pairs if unit in core_of)
        asked = list(dict.fromkeys((*pairs, *of_parts)))
    judged = judge.judge(memories, units, asked)
    lost: Counter[str] = Counter()
    cells = {id: with_cores(own, core_of, lost) for id, own in judged.cells.items()}
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
    kept = {unit for unit, cell in cells.items() if cell.value == 1}
    ruled = dict(cells)
    for unit, cell in cells.items():
        if unit in core_of and cell.value and not {unit, core_of[unit]} <= kept:
            ruled[unit] = replace(cell, value=Fraction(0))
            if lost is not None:
                lost[NO_CORE if unit in kept else IN_PART] += 1
    return ruled


DEFAULT_JUDGE = "offline"

KNOWN = "offline, offline:FILE, lexical, pointer, labels:FILE, calls:FILE, model:NAME"


def named_judge(
    name: str, memories: Path | None = None, session: "ModelSession | None" = None
) -> Judge:
    """The judge of that name.

    Labels may need a file that says what their ids stand for. A model is asked over a session.
    """
    kind, _, argument = name.partition(":")
    if kind == "labels" and argument:
        from memaudit.scoring.label_judges import LabelJudge

        return LabelJudge(listed_files(argument), listed_files(memories) if memories else ())
    if memories is not None:
        raise MemAuditError("a file of labelled memories goes with --judge labels:FILE only")
    if kind == "calls" and argument:
        from memaudit.scoring.label_judges import PublishedJudge

        return PublishedJudge(Path(argument))
    if kind == "model" and argument:
        if session is None:
            raise MemAuditError(
                f"judge {name!r}: this command asks no model; memaudit score, gate, sensitivity "
                "and audit judges do"
            )
        from memaudit.scoring.model_judge import ModelJudge

        return ModelJudge(session, argument)
    if kind == "offline":
        from memaudit.scoring.offline_judge import named_offline_judge

        return named_offline_judge(name)
    if name == "lexical":
        return LexicalJudge()
    if name == "pointer":
        return PointerJudge()
    raise MemAuditError(f"unknown judge {name!r}; known judges: {KNOWN}")


def listed_files(text: Path | str) -> list[Path]:
    """`FILE`, or `FILE,FILE,...`."""
    if Path(text).exists():
        return [Path(text)]
    return [Path(part) for part in str(text).split(",") if part]


def named_judges(
    names: Sequence[str], memories: Path | None = None, session: "ModelSession | None" = None
) -> list[Judge]:
    """Several judges; the file of labelled memories goes to those that are labels."""
    if memories is not None and not any(name.startswith("labels:") for name in names):
        raise MemAuditError("a file of labelled memories goes with a judge labels:FILE only")
    return [
        named_judge(name, memories if name.startswith("labels:") else None, session)
        for name in names
    ]


def refuse_equal_judge_names(judges: Sequence[Judge]) -> None:
    """Judges that are compared are distinguished by name."""
    counts = Counter(judge.name for judge in judges)
    for name, count in counts.items():
        if count > 1:
            raise MemAuditError(f"two judges are called {name!r}; name each once, or rename a file")


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
                "(memaudit score --label-template)"
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


LEAST_SHARED = 2
"""Units that share fewer terms with a memory are not looked at; lexical-v2 gives them nothing."""


class LexicalJudge:
    """The offline estimate: the share of a unit's words, numbers, dates and names in a memory.

    Blind to paraphrase, negation and who is meant. A part is kept where its statement is covered
    at all and the memory has all words of the part.
    """

    name = "lexical"
    is_estimate = judges_candidates = True
    reads = SCRIPTS

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        wholes = whole_units(units)
        units_with: dict[str, list[int]] = defaultdict(list)
        for place, whole in enumerate(wholes):
            for term in terms(whole.text):
                units_with[term].append(place)
        cells = {memory.id: _lexical_cells(memory.text, wholes, units_with) for memory in memories}
        return Judgement(only(cells, pairs))


def only(cells: Cells, pairs: Collection[Pair] | None) -> Cells:
    """The cells of some pairs; all where none are given."""
    if pairs is None:
        return cells
    wanted = set(pairs)
    return {
        memory: {unit: cell for unit, cell in own.items() if (memory, unit) in wanted}
        for memory, own in cells.items()
    }


def _lexical_cells(
    text: str, wholes: Sequence[WholeUnit], units_with: Mapping[str, Sequence[int]]
) -> dict[str, Cell]:
    known = terms(text) & units_with.keys()
    shared = Counter(place for term in known for place in units_with[term])
    cells = {}
    for place, count in shared.items():
        whole = wholes[place]
        if count < min(LEAST_SHARED, len(terms(whole.text))):
            continue
        guess = lexical(whole.text, text, whole.core.kind == TEMPORAL)
        if guess.value and not whole.has_parts:
            cells[whole.id] = Cell(guess.value, LEXICAL, guess.why)
        elif guess.value:
            kept = {name for name, words in whole.parts if has_words(text, words)}
            if whole.core.part in kept:
                cells |= {
                    unit.id: Cell(Fraction(1), LEXICAL, guess.why) for unit in whole.of_parts(kept)
                }
    return cells


POINTER = "exact:pointer"


class PointerJudge:
    """A memory covers, in full, every unit whose sources are all among the turns it names.

    Exact about what the store claims, and an upper bound on what its text says.
    """

    name = "pointer"
    is_estimate = True
    judges_candidates = False

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        sources = {unit.id: {source.id for source in unit.sources} for unit in units}
        known = set().union(*sources.values())
        named = {source for memory in memories for source in memory.sources}
        if memories and not named:
            raise MemAuditError("no memory of this store names its sources; use another judge")
        if named and not named & known:
            raise MemAuditError(
                f"no memory names a turn that a unit stands on: the store says {min(named)!r}, the "
                f"package {min(known, default='nothing')!r}; use the ids of its experiences"
            )
        cells = {
            memory.id: {
                unit: Cell(Fraction(1), POINTER, "names the turns")
                for unit, turns in sources.items()
                if turns and turns <= set(memory.sources)
            }
            for memory in memories
        }
        silent = sum(not memory.sources for memory in memories)
        return Judgement(
            only(cells, pairs), left_out={"memories that name no source": silent} if silent else {}
        )
