"""A label audit as one HTML file: agreement, where disagreements gather, moved ratios."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.io.atomic import write_file
from memaudit.io.files import read_text
from memaudit.io.strict_json import floats, parse_json
from memaudit.report.page_kit import environment, one_file


@dataclass(frozen=True, slots=True)
class Number:
    """A coefficient with its interval; None where it is undefined, or has no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


UNKNOWN = Number(None)


def estimate(data: Mapping[str, Any] | None, over: str) -> Number:
    """A coefficient with the interval over cells or packages, whichever is the headline one."""
    if data is None:
        return UNKNOWN
    between = data.get(over) or {}
    return Number(real(data["value"]), real(between.get("low")), real(between.get("high")))


def number(data: Mapping[str, Any] | None, name: str = "value") -> Number:
    """A number under a name, beside its ends."""
    if data is None:
        return UNKNOWN
    return Number(*(real(data.get(key)) for key in (name, "low", "high")))


def real(value: object) -> float | None:
    """The number; None for anything else."""
    return float(value) if isinstance(value, int | float) else None


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


AGREEMENT, RATIOS = "memaudit-agreement", "memaudit-label-ratios"
SCALES = {"labels": "full, partial, none", "covered": "covered at all, or not"}
MOST_CELLS = 12
MOST_UNITS = 5


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two labellers on one scale, on the frame as drawn or in the packages' balance.

    Agreement on what is covered and on what is not is there on the scale of these two.
    """

    pair: str
    scale: str
    balance: str
    cells: int
    kappa: Number
    raw: Number
    positive: Number = UNKNOWN
    negative: Number = UNKNOWN


@dataclass(frozen=True, slots=True)
class Dispute:
    """A cell that labellers see differently."""

    at: str
    said: Sequence[tuple[str, str]]
    candidate: str
    unit: str


@dataclass(frozen=True, slots=True)
class Agreed:
    """The agreement half."""

    cells: int
    packages: int
    pairs: tuple[PairRow, ...]
    disputed: tuple[Dispute, ...]
    disputes: int
    notes: tuple[str, ...]
    annotators: int = 0
    alphas: tuple[AlphaRow, ...] = ()
    concentrations: tuple[Concentration, ...] = ()


@dataclass(frozen=True, slots=True)
class ShiftRow:
    """What a label set does to the ratios at a budget."""

    labels: str
    changed: int
    budget: str
    change: Number
    preserved: bool
    swaps: int
    tau: Number
    rho: Number


@dataclass(frozen=True, slots=True)
class StoreRow:
    """A store's mean ratio under the package's labels and the others, and how far it could go."""

    store: str
    budget: str
    own: Number
    others: tuple[float | None, ...]
    drawn: Number
    bounds: Number
    exact: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """Ratios under other labels."""

    packages: int
    optima: int
    uncertified: int
    sets: tuple[str, ...]
    shifts: tuple[ShiftRow, ...]
    stores: tuple[StoreRow, ...]
    units: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]
    draws: int = 0
    drawn: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelAudit:
    """Either half may be missing."""

    agreement: Agreed | None
    ratios: Moved | None


def read_audit(paths: Iterable[Path]) -> LabelAudit:
    """The audit that these files hold together."""
    found: dict[str, Any] = {}
    for path in paths:
        try:
            data = floats(parse_json(read_text(path), path.name))
        except InvalidPackage as error:
            raise MemAuditError(str(error.problems[0])) from None
        kind = data.get("format") if isinstance(data, dict) else None
        if kind not in (AGREEMENT, RATIOS):
            raise MemAuditError(
                f"{path.name}: is not what memaudit audit agreement --json or audit ratios --json "
                "writes"
            )
        if kind in found:
            raise MemAuditError(f"{path.name}: a second file of the same audit; give one of them")
        try:
            found[kind] = agreed(data) if kind == AGREEMENT else moved(data)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            raise MemAuditError(
                f"{path.name}: lacks what a label audit holds; make it again with --json"
            ) from None
    return LabelAudit(found.get(AGREEMENT), found.get(RATIOS))


def agreed(data: Mapping[str, Any]) -> Agreed:
    """From the JSON of an agreement audit."""
    over = str(data["interval"])
    rows = []
    for scale in SCALES:
        for pair in data["pairs"]:
            title = f"{pair['first']['name']} - {pair['second']['name']}"
            measured = pair["scales"][scale]
            for balance in ("as_drawn", "natural"):
                if (one := measured[balance]) is not None:
                    rows.append(PairRow(
                        title, scale, balance, int(measured["cells"]), *_coefficients(one, over)
                    ))  # fmt: skip
    disputed = tuple(
        Dispute(
            f"{one['package']}: {one['candidate_id']} x {one['unit_id']}"
            if one["candidate_id"]
            else str(one["cell_id"]),
            tuple((str(who), str(label)) for who, label in one["labels"].items()),
            str(one["candidate_text"]),
            str(one["unit_text"]),
        )
        for one in data["disputed"][:MOST_CELLS]
    )
    return Agreed(
        int(data["cells"]), int(data["packages"]), tuple(rows), disputed, len(data["disputed"]),
        tuple(map(str, data["notes"])), sum(one["role"] == "annotator" for one in data["raters"]),
        tuple(alphas(data)), tuple(concentrations(data)),
    )  # fmt: skip


def _coefficients(data: Mapping[str, Any], over: str) -> list[Number]:
    """Kappa, raw agreement and, where there are these two categories, agreement on each."""
    own = data["specific_agreement"]
    named = [data["kappa"], data["raw_agreement"], own.get("covered"), own.get("not covered")]
    return [estimate(one, over) for one in named]


def moved(data: Mapping[str, Any]) -> Moved:
    """From the JSON of an audit of ratios."""
    sets = tuple(str(one["name"]) for one in data["label_sets"])
    shifts = tuple(
        ShiftRow(
            str(one["name"]), int(one["changed_cells"]), _budget(shift["budget"]),
            number(shift["ratio_mad"], "mean"), *_ranking(shift["ranking"]),
        )
        for one in data["label_sets"]
        for shift in one["shifts"]
    )  # fmt: skip
    stores = tuple(
        StoreRow(
            str(one["store"]), str(one["budget"]), number(one["ratios"]["package"], "mean"),
            tuple(number(one["ratios"].get(name), "mean").value for name in sets),
            number(one["label_draws"], "mean"), number(one["bounds"]),
            bool((one["bounds"] or {}).get("exact")),
        )
        for one in data["ratios"]
    )  # fmt: skip
    units = tuple(
        (
            str(one["name"]),
            tuple(
                (f"{unit['package']} {unit['unit']}: {unit['text']}", float(unit["ratio_change"]))
                for unit in one["units"][:MOST_UNITS]
                if unit["ratio_change"] is not None
            ),
        )
        for one in data["label_sets"]
    )
    return Moved(
        int(data["packages"]), int(data["solved_optima"]), int(data["uncertified_optima"]), sets,
        shifts, stores, units, int(data["draws"]), _kind_of_interval(data["ratios"]),
        tuple(map(str, data.get("notes", ()))),
    )  # fmt: skip


def _kind_of_interval(rows: Sequence[Mapping[str, Any]]) -> str:
    """What the ends of draws are: the middle 95% of them, or their range."""
    named = (one["label_draws"].get("interval") for one in rows if one["label_draws"])
    return str(next(named, None) or "middle 95%")


def _ranking(data: Mapping[str, Any]) -> tuple[bool, int, Number, Number]:
    return (
        bool(data["preserved"]), len(data["swapped"]) + len(data["tied_under_one"]),
        number(data["tau_b"]), number(data["spearman_rho"]),
    )  # fmt: skip


def _budget(value: object) -> str:
    """None stands for all budgets together."""
    return "all" if value is None else str(value)


TITLE = "How far the labels can be trusted"


def write_page(audit: LabelAudit, out: Path) -> None:
    """Write the page, all or nothing."""
    write_file(out, build_page(audit))


def build_page(audit: LabelAudit) -> str:
    """One HTML file that needs nothing else."""
    return one_file(
        environment(),
        "audit.html",
        title=TITLE,
        audit=audit,
        scales=SCALES,
        details=True,
        version=version("memaudit"),
    )
