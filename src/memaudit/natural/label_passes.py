"""Several label passes in one package: the first is its coverage, all are kept beside it.

They stand in the package's attributes, which writers never see, under `label_passes`:
`{"frame": "session" or "conversation" or "listed", "judged": CELLS, "passes": [{"name", "sha256",
"cells": [[candidate, unit, value, why], ...]}, ...]}`. A cell of the frame that a pass does not
list was judged not covered.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import JsonValue

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact, plain
from memaudit.core.package import Coverage, EvidenceUnit, Package
from memaudit.natural.coverage_rules import PASS, cell

FIELD = "label_passes"
SESSION, CONVERSATION, LISTED = "session", "conversation", "listed"
"""Frames: memories and units of one session, all of a conversation, or what any pass lists."""

HOME = "session"
"""The attribute of a unit that people place in another session than its first source's, or that
has no source."""

Cell = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LabelPass:
    """One pass's cells above 0, each with its value and reason."""

    name: str
    sha256: str
    cells: Mapping[Cell, tuple[Fraction, str]]


@dataclass(frozen=True, slots=True)
class LabelPasses:
    """The passes of a package, and how many cells each of them judged."""

    frame: str
    judged: int
    passes: tuple[LabelPass, ...]


def home_session(unit: EvidenceUnit) -> str | None:
    """The session where a unit is judged: where people place it, else where its first source is."""
    placed = unit.attributes.get(HOME)
    if placed is not None:
        return str(placed)
    return unit.sources[0].session if unit.sources else None


def packed(frame: str, judged: int, passes: Sequence[LabelPass]) -> JsonValue:
    """As the package's attributes hold them."""
    return {
        "frame": frame,
        "judged": judged,
        "passes": [
            {
                "name": one.name,
                "sha256": one.sha256,
                "cells": [
                    [candidate, unit, plain(value), why]
                    for (candidate, unit), (value, why) in sorted(one.cells.items())
                ],
            }
            for one in passes
        ],
    }


def label_passes(package: Package) -> LabelPasses | None:
    """The passes of a package; None where it has none."""
    data = package.attributes.get(FIELD)
    if data is None:
        return None
    try:
        return _unpacked(data)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise MemAuditError(
            f"{package.name}: its attribute {FIELD!r} is not as memaudit build writes it"
        ) from None


def _unpacked(data: JsonValue) -> LabelPasses:
    if not isinstance(data, dict) or not isinstance(data["passes"], list):
        raise TypeError("no object with a list of passes")
    passes = []
    for one in data["passes"]:
        if not isinstance(one, dict) or not isinstance(one["cells"], list):
            raise TypeError("no object with a list of cells")
        cells: dict[Cell, tuple[Fraction, str]] = {}
        for row in one["cells"]:
            if not isinstance(row, list):
                raise TypeError("no list")
            candidate, unit, value, why = row
            cells[str(candidate), str(unit)] = exact(value), str(why)
        passes.append(LabelPass(str(one["name"]), str(one["sha256"]), cells))
    return LabelPasses(str(data["frame"]), int(str(data["judged"])), tuple(passes))


def with_pass(package: Package, name: str) -> Package:
    """The package scored by another of its passes; rows that no pass labelled stay."""
    found = label_passes(package)
    known = {one.name: one for one in found.passes} if found else {}
    if name not in known:
        passes = ", ".join(known) or "none"
        raise MemAuditError(f"{package.name}: has no label pass {name!r}; its passes: {passes}")
    rows: list[Coverage] = [
        row for row in package.coverage if not (row.provenance or "").startswith(PASS)
    ]
    labelled = known[name].cells
    rows = [row for row in rows if (row.candidate, row.unit) not in labelled]
    rows += [
        cell(candidate, unit, value, f"{PASS}{name}", why)
        for (candidate, unit), (value, why) in sorted(labelled.items())
    ]
    return package.replace(coverage=tuple(rows))


Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Raw agreement and Cohen's kappa, exact; kappa is None where chance alone would agree."""

    one: str
    other: str
    cells: int
    agreed: int
    kappa: Fraction | None

    @property
    def raw(self) -> Fraction | None:
        """The share of cells with the same value."""
        return Fraction(self.agreed, self.cells) if self.cells else None


def kappa(pairs: Counter[Pair]) -> Fraction | None:
    """Cohen's kappa, unweighted: (observed - expected) / (1 - expected)."""
    total = pairs.total()
    if not total:
        return None
    rows: Counter[Fraction] = Counter()
    columns: Counter[Fraction] = Counter()
    for (one, other), count in pairs.items():
        rows[one] += count
        columns[other] += count
    observed = Fraction(sum(n for (one, other), n in pairs.items() if one == other), total)
    expected = Fraction(sum(count * columns[value] for value, count in rows.items()), total**2)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def agreements(labelled: Iterable[LabelPasses]) -> list[Agreement]:
    """Every two passes of the same names, their cells pooled over packages."""
    pooled: dict[tuple[str, str], Counter[Pair]] = {}
    for found in labelled:
        for place, one in enumerate(found.passes):
            for other in found.passes[place + 1 :]:
                pairs = pooled.setdefault((one.name, other.name), Counter())
                listed = one.cells.keys() | other.cells.keys()
                for at in listed:
                    values = [side.cells[at][0] if at in side.cells else 0 for side in (one, other)]
                    pairs[Fraction(values[0]), Fraction(values[1])] += 1
                # Cells that neither lists were judged by both as not covered.
                pairs[Fraction(0), Fraction(0)] += found.judged - len(listed)
    return [
        Agreement(one, other, pairs.total(), sum(n for (a, b), n in pairs.items() if a == b),
                  kappa(pairs))
        for (one, other), pairs in pooled.items()
    ]  # fmt: skip
