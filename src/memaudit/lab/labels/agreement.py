"""The agreement audit: every pair of raters on both scales, alpha, disputed cells, and its JSON."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from memaudit.kernel.exact import plain
from memaudit.kernel.package.labels import Label
from memaudit.kernel.package.unit_parts import part_shares
from memaudit.kernel.stats.agreement_coefficients import (
    DISTANCES,
    alpha,
    coincidence_table,
    kappa_of_pairs,
)
from memaudit.kernel.stats.bootstrap import LEVEL
from memaudit.lab.labels.cell_tables import PUBLISHED_VALUES
from memaudit.lab.labels.coded_labels import (
    AS_DRAWN,
    COVERED_SCALE,
    LABEL_SCALE,
    NATURAL,
    ORDER,
    SCALES,
    CodedLabels,
    Rater,
    Scale,
    code_labels,
    compared_pairs,
    own_passes,
)
from memaudit.lab.labels.frame import CANNOT_TELL, CONSENSUS, PACKAGE, Frame, FrameCell, LabelSet
from memaudit.lab.labels.pair_agreement import (
    DIGITS,
    MOST_GROUP_DRAWS,
    CoefficientIntervals,
    CoefficientTable,
    Comparison,
    Estimate,
    PairPlaces,
    TableKey,
    alpha_table,
    bootstrap_coefficients,
    comparison_data,
    estimate_data,
    estimates,
    groupings,
    groups,
    pair_coefficients,
    pair_places,
    pair_table,
)

DRAWS = 10_000
LEVELS: Mapping[str, tuple[str, ...]] = {
    LABEL_SCALE.name: tuple(DISTANCES),
    COVERED_SCALE.name: ("nominal",),  # with two categories all levels are equal
}


@dataclass(frozen=True, slots=True)
class AlphaEstimate:
    """Krippendorff's alpha of all annotators."""

    scale: Scale
    level: str
    balance: str
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class DisputedCell:
    """A cell, how far apart its two most different values are, and how many pairs differ."""

    cell: FrameCell
    labels: Mapping[str, Label]
    gap: Fraction
    pairs: int


@dataclass(frozen=True, slots=True)
class PartAgreement:
    """Two raters on the parts of statements: each kept or lost, and the statements they are of.

    `same` statements keep the same parts by both. `difference` is the mean difference of the share
    kept, of statements that both labelled; kappa is None if chance alone explains all.
    """

    first: Rater
    second: Rater
    parts: int
    agreed: int
    kappa: Fraction | None
    statements: int
    same: int
    difference: Fraction


@dataclass(frozen=True, slots=True)
class AgreementAudit:
    """The result of an agreement audit.

    `labels` counts each rater's labels. `consensus` counts, by scale, the cells that annotators
    agree on and those they do not; it is empty for a single annotator. `own_passes` are the raters
    that gave the package its labels. `key_column` is the published column that the key was read
    from, empty if the key has a file of its own. `parts` compares the same pairs by parts, where
    statements have some; in all other numbers a statement is one cell.
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
    alphas: tuple[AlphaEstimate, ...]
    disputed: tuple[DisputedCell, ...]
    parts: tuple[PartAgreement, ...] = ()

    @property
    def has_partial(self) -> bool:
        """Whether anyone answered partial; otherwise both scales are the same."""
        return any(counts["partial"] for counts in self.labels.values())


def audit_agreement(
    frame: Frame,
    annotators: Sequence[LabelSet],
    models: Sequence[LabelSet] = (),
    draws: int = DRAWS,
    seed: int = 0,
) -> AgreementAudit:
    """Compare annotators, their consensus, models and the package's own labels."""
    coded = code_labels(frame, annotators, models)
    pairs = [
        pair_places(first, second, scale, coded.scaled[scale.name])
        for first, second in compared_pairs(coded.raters)
        for scale in SCALES.values()
    ]
    scales = list(SCALES.values()) if len(coded.annotators) > 1 else []
    tables: dict[TableKey, CoefficientTable] = {}
    for name, weights in coded.balances.items():
        for place, pair in enumerate(pairs):
            tables[place, name] = pair_table(pair, weights)
        for scale in scales:
            tables[scale.name, name] = alpha_table(
                coded.of_annotators(scale.name), scale, LEVELS[scale.name], weights
            )
    packages = [cell.package for cell in frame.cells]
    intervals = bootstrap_coefficients(tables, coded.profiles, packages, draws, seed)
    return AgreementAudit(
        cells=len(frame.cells),
        packages=len(set(packages)),
        keyed=sum(cell.id in frame.key for cell in frame.cells),
        key_column=_key_column(frame),
        draws=draws,
        seed=seed,
        raters=coded.raters,
        own_passes=tuple(own_passes(frame, (rater.name for rater in coded.raters))),
        labels={rater.name: coded.counts(rater) for rater in coded.raters},
        consensus={scale.name: coded.consensus_counts(scale.name) for scale in scales},
        comparisons=tuple(_comparisons(pairs, coded, intervals, draws, seed)),
        alphas=tuple(
            estimate
            for scale in scales
            for name in coded.balances
            for estimate in _alphas(scale, name, coded, intervals[scale.name, name])
        ),
        disputed=tuple(disputed_cells(coded)),
        parts=tuple(_part_agreements(frame, coded, [*annotators, *models])),
    )


def _part_agreements(
    frame: Frame, coded: CodedLabels, label_sets: Sequence[LabelSet]
) -> Iterator[PartAgreement]:
    """Every compared pair but the consensus, on statements with parts that both labelled."""
    kept: dict[str, dict[str, frozenset[str]]] = {
        PACKAGE: {id: keyed.kept for id, keyed in frame.key.items()}
    }
    for said in label_sets:
        own = kept.setdefault(said.annotator, {})
        own.update(
            (id, parts) for id, parts in said.kept.items() if said.labels.get(id) != "cannot_tell"
        )
    for first, second in compared_pairs(coded.raters):
        if CONSENSUS in (first.name, second.name):
            continue
        pairs: Counter[tuple[Fraction, Fraction]] = Counter()
        statements = same = 0
        difference = Fraction(0)
        for cell in frame.cells:
            one, other = kept[first.name].get(cell.id), kept[second.name].get(cell.id)
            if not cell.parts or one is None or other is None:
                continue
            statements += 1
            same += one == other
            shares = dict(zip(cell.part_names, part_shares(len(cell.parts)), strict=True))
            first_share, second_share = (
                sum((shares[name] for name in kept_parts), Fraction(0))
                for kept_parts in (one, other)
            )
            difference += abs(first_share - second_share)
            pairs.update((Fraction(name in one), Fraction(name in other)) for name in shares)
        if statements:
            agreed = sum(
                number for (one_is, other_is), number in pairs.items() if one_is == other_is
            )
            yield PartAgreement(
                first,
                second,
                pairs.total(),
                agreed,
                kappa_of_pairs(pairs),
                statements,
                same,
                difference / statements,
            )


def _key_column(frame: Frame) -> str:
    provenances = {keyed.provenance for keyed in frame.key.values()}
    return next((name for name in PUBLISHED_VALUES if name in provenances), "")


def _comparisons(
    pairs: Sequence[PairPlaces],
    coded: CodedLabels,
    intervals: Mapping[TableKey, CoefficientIntervals],
    draws: int,
    seed: int,
) -> Iterator[Comparison]:
    ways = groupings(coded.frame)
    own = {PACKAGE, *own_passes(coded.frame, (rater.name for rater in coded.raters))}
    # Streams 0 and 1 are those of the intervals over cells and packages.
    dice = np.random.default_rng([seed, 2])
    for place, pair in enumerate(pairs):
        measured = {
            name: pair_coefficients(pair, weights, intervals[place, name])
            for name, weights in coded.balances.items()
        }
        # A pass that gave the package its labels is the package under another name.
        is_package = not own.isdisjoint((pair.first.name, pair.second.name))
        grouped = (groups(grouping, pair, is_package, draws, dice) for grouping in ways)
        yield Comparison(
            pair.first,
            pair.second,
            pair.scale,
            pair.cells,
            pair.left_out,
            measured[AS_DRAWN],
            measured.get(NATURAL),
            tuple(group for members in grouped for group in members),
        )


def _alphas(
    scale: Scale, balance: str, coded: CodedLabels, intervals: CoefficientIntervals
) -> Iterator[AlphaEstimate]:
    levels, weights = LEVELS[scale.name], coded.balances[balance].exact
    table = coincidence_table(coded.of_annotators(scale.name), weights, scale.size)
    values = [alpha(table, level, scale.values) for level in levels]
    for level, estimate in zip(levels, estimates(values, intervals), strict=True):
        yield AlphaEstimate(scale, level, balance, estimate)


def disputed_cells(coded: CodedLabels) -> list[DisputedCell]:
    """Cells with two different labels, by gap, then by pairs that differ, then by cell id.

    A rater who answered `cannot_tell` disputes nothing, but is listed.
    """
    cells, raters = coded.frame.cells, coded.raters
    matrix = np.stack([coded.codes[rater.name] for rater in raters])
    # Who cannot tell, or said nothing, disputes nothing: they are put above all labels for the
    # minimum and below for the maximum.
    says = matrix >= 0
    high = np.where(says, matrix, np.int8(-1)).max(axis=0)
    low = np.where(says, matrix, np.int8(len(ORDER))).min(axis=0)
    pairs = np.zeros(matrix.shape[1], np.int64)
    for i, j in combinations(range(len(raters)), 2):
        pairs += says[i] & says[j] & (matrix[i] != matrix[j])
    places = np.flatnonzero(pairs).tolist()
    # The widest gap first, then the most pairs; ids make the order one of a kind.
    places.sort(key=lambda at: (low[at] - high[at], -pairs[at], cells[at].id))
    return [
        DisputedCell(
            cells[at],
            _labels(raters, matrix[:, at].tolist()),
            LABEL_SCALE.values[high[at]] - LABEL_SCALE.values[low[at]],
            int(pairs[at]),
        )
        for at in places
    ]


def _labels(raters: Sequence[Rater], codes: Sequence[int]) -> dict[str, Label]:
    labels: dict[str, Label] = {}
    for rater, code in zip(raters, codes, strict=True):
        if code >= 0:
            labels[rater.name] = ORDER[code]
        elif code == CANNOT_TELL:
            labels[rater.name] = "cannot_tell"
    return labels


FEW_PACKAGES = 10


def agreement_notes(audit: AgreementAudit) -> list[str]:
    """What a reader must know about the numbers, one note per line without a full stop."""
    notes = [*_notes_on_key(audit)]
    if 1 < audit.packages < FEW_PACKAGES:
        notes.append(f"only {audit.packages} packages: intervals over packages are rough")
    return [*notes, *_notes_on_partial(audit)]


def _notes_on_key(audit: AgreementAudit) -> Iterator[str]:
    if audit.own_passes:
        names = ", ".join(audit.own_passes)
        yield f"the package's own labels are {names}: there is no row for the package"
    if not audit.keyed:
        yield "no key: nothing is compared with the package or reweighted"
    elif all(comparison.natural is None for comparison in audit.comparisons):
        yield "the key gives every cell the same weight: no natural balance to show"
    elif audit.keyed < audit.cells:
        yield (
            f"{audit.cells - audit.keyed:,} cells have no key: in the natural balance they are "
            "left out"
        )
    if audit.key_column.endswith("_label"):
        yield (
            f"the key is the published column {audit.key_column}, which is 1 for coverage of at "
            "least 0.5: its full may be partial, so read the covered scale"
        )
    elif audit.key_column:
        label = audit.key_column.replace("_coverage", "_label")
        yield (
            f"the key is the published column {audit.key_column}; the published {label} is 1 for "
            "coverage of at least 0.5, so with coverages 0, 0.5 and 1 it is the covered scale here"
        )


def _notes_on_partial(audit: AgreementAudit) -> Iterator[str]:
    """A rater who uses two labels only cannot agree with a partial; they mean covered or not."""
    if not audit.has_partial:
        yield "nobody answered partial: both scales are the same"
        return
    counts = audit.labels
    graded = [rater.title for rater in audit.raters if counts[rater.name]["partial"]]
    binary = [
        rater.title
        for rater in audit.raters
        if counts[rater.name]["full"] and not counts[rater.name]["partial"]
    ]
    if binary:
        yield (
            f"{', '.join(binary)} never answered partial, {', '.join(graded)} did: between them "
            "full against partial counts as disagreement on the scale of three labels; the covered "
            "scale is the fair one"
        )


def agreement_data(audit: AgreementAudit) -> dict[str, Any]:
    """The content of `audit agreement --json`."""
    pairs: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in audit.comparisons:
        names = comparison.first.name, comparison.second.name
        pairs.setdefault(names, []).append(comparison)
    data: dict[str, Any] = {
        "format": "memaudit-agreement",
        "version": 1,
        "cells": audit.cells,
        "packages": audit.packages,
        "cells_with_key": audit.keyed,
        "draws": audit.draws,
        "group_draws": min(audit.draws, MOST_GROUP_DRAWS),
        "seed": audit.seed,
        "level": LEVEL,
        "interval": "over_packages" if audit.packages > 1 else "over_cells",
        "raters": [{**_name(rater), "labels": audit.labels[rater.name]} for rater in audit.raters],
        "own_passes": audit.own_passes,
        "consensus": audit.consensus,
        "pairs": [
            {
                "first": _name(scales[0].first),
                "second": _name(scales[0].second),
                "kind": scales[0].kind,
                "scales": {pair.scale.name: comparison_data(pair) for pair in scales},
            }
            for scales in pairs.values()
        ],
        "alpha": [_alpha(estimate) for estimate in audit.alphas],
        "disputed": [_disputed(cell) for cell in audit.disputed],
        "notes": agreement_notes(audit),
    }
    if audit.parts:
        data["parts"] = [_parts(pair) for pair in audit.parts]
    return data


def _parts(pair: PartAgreement) -> dict[str, Any]:
    return {
        "first": _name(pair.first),
        "second": _name(pair.second),
        "parts": pair.parts,
        "agreed": pair.agreed,
        "kappa": None if pair.kappa is None else round(float(pair.kappa), DIGITS),
        "statements": pair.statements,
        "same_parts": pair.same,
        "mean_difference_of_share": round(float(pair.difference), DIGITS),
    }


def _name(rater: Rater) -> dict[str, str]:
    return {"name": rater.name, "role": rater.role}


def _alpha(alpha: AlphaEstimate) -> dict[str, Any]:
    return {
        "scale": alpha.scale.name,
        "level": alpha.level,
        "balance": alpha.balance,
        **estimate_data(alpha.estimate),
    }


def _disputed(disputed: DisputedCell) -> dict[str, Any]:
    cell = disputed.cell
    return {
        "cell_id": cell.id,
        "package": cell.package,
        "candidate_id": cell.candidate,
        "unit_id": cell.unit,
        "stratum": cell.stratum,
        "labels": disputed.labels,
        "gap": plain(disputed.gap),
        "differing_pairs": disputed.pairs,
        "candidate_text": cell.candidate_text,
        "unit_text": cell.unit_text,
    }
