"""The agreement audit: every pair of raters on both scales, alpha, and the disputed cells."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from memaudit.label_audit.alpha import DISTANCES, alpha, coincidences
from memaudit.label_audit.cell_tables import PUBLISHED_VALUES
from memaudit.label_audit.cells import Frame, FrameCell, Label, LabelSet
from memaudit.label_audit.coding import (
    AS_DRAWN,
    CANNOT_TELL,
    COVERED_SCALE,
    LABEL_SCALE,
    NATURAL,
    ORDER,
    SCALES,
    CodedFrame,
    Codes,
    Scale,
    coded_frame,
)
from memaudit.label_audit.pair_agreement import (
    Answer,
    Comparison,
    Crossing,
    Estimate,
    Key,
    Question,
    alpha_question,
    answers,
    crossing,
    estimates,
    groupings,
    groups,
    measured,
    pair_question,
)
from memaudit.label_audit.raters import PACKAGE, Rater, compared_pairs, own_passes


@dataclass(frozen=True, slots=True)
class Disputed:
    """A cell, how far apart its two most different values are, and how many pairs differ."""

    cell: FrameCell
    labels: Mapping[str, Label]
    gap: Fraction
    pairs: int


def disputed(
    cells: Sequence[FrameCell], found: Sequence[Rater], codes: Mapping[str, Codes]
) -> list[Disputed]:
    """Cells with two different labels, by gap, then by pairs that differ, then by cell id.

    Whoever could not tell disputes nothing, but is shown.
    """
    matrix = np.stack([codes[one.name] for one in found])
    known = matrix >= 0
    high = np.where(known, matrix, np.int8(-1)).max(axis=0)
    low = np.where(known, matrix, np.int8(len(ORDER))).min(axis=0)
    pairs = np.zeros(matrix.shape[1], np.int64)
    for one, other in combinations(range(len(found)), 2):
        pairs += known[one] & known[other] & (matrix[one] != matrix[other])
    places = np.flatnonzero(pairs).tolist()
    places.sort(key=lambda at: (low[at] - high[at], -pairs[at], cells[at].id))
    return [
        Disputed(
            cells[at],
            _labels(found, codes, at),
            LABEL_SCALE.values[high[at]] - LABEL_SCALE.values[low[at]],
            int(pairs[at]),
        )
        for at in places
    ]


def _labels(found: Sequence[Rater], codes: Mapping[str, Codes], at: int) -> dict[str, Label]:
    said: dict[str, Label] = {}
    for one in found:
        code = int(codes[one.name][at])
        if code >= 0:
            said[one.name] = ORDER[code]
        elif code == CANNOT_TELL:
            said[one.name] = "cannot_tell"
    return said


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


FEW_PACKAGES = 10


def notes(found: AgreementAudit) -> list[str]:
    """All of them, without a full stop."""
    return [*_about_key(found), *_about_packages(found), *_about_partial(found)]


def _about_key(found: AgreementAudit) -> Iterator[str]:
    if found.own_passes:
        names = ", ".join(found.own_passes)
        yield f"the package's own labels are {names}: there is no row for the package"
    if not found.keyed:
        yield "no key: nothing is compared with the package or reweighted"
    elif all(one.natural is None for one in found.comparisons):
        yield "the key gives every cell the same weight: no natural balance to show"
    elif found.keyed < found.cells:
        yield (
            f"{found.cells - found.keyed:,} cells have no key: in the natural balance they are "
            "left out"
        )
    if found.key_column.endswith("_label"):
        yield (
            f"the key is the published column {found.key_column}, which is 1 from a coverage of "
            "0.5 on: its full may be partial, so read the covered scale"
        )
    elif found.key_column:
        label = found.key_column.replace("_coverage", "_label")
        yield (
            f"the key is the published column {found.key_column}; the published {label} is 1 from "
            "a coverage of 0.5 on, so with coverages 0, 0.5 and 1 it is the covered scale here"
        )


def _about_packages(found: AgreementAudit) -> Iterator[str]:
    if 1 < found.packages < FEW_PACKAGES:
        yield f"only {found.packages} packages: intervals over packages are rough"


def _about_partial(found: AgreementAudit) -> Iterator[str]:
    """Whoever labels in two steps cannot agree with a partial; what they mean is covered."""
    if not found.has_partial:
        yield "nobody says partial: both scales are the same"
        return
    counts = found.labels
    graded = [one.title for one in found.raters if counts[one.name]["partial"]]
    binary = [
        one.title
        for one in found.raters
        if counts[one.name]["full"] and not counts[one.name]["partial"]
    ]
    if binary:
        yield (
            f"{', '.join(binary)} never said partial, {', '.join(graded)} did: between them full "
            "against partial counts as disagreement on the scale of three labels; the covered "
            "scale is the fair one"
        )
