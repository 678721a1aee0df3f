"""Two judges of the same memories and units: where they agree, and what it does to the scores."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.store_file import Memory
from memaudit.kernel.number_text import rounded
from memaudit.kernel.package.package import EvidenceUnit
from memaudit.kernel.score.judge import Cells, Pair
from memaudit.kernel.stats.agreement_coefficients import kappa_of_pairs
from memaudit.lab.studies.sensitivity import SensitivityRow

DIGITS = 9


@dataclass(frozen=True, slots=True)
class Detection:
    """One judge's positive cells against another's, taken as the truth; None is 0 of 0."""

    both: int
    only_first: int
    only_second: int

    @property
    def precision(self) -> Fraction | None:
        """The share of the first judge's cells that the second has too."""
        return _share(self.both, self.both + self.only_first)

    @property
    def recall(self) -> Fraction | None:
        """The share of the second judge's cells that the first has too."""
        return _share(self.both, self.both + self.only_second)

    @property
    def f1(self) -> Fraction | None:
        """The harmonic mean of precision and recall."""
        return _share(2 * self.both, 2 * self.both + self.only_first + self.only_second)


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """`judged` cells were decided by both; cells that a judge does not list are not covered.

    `undecided` cells, where a model gave no answer, are in no other count.
    """

    judged: int
    undecided: int
    covered: Detection
    full: Detection
    same_value: int
    kappa: Fraction | None


def judge_agreement(
    first: Cells, second: Cells, pairs: Iterable[Pair], undecided: Collection[Pair] = ()
) -> JudgeAgreement:
    """The first judge against the second over pairs of memory and unit."""
    no_answer = set(undecided)
    values: Counter[tuple[Fraction, Fraction]] = Counter()
    skipped = 0
    for pair in pairs:
        if pair in no_answer:
            skipped += 1
        else:
            values[_value(first, pair), _value(second, pair)] += 1
    return JudgeAgreement(
        judged=values.total(),
        undecided=skipped,
        covered=_detection(values, lambda value: value > 0),
        full=_detection(values, lambda value: value == 1),
        same_value=sum(count for (a, b), count in values.items() if a == b),
        kappa=kappa_of_pairs(values),
    )


def all_pairs(memories: Sequence[Memory], units: Sequence[EvidenceUnit]) -> list[Pair]:
    """Every memory with every unit."""
    return [(memory.id, unit.id) for memory in memories for unit in units]


def same_session_pairs(memories: Sequence[Memory], units: Sequence[EvidenceUnit]) -> list[Pair]:
    """Every memory with the units of its own session, where labels were given session by session.

    The session of a memory is the one its metadata names.
    """
    by_session: dict[str, list[str]] = {}
    for unit in units:
        for session in sorted(
            {source.session for source in unit.sources if source.session is not None}
        ):
            by_session.setdefault(session, []).append(unit.id)
    pairs = [
        (memory.id, unit)
        for memory in memories
        for unit in by_session.get(str(memory.metadata.get("session")), ())
    ]
    if not pairs:
        raise MemAuditError(
            "no memory names a session of this package in its metadata; compare all pairs instead"
        )
    return pairs


def agreement_row(agreement: JudgeAgreement) -> dict[str, Any]:
    """As plain data."""
    return {
        "judged_cells": agreement.judged,
        "undecided_cells": agreement.undecided,
        "same_value": agreement.same_value,
        "kappa": rounded(agreement.kappa),
        "any_coverage": _detection_row(agreement.covered),
        "full_coverage": _detection_row(agreement.full),
    }


def score_rows(
    first: Sequence[SensitivityRow], second: Sequence[SensitivityRow]
) -> list[dict[str, Any]]:
    """The scores of a store under both judges, budget by budget."""
    return [
        {
            "store": a.store,
            "budget": plain(a.budget),
            "kept_by": a.kept_by,
            "score": {"judge": rounded(a.kept), "against": rounded(b.kept)},
            "best_subset": {"judge": rounded(a.upper), "against": rounded(b.upper)},
            "uncertified_optima": a.uncertified + b.uncertified,
        }
        for a, b in zip(first, second, strict=True)
    ]


def _detection(
    values: Mapping[tuple[Fraction, Fraction], int], positive: Callable[[Fraction], bool]
) -> Detection:
    count: Counter[tuple[bool, bool]] = Counter()
    for (a, b), number in values.items():
        count[positive(a), positive(b)] += number
    return Detection(count[True, True], count[True, False], count[False, True])


def _detection_row(detection: Detection) -> dict[str, Any]:
    return {
        "both": detection.both,
        "only_judge": detection.only_first,
        "only_against": detection.only_second,
        "precision": rounded(detection.precision),
        "recall": rounded(detection.recall),
        "f1": rounded(detection.f1),
    }


def _value(cells: Cells, pair: Pair) -> Fraction:
    cell = cells.get(pair[0], {}).get(pair[1])
    return Fraction(0) if cell is None else cell.value


def _share(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None
