"""Coverage by pointer: a memory that names its source turns holds what they say, as it claims."""

from collections.abc import Sequence
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit
from memaudit.scoring.judges.protocol import Cell, Judged, Judgement

POINTER = "exact:pointer"
SILENT = "memories that name no source"


class Pointer:
    """A memory covers, in full, every unit whose sources are all among the turns it names.

    Exact about what the store claims, and an upper bound on what its text says.
    """

    name = "pointer"
    is_estimate = False

    def judge(self, memories: Sequence[Judged], units: Sequence[EvidenceUnit]) -> Judgement:
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
