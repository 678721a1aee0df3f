"""Beyond the paper's table: Krippendorff's alpha, and where disagreements gather."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memaudit.report.labels.number import Number, estimate

STRATUM = "stratum"
"""The finest grouping: too many rows for a page; the JSON has them."""


@dataclass(frozen=True, slots=True)
class AlphaRow:
    """Krippendorff's alpha of all annotators, on one scale and level, in one balance."""

    scale: str
    level: str
    balance: str
    alpha: Number


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group of cells: its part of all compared cells, and of all disagreements."""

    by: str
    name: str
    cells: int
    of_cells: float
    disagreements: int
    of_disagreements: float | None
    rate: float
    kappa: Number


@dataclass(frozen=True, slots=True)
class Concentration:
    """Where one pair disagrees, on the scale that is fair to both."""

    pair: str
    scale: str
    cells: int
    disagreements: int
    rows: tuple[GroupRow, ...]


def alphas(data: Mapping[str, Any]) -> Iterator[AlphaRow]:
    """All of them, in the order of the audit."""
    over = str(data["interval"])
    for one in data["alpha"]:
        yield AlphaRow(
            str(one["scale"]), str(one["level"]), str(one["balance"]), estimate(one, over)
        )


def concentrations(data: Mapping[str, Any]) -> Iterator[Concentration]:
    """Annotators with each other, and with the package or a model: the first pair of each sort."""
    graded = _who_says_partial(data["raters"])
    for pair in _chosen(data["pairs"]):
        names = [str(pair[side]["name"]) for side in ("first", "second")]
        scale = "labels" if graded.issuperset(names) else "covered"
        compared = pair["scales"][scale]
        rows = tuple(_rows(compared["groups"], int(compared["cells"])))
        total = _disagreements(compared["as_drawn"]["confusion"])
        if rows and total:
            yield Concentration(" - ".join(names), scale, int(compared["cells"]), total, rows)


def _who_says_partial(raters: Sequence[Mapping[str, Any]]) -> set[str]:
    """The consensus does where an annotator does."""
    found = {str(one["name"]) for one in raters if one["labels"]["partial"]}
    people = {str(one["name"]) for one in raters if one["role"] == "annotator"}
    return found | ({"consensus"} if found & people else set())


def _chosen(pairs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first pair, and the first that brings in a package or a model, its consensus first."""
    within = [one for one in pairs if one["kind"] == "annotator-annotator"]
    across = [one for one in pairs if one["kind"] != "annotator-annotator"]
    return [*within[:1], *across[:1]]


def _rows(groups: Sequence[Mapping[str, Any]], cells: int) -> Iterator[GroupRow]:
    """The groups of every grouping that parts the cells, those with most disagreements first."""
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for one in groups:
        parts.setdefault(str(one["by"]), []).append(one)
    for by, members in parts.items():
        if by == STRATUM or len(members) < 2:
            continue
        for one in sorted(members, key=lambda member: -int(member["disagreements"])):
            share = one["share_of_disagreements"]
            yield GroupRow(
                by, str(one["group"]), int(one["cells"]), int(one["cells"]) / cells,
                int(one["disagreements"]), None if share is None else float(share),
                float(one["rate"]), estimate(one["kappa"], "over_cells"),
            )  # fmt: skip


def _disagreements(table: Sequence[Sequence[float]]) -> int:
    return int(sum(
        entry for i, row in enumerate(table) for j, entry in enumerate(row) if i != j
    ))  # fmt: skip
