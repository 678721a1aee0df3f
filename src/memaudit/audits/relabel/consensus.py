"""What annotators agree on, by the very rule of `audit agreement`; models have no say in it."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from memaudit.audits.agreement.coding import CANNOT_TELL, MISSING, REASONS, agreed
from memaudit.audits.agreement.raters import CONSENSUS
from memaudit.audits.relabel.labels import Cell
from memaudit.audits.relabel.readings import Reading


def annotators(readings: Sequence[Reading]) -> list[Reading]:
    """Those that are no models."""
    return [one for one in readings if one.role == "annotator"]


def consensus(readings: Sequence[Reading]) -> Reading | None:
    """The labels of cells that annotators agree on; None where there are not two of them.

    Numbers of passes other than 0, 1/2 and 1 are alike where they are equal. Cells without a
    consensus keep the package's label and are counted by reason.
    """
    people = annotators(readings)
    if len(people) < 2:
        return None
    found: dict[str, dict[Cell, Fraction]] = {}
    unsettled: Counter[str] = Counter()
    for package in sorted({name for one in people for name in one.labels}):
        cells = sorted(set().union(*(one.asked(package) for one in people)))
        values = sorted({value for one in people for value in one.labels.get(package, {}).values()})
        place = {value: at for at, value in enumerate(values)}
        codes = np.array([_codes(one, package, cells, place) for one in people], np.int64)
        result = agreed(codes.reshape(len(people), len(cells))).tolist()
        found[package] = {
            at: values[code] for at, code in zip(cells, result, strict=True) if code >= 0
        }
        unsettled.update(REASONS[code] for code in result if code < 0)
    counts = {name: unsettled[name] for name in REASONS.values()}
    return Reading(CONSENSUS, found, "consensus", unsettled=counts)


def _codes(
    reading: Reading, package: str, cells: Sequence[Cell], place: dict[Fraction, int]
) -> list[int]:
    labels, doubtful = reading.labels.get(package, {}), reading.undecided.get(package, frozenset())
    return [
        place[labels[at]] if at in labels else CANNOT_TELL if at in doubtful else MISSING
        for at in cells
    ]
