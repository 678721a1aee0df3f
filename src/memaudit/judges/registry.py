"""Judges by name, and the pointer judge.

An outside package names a list of its own kinds by the entry point group `memaudit.judges`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.io.entry_points import Registered
from memaudit.kernel.package.package import EvidenceUnit
from memaudit.kernel.score.judge import Cell, Judge, Judgement, MemoryText, Pair, only

if TYPE_CHECKING:
    from memaudit.models.session import ModelSession


@dataclass(frozen=True, slots=True)
class JudgeKind:
    """A kind of judge, and how to make one; an outside package lists its own by an entry point."""

    name: str
    """What stands before the colon: `labels` of `labels:FILE`."""
    make: Callable[[str, Path | None, "ModelSession | None"], Judge]
    """A judge, of what stands after the colon, the file of labelled memories, and a session with a
    model; None for what is not given."""
    forms: tuple[str, ...]
    """How a command names it, such as `offline` and `offline:FILE`."""
    files: Callable[[str], list[Path]] = lambda _: []
    """The files that a judge of this argument reads: a run is resumed only if they are the same."""
    takes_memories: bool = False
    """Whether a file of labelled memories goes with it."""

    def takes(self, argument: str) -> bool:
        """Whether a form has an argument where one is given, or none where none is."""
        return any((":" in form) == bool(argument) for form in self.forms)


# Each judge is imported when it is made: commands list judges, and numpy or a model client takes
# longer to load than most of them run.
def _offline(argument: str, *_: object) -> Judge:
    from memaudit.judges.offline_judge import named_offline_judge

    return named_offline_judge(f"offline:{argument}" if argument else "offline")


def _labels(argument: str, memories: Path | None, *_: object) -> Judge:
    from memaudit.judges.label_judges import LabelJudge

    return LabelJudge(listed_files(argument), listed_files(memories) if memories else ())


def _calls(argument: str, *_: object) -> Judge:
    from memaudit.judges.label_judges import PublishedJudge

    return PublishedJudge(Path(argument))


def _model(argument: str, _: Path | None, session: "ModelSession | None") -> Judge:
    if session is None:
        raise MemAuditError(
            f"judge 'model:{argument}': this command asks no model; memaudit score, gate and "
            "study sensitivity do"
        )
    from memaudit.judges.model_judge import ModelJudge

    return ModelJudge(session, argument)


def _offline_files(argument: str) -> list[Path]:
    # Whether there is such a file is said when the judge is made, with the names that there are.
    return [Path(argument)] if Path(argument).is_file() else []


JUDGES = (
    JudgeKind("offline", _offline, ("offline", "offline:FILE"), _offline_files),
    JudgeKind("lexical", lambda *_: LexicalJudge(), ("lexical",)),
    JudgeKind("pointer", lambda *_: PointerJudge(), ("pointer",)),
    JudgeKind("labels", _labels, ("labels:FILE",), lambda files: listed_files(files), True),
    JudgeKind("calls", _calls, ("calls:FILE",), lambda files: listed_files(files)),
    JudgeKind("model", _model, ("model:NAME",)),
)
"""Ours; the entry point `builtin` of the group `memaudit.judges` names this list."""

KINDS: Registered[JudgeKind] = Registered("memaudit.judges")


def named_judge(
    name: str, memories: Path | None = None, session: "ModelSession | None" = None
) -> Judge:
    """The judge that a command names as KIND or KIND:ARGUMENT.

    `memories` says what the ids of labels stand for, where labels do not say it themselves. A model
    is asked over `session`.
    """
    kind, argument = _kind_of(name)
    if kind is None or not kind.takes(argument):
        forms = ", ".join(form for kind in KINDS.values() for form in kind.forms)
        raise MemAuditError(f"unknown judge {name!r}; known judges: {forms}")
    if memories is not None and not kind.takes_memories:
        raise _no_labels()
    return kind.make(argument, memories, session)


def _kind_of(name: str) -> tuple[JudgeKind | None, str]:
    kind, _, argument = name.partition(":")
    return KINDS.get(kind), argument


def _takes_memories(name: str) -> bool:
    kind, _ = _kind_of(name)
    return kind is not None and kind.takes_memories


def _no_labels() -> MemAuditError:
    return ParameterError("a file of labelled memories goes with {judge} labels:FILE only")


def listed_files(text: Path | str) -> list[Path]:
    """`FILE`, or `FILE,FILE,...`."""
    if Path(text).exists():
        return [Path(text)]
    return [Path(part) for part in str(text).split(",") if part]


def judge_files(judges: Sequence[str], memories: Path | None) -> list[Path]:
    """The files that judges go by, in their order, and the labelled memories."""
    named = [(kind, argument) for kind, argument in map(_kind_of, judges) if kind is not None]
    files = [file for kind, argument in named if argument for file in kind.files(argument)]
    return [*files, *(listed_files(memories) if memories else [])]


def named_judges(
    names: Sequence[str], memories: Path | None = None, session: "ModelSession | None" = None
) -> list[Judge]:
    """Several judges; the file of labelled memories goes to those that are labels."""
    if memories is not None and not any(map(_takes_memories, names)):
        raise _no_labels()
    return [
        named_judge(name, memories if _takes_memories(name) else None, session) for name in names
    ]


def refuse_equal_judge_names(judges: Sequence[Judge]) -> None:
    """Judges that are compared are distinguished by name."""
    counts = Counter(judge.name for judge in judges)
    for name, count in counts.items():
        if count > 1:
            raise MemAuditError(f"two judges are called {name!r}; name each once, or rename a file")


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
        cited = set().union(*sources.values())
        named = {source for memory in memories for source in memory.sources}
        if memories and not named:
            raise MemAuditError("no memory of this store names its sources; use another judge")
        if named and not named & cited:
            raise MemAuditError(
                f"no memory names a turn that a unit stands on: the store says {min(named)!r}, the "
                f"package {min(cited, default='nothing')!r}; use the ids of its experiences"
            )
        cells = {
            memory.id: {
                unit: Cell(Fraction(1), POINTER, "names the turns")
                for unit, turns in sources.items()
                if turns and turns <= set(memory.sources)
            }
            for memory in memories
        }
        # A store may name sources of some memories alone; the others count as lost, which has to be
        # said.
        silent = sum(not memory.sources for memory in memories)
        return Judgement(
            only(cells, pairs), left_out={"memories that name no source": silent} if silent else {}
        )
