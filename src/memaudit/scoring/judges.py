"""What a judge takes and gives, the judges that need no file, and judges by name."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.package import TEMPORAL, EvidenceUnit
from memaudit.core.text import terms
from memaudit.natural.coverage_rules import LEXICAL, lexical

if TYPE_CHECKING:
    from memaudit.models.session import ModelSession


Pair = tuple[str, str]
"""The id of a memory and the id of a unit."""


@dataclass(frozen=True, slots=True)
class Cell:
    """How much of a unit a memory preserves, and who says so."""

    value: Fraction
    provenance: str
    rationale: str = ""


Cells = Mapping[str, Mapping[str, Cell]]
"""By memory id, then by unit id; what is not there is not covered."""


class NotJudged(MemAuditError):
    """Nobody said anything about this store and package: no score, and no zero."""


@dataclass(frozen=True, slots=True)
class MemoryText:
    """A memory as a judge sees it: its words, the turns it names, and the package in question."""

    id: str
    text: str
    sources: tuple[str, ...] = ()
    example: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What memories cover; pairs that got no answer, which is no zero; labels that fit nothing."""

    cells: Cells
    undecided: tuple[Pair, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


class Judge(Protocol):
    """Decides coverage; the same one for every system."""

    @property
    def name(self) -> str: ...

    @property
    def is_estimate(self) -> bool:
        """Whether its word is a guess that every output must mark as one."""
        ...

    def judge(self, memories: Sequence[MemoryText], units: Sequence[EvidenceUnit]) -> Judgement:
        """What each memory of one store covers."""
        ...


ESTIMATE = "an ESTIMATE by shared words, not labels"
_BY_NAME = {
    "model": "as a model judged",
    "pointer": "by the turns that memories name as their sources",
}


def judged_how(judge: str, is_estimate: bool) -> str:
    """The remark that follows a judge's name."""
    if is_estimate:
        return ESTIMATE
    return _BY_NAME.get(judge.partition(" ")[0], "as labelled")


LEAST_SHARED = 2
"""Units that share fewer terms with a memory are not looked at; lexical-v2 gives them nothing."""


class LexicalJudge:
    """Containment of a unit's terms; blind to paraphrase, negation and who is meant."""

    name = "lexical"
    is_estimate = True

    def judge(self, memories: Sequence[MemoryText], units: Sequence[EvidenceUnit]) -> Judgement:
        having: dict[str, list[int]] = defaultdict(list)
        for place, unit in enumerate(units):
            for term in terms(unit.text):
                having[term].append(place)
        return Judgement({memory.id: self._of(memory, units, having) for memory in memories})

    @staticmethod
    def _of(
        memory: MemoryText, units: Sequence[EvidenceUnit], having: dict[str, list[int]]
    ) -> dict[str, Cell]:
        shared = Counter(place for term in terms(memory.text) for place in having.get(term, ()))
        cells = {}
        for place, count in shared.items():
            unit = units[place]
            if count < min(LEAST_SHARED, len(terms(unit.text))):
                continue
            guess = lexical(unit.text, memory.text, unit.kind == TEMPORAL)
            if guess.value:
                cells[unit.id] = Cell(guess.value, LEXICAL, guess.why)
        return cells


POINTER = "exact:pointer"
SILENT = "memories that name no source"


class PointerJudge:
    """A memory covers, in full, every unit whose sources are all among the turns it names.

    Exact about what the store claims, and an upper bound on what its text says.
    """

    name = "pointer"
    is_estimate = False

    def judge(self, memories: Sequence[MemoryText], units: Sequence[EvidenceUnit]) -> Judgement:
        wanted = {unit.id: {source.id for source in unit.sources} for unit in units}
        turns = set().union(*wanted.values())
        named = {source for memory in memories for source in memory.sources}
        if memories and not named:
            raise MemAuditError("no memory of this store names its sources; use another judge")
        if named and not named & turns:
            raise MemAuditError(
                f"no memory names a turn that a unit stands on: the store says {min(named)!r}, the "
                f"package {min(turns, default='nothing')!r}; use the ids of its experiences"
            )
        silent = sum(not memory.sources for memory in memories)
        return Judgement(
            {
                memory.id: {
                    unit: Cell(Fraction(1), POINTER, "names the turns")
                    for unit, turns in wanted.items()
                    if turns and turns <= set(memory.sources)
                }
                for memory in memories
            },
            left_out={SILENT: silent} if silent else {},
        )


KNOWN = "lexical, pointer, labels:FILE, calls:FILE, model:NAME"


def named_judge(
    name: str, memories: Path | None = None, session: "ModelSession | None" = None
) -> Judge:
    """The judge of that name; labels may need a file that says what their ids stand for.

    A model is asked over a session.
    """
    kind, _, file = name.partition(":")
    if kind == "labels" and file:
        from memaudit.scoring.label_judges import LabelJudge

        return LabelJudge(Path(file), memories)
    if memories is not None:
        raise MemAuditError("a file of labelled memories goes with --judge labels:FILE only")
    if kind == "calls" and file:
        from memaudit.scoring.label_judges import PublishedJudge

        return PublishedJudge(Path(file))
    if kind == "model" and file:
        if session is None:
            raise MemAuditError(
                f"judge {name!r}: nothing here asks a model; memaudit score, gate, judge and "
                "sensitivity do"
            )
        # What asks models is loaded only where one is asked.
        from memaudit.scoring.model_judge import ModelJudge

        return ModelJudge(session, file)
    if name == "lexical":
        return LexicalJudge()
    if name == "pointer":
        return PointerJudge()
    raise MemAuditError(f"unknown judge {name!r}; known judges: {KNOWN}")


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
    """Judges that are compared are told apart by name."""
    called = [judge.name for judge in judges]
    for name in called:
        if called.count(name) > 1:
            raise MemAuditError(f"two judges are called {name!r}; name each once, or rename a file")


def refuse_shared_ids(
    names: Sequence[str], memories: Path | None, stores: Sequence[ExportedStore]
) -> None:
    """A judge that goes by ids alone cannot tell two stores apart that share one."""
    by_id = [name for name in names if _goes_by_id(name, memories)]
    seen: set[str] = set()
    for store in stores:
        ids = {memory.id for memory in store.active}
        if by_id and (shared := sorted(ids & seen)):
            raise MemAuditError(
                f"two stores have a memory {shared[0]!r}, and {by_id[0].partition(':')[0]} name "
                "memories by id: score one store at a time, or give memaudit score a --judge for "
                "each store"
            )
        seen |= ids


def _goes_by_id(name: str, memories: Path | None) -> bool:
    return name.startswith("calls:") or (name.startswith("labels:") and memories is None)
