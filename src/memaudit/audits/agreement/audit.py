"""The agreement audit: every pair of raters on both scales, alpha, and the disputed cells."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memaudit.audits.agreement.alpha import DISTANCES, alpha, coincidences
from memaudit.audits.agreement.coded_frame import AS_DRAWN, NATURAL, CodedFrame, coded_frame
from memaudit.audits.agreement.comparison import Comparison, Crossing, crossing, measured
from memaudit.audits.agreement.disputed import Disputed, disputed
from memaudit.audits.agreement.estimate import Answer, Estimate, estimates
from memaudit.audits.agreement.groups import groupings, groups
from memaudit.audits.agreement.intervals import (
    Key,
    Question,
    alpha_question,
    answers,
    pair_question,
)
from memaudit.audits.agreement.raters import PACKAGE, Rater, compared_pairs, own_passes
from memaudit.audits.agreement.scale import COVERED_SCALE, LABEL_SCALE, SCALES, Scale
from memaudit.audits.frames.cell import Frame, LabelSet
from memaudit.audits.frames.columns import PUBLISHED_VALUES

DRAWS = 10_000
LEVELS: Mapping[str, tuple[str, ...]] = {
    LABEL_SCALE.name: tuple(DISTANCES),
    COVERED_SCALE.name: ("nominal",),  # of two categories every level says the same
}


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha of all annotators."""

    scale: Scale
    level: str
    balance: str
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class AgreementAudit:
    """What was found.

    `labels` counts each rater's labels; `consensus` the cells that annotators agree on and those
    they do not, by scale, and is empty for a single annotator. `own_passes` are the raters whose
    labels the package's own are. `key_column` is the published column that the key was read from;
    empty where it has a file of its own.
    """

    cells: int
    packages: int
    keyed: int
    key_column: str
    draws: int
    seed: int
    raters: tuple[Rater, ...]
    own_passes: tuple[str, ...]
    labels: Mapping[str, Mapping[str, int]]
    consensus: Mapping[str, Mapping[str, int]]
    comparisons: tuple[Comparison, ...]
    alphas: tuple[Alpha, ...]
    disputed: tuple[Disputed, ...]

    @property
    def has_partial(self) -> bool:
        """Whether anyone says partial; else both scales are the same."""
        return any(counts["partial"] for counts in self.labels.values())


def audit_agreement(
    frame: Frame,
    annotators: Sequence[LabelSet],
    models: Sequence[LabelSet] = (),
    draws: int = DRAWS,
    seed: int = 0,
) -> AgreementAudit:
    """Compare annotators, their consensus, models and the package's own labels."""
    held = coded_frame(frame, annotators, models)
    pairs = [
        crossing(first, second, scale, held.scaled[scale.name])
        for first, second in compared_pairs(held.raters)
        for scale in SCALES.values()
    ]
    scales = list(SCALES.values()) if len(held.annotators) > 1 else []
    questions: dict[Key, Question] = {}
    for name, weights in held.balances.items():
        for place, pair in enumerate(pairs):
            questions[place, name] = pair_question(pair, weights)
        for scale in scales:
            questions[scale.name, name] = alpha_question(
                held.of_annotators(scale.name), scale, LEVELS[scale.name], weights
            )
    packages = [cell.package for cell in frame.cells]
    found = answers(questions, held.profiles, packages, draws, seed)
    return AgreementAudit(
        cells=len(frame.cells),
        packages=len(set(packages)),
        keyed=sum(cell.id in frame.key for cell in frame.cells),
        key_column=_key_column(frame),
        draws=draws,
        seed=seed,
        raters=held.raters,
        own_passes=tuple(own_passes(frame, (one.name for one in held.raters))),
        labels={one.name: held.counts(one) for one in held.raters},
        consensus={scale.name: held.consensus_counts(scale.name) for scale in scales},
        comparisons=tuple(_comparisons(pairs, held, found, draws, seed)),
        alphas=tuple(
            one
            for scale in scales
            for name in held.balances
            for one in _alphas(scale, name, held, found[scale.name, name])
        ),
        disputed=tuple(disputed(frame.cells, held.raters, held.codes)),
    )


def _key_column(frame: Frame) -> str:
    said = {keyed.provenance for keyed in frame.key.values()}
    return next((name for name in PUBLISHED_VALUES if name in said), "")


def _comparisons(
    pairs: Sequence[Crossing], held: CodedFrame, found: Mapping[Key, Answer], draws: int, seed: int
) -> Iterator[Comparison]:
    parted = groupings(held.frame)
    own = {PACKAGE, *own_passes(held.frame, (one.name for one in held.raters))}
    dice = np.random.default_rng([seed, 2])
    for place, pair in enumerate(pairs):
        seen = {
            name: measured(pair, weights, found[place, name])
            for name, weights in held.balances.items()
        }
        by_own = not own.isdisjoint((pair.first.name, pair.second.name))
        apart = (groups(one, pair.places, pair.scale, by_own, draws, dice) for one in parted)
        yield Comparison(
            pair.first, pair.second, pair.scale, pair.cells, pair.left_out, seen[AS_DRAWN],
            seen.get(NATURAL), tuple(group for one in apart for group in one),
        )  # fmt: skip


def _alphas(scale: Scale, balance: str, held: CodedFrame, answer: Answer) -> Iterator[Alpha]:
    levels, weights = LEVELS[scale.name], held.balances[balance].exact
    table = coincidences(held.of_annotators(scale.name), weights, scale)
    values = [alpha(table, level, scale) for level in levels]
    for level, one in zip(levels, estimates(values, answer), strict=True):
        yield Alpha(scale, level, balance, one)
