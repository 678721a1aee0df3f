"""Salience of memories: the system's own score, or calls of the published layout, never mixed."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from memaudit.adapters.published_layout import memory_id, read_salience_calls
from memaudit.audits.judges.protocol import NotJudged
from memaudit.core.text import counted


class SalienceCalls:
    """Scores by example and memory, as a file of calls gives them."""

    def __init__(self, path: Path) -> None:
        self.file = path.name
        calls = read_salience_calls(path)
        self.failed = len(calls.skipped)
        self._scores: dict[str, dict[str, Fraction]] = {name: {} for name in calls.examples}
        for row in calls.rows:
            self._scores[row.example][row.memory] = row.value

    def of(self, example: str, memories: Sequence[str]) -> dict[str, Fraction]:
        """The scores of an example's memories, those that have one."""
        if not memories:
            return {}
        if example not in self._scores:
            failed = f"; {counted(self.failed, 'call')} failed" if self.failed else ""
            raise NotJudged(f"{self.file}: has no salience of {example!r}{failed}")
        scores = self._scores[example]
        return {id: scores[known] for id in memories if (known := memory_id(example, id)) in scores}


@dataclass(frozen=True, slots=True)
class Salience:
    """Files of scores given at write time and with the question in sight. Without the first, a
    system's own scores count; with it, a memory that it does not name has none."""

    at_write_time: SalienceCalls | None = None
    query_aware: SalienceCalls | None = None


OWN_SALIENCE = Salience()


def read_salience(at_write_time: Path | None, query_aware: Path | None = None) -> Salience:
    """The files, as far as they are given."""
    return Salience(
        None if at_write_time is None else SalienceCalls(at_write_time),
        None if query_aware is None else SalienceCalls(query_aware),
    )
