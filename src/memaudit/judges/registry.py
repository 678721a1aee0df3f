"""Judges by name, and the pointer judge.

lexical.py has the estimate by words, label_judges.py the judges that read a file, and
model_judge.py the one that asks a model.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import EvidenceUnit
from memaudit.kernel.score.judge import Cell, Judge, Judgement, MemoryText, Pair, only

if TYPE_CHECKING:
    from memaudit.models.session import ModelSession


KNOWN = "offline, offline:FILE, lexical, pointer, labels:FILE, calls:FILE, model:NAME"


def named_judge(
    name: str, memories: Path | None = None, session: "ModelSession | None" = None
) -> Judge:
    """The judge of that name.

    Labels may need a file that says what their ids stand for. A model is asked over a session.
    """
    kind, _, argument = name.partition(":")
    if kind == "labels" and argument:
        from memaudit.judges.label_judges import LabelJudge

        return LabelJudge(listed_files(argument), listed_files(memories) if memories else ())
    if memories is not None:
        raise MemAuditError("a file of labelled memories goes with --judge labels:FILE only")
    if kind == "calls" and argument:
        from memaudit.judges.label_judges import PublishedJudge

        return PublishedJudge(Path(argument))
    if kind == "model" and argument:
        if session is None:
            raise MemAuditError(
                f"judge {name!r}: this command asks no model; memaudit score, gate, sensitivity "
                "and audit judges do"
            )
        from memaudit.judges.model_judge import ModelJudge

        return ModelJudge(session, argument)
    if kind == "offline":
        from memaudit.judges.offline_judge import named_offline_judge

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


def judge_files(judges: Sequence[str], memories: Path | None) -> list[Path]:
    """The files that judges go by, in their order."""
    named = [judge.partition(":") for judge in judges if judge.startswith(("labels:", "calls:"))]
    files = [file for _, _, text in named for file in listed_files(text)]
    trained = [Path(judge.partition(":")[2]) for judge in judges if judge.startswith("offline:")]
    files += [file for file in trained if file.is_file()]
    return [*files, *(listed_files(memories) if memories else [])]


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
