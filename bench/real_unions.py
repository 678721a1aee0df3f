"""Family R, real: packages of real conversations with the stores that real systems wrote.

R1 is LoCoMo's conv-26 with given units and labels and a store of Mem0, which the lexical judge
judges; in R1j it judges the package as well. R2 has the labels of one pass instead. R4 are
conversations built from LoCoMo's annotations, with their observations as a store. R5 is the judged
union of seven stores. The files stay where they are: in the folder that MEMAUDIT_DATA names, or in
shared/data beside the project. What is not there is left out.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

from bench.instance import Instance
from bench.unions import BUDGETS
from memaudit.building.build_folder import BuildJob, plan_build
from memaudit.judges.label_files import read_labels
from memaudit.judges.label_judges import LabelJudge
from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import read_packages
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judging import judge_candidates, judge_store
from memaudit.kernel.score.unions import union_of
from memaudit.kernel.solvers.form import integer_form
from memaudit.kernel.solvers.packed import clean, pack
from memaudit.stores.registry import import_store

R1_BUDGETS = (*range(250, 950, 50), 1000, 2000, 4000)
R5_BUDGETS = (*BUDGETS[:-1], 2050, 2100, 2150, 4000)
"""With those where nearly everything is covered."""
R4_CONVERSATIONS = ("conv-26", "conv-42", "conv-49")

LOCOMO = "locomo/locomo10.json"
MEM0 = "stores/mem0/locomo_conv26_memories.jsonl"
CAPTURED = "captures/conv-26/union-judged.json"
UNITS, MEMORIES, LABELS = (
    f"labels/locomo_conv26/{name}.jsonl" for name in ("units", "memories", "coverage_pass_a")
)


@dataclass(frozen=True, slots=True)
class RealUnion:
    """A package and the budgets it is solved at."""

    name: str
    package: Package
    budgets: tuple[int, ...] = BUDGETS

    @property
    def instances(self) -> list[Instance]:
        form, cap = integer_form(self.package), self.package.group_cap
        instances = []
        for budget in self.budgets:
            packed = pack(form.at(Fraction(budget), cap))
            if packed is None:
                raise MemAuditError(f"{self.name}: its numbers are too large for 64 bits")
            instances.append(Instance(f"{self.name} B {budget}", clean(packed), self.package))
        return instances


def real_instances() -> list[Instance]:
    """All real problems whose files are there."""
    return [instance for union in real_unions() for instance in union.instances]


def real_unions() -> tuple[RealUnion, ...]:
    return _built(data_folder())


def absent() -> str:
    """What the family is without because files are not there, or an empty string."""
    folder = data_folder()
    names = [name for name, (_, files) in SOURCES.items() if not _has(folder, files)]
    if not names:
        return ""
    return f"without {', '.join(names)}: not all files are in {folder}; set MEMAUDIT_DATA"


def data_folder() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("MEMAUDIT_DATA", beside))


def _has(folder: Path, files: tuple[str, ...]) -> bool:
    return all((folder / file).is_file() for file in files)


@cache
def _built(folder: Path) -> tuple[RealUnion, ...]:
    return tuple(
        union for build, files in SOURCES.values() if _has(folder, files) for union in build(folder)
    )


def _with_mem0(folder: Path) -> Iterator[RealUnion]:
    labels = read_labels(folder / UNITS, folder / MEMORIES, [folder / LABELS])
    job = BuildJob(folder / LOCOMO, conversations=("conv-26",), labels=labels)
    (built,) = plan_build(job).built()
    package, mem0 = built.package, import_store([folder / MEM0])
    lexical = LexicalJudge()
    by_words = judge_store(package, mem0, lexical)
    by_labels = judge_store(package, mem0, LabelJudge([folder / LABELS], [folder / MEMORIES]))
    judged = judge_candidates(package, lexical)
    yield RealUnion("R1", union_of(package, [by_words]).package, R1_BUDGETS)
    yield RealUnion("R1j", union_of(judged, [by_words]).package)
    yield RealUnion("R2", union_of(package, [by_labels]).package)


def _with_observations(folder: Path) -> Iterator[RealUnion]:
    notes = import_store([folder / LOCOMO], "locomo-notes")
    observed = tuple(note for note in notes.memories if note.metadata["kind"] == "observation")
    store = notes.model_copy(update={"memories": observed})
    for built in plan_build(BuildJob(folder / LOCOMO, conversations=R4_CONVERSATIONS)).built():
        package = built.package
        judged = judge_store(package, store, LexicalJudge())
        yield RealUnion(f"R4 {package.name}", union_of(package, [judged]).package)


def _captured(folder: Path) -> Iterator[RealUnion]:
    (package,) = read_packages(folder / CAPTURED)
    yield RealUnion("R5", package, R5_BUDGETS)


SOURCES: dict[str, tuple[Callable[[Path], Iterator[RealUnion]], tuple[str, ...]]] = {
    "R1, R1j, R2": (_with_mem0, (LOCOMO, MEM0, UNITS, MEMORIES, LABELS)),
    "R4": (_with_observations, (LOCOMO,)),
    "R5": (_captured, (CAPTURED,)),
}
"""How each is built, and the files that it needs."""
