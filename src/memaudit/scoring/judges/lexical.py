"""The offline estimate: shared words, numbers, dates and names; it knows little."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from memaudit.core.package import TEMPORAL, EvidenceUnit
from memaudit.core.text import terms
from memaudit.natural.coverage_rules import LEXICAL, lexical
from memaudit.scoring.judges.protocol import Cell, Judged, Judgement

LEAST_SHARED = 2
"""Units that share fewer terms with a memory are not looked at; lexical-v2 gives them nothing."""


class Lexical:
    """Containment of a unit's terms; blind to paraphrase, negation and who is meant."""

    name = "lexical"
    is_estimate = True

    def judge(self, memories: Sequence[Judged], units: Sequence[EvidenceUnit]) -> Judgement:
        having: dict[str, list[int]] = defaultdict(list)
        for place, unit in enumerate(units):
            for term in terms(unit.text):
                having[term].append(place)
        return Judgement({memory.id: self._of(memory, units, having) for memory in memories})

    @staticmethod
    def _of(
        memory: Judged, units: Sequence[EvidenceUnit], having: dict[str, list[int]]
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
