"""One point: a writer's store for a package and a budget, its ratio and what came of it."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from memaudit.core.exact import plain
from memaudit.core.number_text import rounded
from memaudit.downstream.chain import UnitChain
from memaudit.downstream.examine import Finding, examine
from memaudit.downstream.spec import Setup
from memaudit.downstream.stores import WRITTEN, candidate_holding
from memaudit.experiments.evaluate import Subject
from memaudit.scoring.score import Ratio
from memaudit.writers.protocol import Writer

TARGETS = ("kept_recall", "evidence_recall", "answered", "right", "token_f1")
"""What the ratio is compared with."""


def points(
    subject: Subject,
    set_name: str,
    budgets: Sequence[tuple[str, Fraction]],
    writers: Sequence[Writer],
    setup: Setup,
    seed: int,
    skip: int = 0,
) -> Iterator[dict[str, Any]]:
    """The points of a package, by budget and writer, without the first `skip`."""
    package = subject.package
    places = [(budget, writer) for budget in budgets for writer in writers]
    for (given, budget), writer in places[skip:]:
        store = subject.written_by(writer, budget, seed)
        ratio = Ratio(subject.scorer.score(store).value, subject.oracle.optimum(budget))
        holding = candidate_holding(package, writer.name, store, WRITTEN)
        found = examine(package, holding, setup.retriever, setup.k, setup.reader)
        yield {
            "set": set_name,
            "package": package.name,
            "budget": given,
            "cost": plain(budget),
            "writer": writer.name,
            "peeks": writer.peeks,
            "ratio": None if ratio.value is None else rounded(ratio.value),
            "undefined": ratio.undefined,
            "questions": len(found),
            **_means(found),
        }


def _means(found: Sequence[Finding]) -> dict[str, float | None]:
    """Means over the questions where a number is defined."""

    def kept(share: Callable[[UnitChain], Fraction]) -> float | None:
        shares = [
            sum(map(share, one.chains), Fraction(0)) / len(one.chains)
            for one in found
            if one.chains
        ]
        return _mean(shares)

    measured = ("evidence_recall", "answered", "right", "token_f1", "words_retrieved")
    return {
        "kept_coverage": kept(lambda chain: min(chain.kept / chain.needs, Fraction(1))),
        "kept_recall": kept(lambda chain: Fraction(chain.kept >= chain.needs)),
        **{
            name: _mean([value for one in found if (value := one.measures[name]) is not None])
            for name in measured
        },
    }


def _mean(values: Sequence[Fraction]) -> float | None:
    return rounded(sum(values, Fraction(0)) / len(values)) if values else None
