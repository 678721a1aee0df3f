"""Which required units do not support the answer: old values, where the current one is asked for.

Labels of updates cite the turn of the old value and that of the new one, and do not say which of
them is asked for. The rule `current-v1`: where a question requires a current unit, and the texts of
its current units hold the gold answer (by `answer-v2`), the stale units that it requires are not
needed to support an answer. Where they do not hold it (the old value is asked for, or both, or a
yes or no), everything that is required stays needed.

Evidence recall still counts all that is required; only the stage goes by what supports. Of the 21
update questions among 99 records of LongMemEval, the rule takes 15 to ask for the current value;
of the other 6, three ask for the old value and three for a yes.
"""

from collections.abc import Sequence

from memaudit.core.package import CURRENT, STALE, EvidenceUnit
from memaudit.downstream.scoring import scored
from memaudit.downstream.verdict import Verdict

RULE = "current-v1"


def outdated(question: str, gold: str | None, required: Sequence[EvidenceUnit]) -> dict[str, str]:
    """Ids and texts of the required stale units that an answer does not need."""
    current = " ".join(unit.text for unit in required if unit.kind == CURRENT)
    if gold is None or not current or scored(current, gold, question) is not Verdict.RIGHT:
        return {}
    return {unit.id: unit.text for unit in required if unit.kind == STALE}
