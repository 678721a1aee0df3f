"""The agreement audit: every pair of raters on both scales, and the disputed cells."""

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby

import numpy as np

from memaudit.kernel.exact import plain
from memaudit.lab.labels.agreement_file import (
    AgreementFile,
    DisputedCell,
    PairAgreement,
    RaterCounts,
    RaterName,
)
from memaudit.lab.labels.coded_labels import (
    LABEL_SCALE,
    ORDER,
    SCALES,
    CodedLabels,
    Rater,
    code_labels,
    compared_pairs,
)
from memaudit.lab.labels.frame import CANNOT_TELL, Frame, LabelSet
from memaudit.lab.labels.pair_agreement import measured_pairs, pair_places

DRAWS = 10_000
FEW_PACKAGES = 10


def audit_agreement(
    frame: Frame,
    annotators: Sequence[LabelSet],
    models: Sequence[LabelSet] = (),
    draws: int = DRAWS,
    seed: int = 0,
) -> AgreementFile:
    """Compare annotators, their consensus, models and the package's own labels."""
    coded = code_labels(frame, annotators, models)
    pairs = [
        pair_places(first, second, scale, coded)
        for first, second in compared_pairs(coded.raters)
        for scale in SCALES.values()
    ]
    measured = zip(pairs, measured_pairs(pairs, coded, draws, seed), strict=True)
    packages = len({cell.package for cell in frame.cells})
    audit = AgreementFile(
        cells=len(frame.cells),
        packages=packages,
        cells_with_key=sum(cell.id in frame.key for cell in frame.cells),
        draws=draws,
        seed=seed,
        interval="over_packages" if packages > 1 else "over_cells",
        raters=[
            RaterCounts(name=rater.name, role=rater.role, labels=coded.counts(rater))
            for rater in coded.raters
        ],
        own_passes=coded.own_passes,
        consensus={
            name: coded.consensus_counts(name) for name in SCALES if len(coded.annotators) > 1
        },
        pairs=[
            PairAgreement(
                first=_name(first),
                second=_name(second),
                kind=f"{first.role}-{second.role}",
                scales={pair.scale.name: own for pair, own in scales},
            )
            for (first, second), scales in groupby(
                measured, key=lambda row: (row[0].first, row[0].second)
            )
        ],
        disputed=list(disputed_cells(coded)),
    )
    return audit.model_copy(update={"notes": tuple(_notes(audit, frame))})


def _name(rater: Rater) -> RaterName:
    return RaterName(name=rater.name, role=rater.role)


def disputed_cells(coded: CodedLabels) -> Iterator[DisputedCell]:
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
    for at in places:
        cell = cells[at]
        yield DisputedCell(
            cell_id=cell.id,
            package=cell.package,
            candidate_id=cell.candidate,
            unit_id=cell.unit,
            stratum=cell.stratum,
            labels=_labels(raters, matrix[:, at].tolist()),
            gap=plain(LABEL_SCALE.values[high[at]] - LABEL_SCALE.values[low[at]]),
            differing_pairs=int(pairs[at]),
            candidate_text=cell.candidate_text,
            unit_text=cell.unit_text,
        )


def _labels(raters: Sequence[Rater], codes: Sequence[int]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for rater, code in zip(raters, codes, strict=True):
        if code >= 0:
            labels[rater.name] = ORDER[code]
        elif code == CANNOT_TELL:
            labels[rater.name] = "cannot_tell"
    return labels


def _notes(audit: AgreementFile, frame: Frame) -> Iterator[str]:
    """What a reader must know about the numbers, one note per line without a full stop."""
    if audit.own_passes:
        names = ", ".join(audit.own_passes)
        yield f"the package's own labels are {names}: there is no row for the package"
    if not audit.cells_with_key:
        yield "no key: nothing is compared with the package or reweighted"
    elif all(own.natural is None for pair in audit.pairs for own in pair.scales.values()):
        yield "the key gives every cell the same weight: no natural balance to show"
    elif audit.cells_with_key < audit.cells:
        missing = audit.cells - audit.cells_with_key
        yield f"{missing:,} cells have no key: in the natural balance they are left out"
    if any(cell.parts for cell in frame.cells):
        yield "statements with parts are compared whole: any two partial labels agree"
    if 1 < audit.packages < FEW_PACKAGES:
        yield f"only {audit.packages} packages: intervals over packages are rough"
    yield from _notes_on_partial(audit)


def _notes_on_partial(audit: AgreementFile) -> Iterator[str]:
    """A rater who uses two labels only cannot agree with a partial; they mean covered or not."""
    if not audit.has_partial:
        yield "nobody answered partial: both scales are the same"
        return
    graded = [rater.title for rater in audit.raters if rater.labels["partial"]]
    binary = [
        rater.title
        for rater in audit.raters
        if rater.labels["full"] and not rater.labels["partial"]
    ]
    if binary:
        yield (
            f"{', '.join(binary)} never answered partial, {', '.join(graded)} did: between them "
            "full against partial counts as disagreement on the scale of three labels; the covered "
            "scale is the fair one"
        )
