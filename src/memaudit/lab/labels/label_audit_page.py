"""A label audit as one HTML file: agreement, where disagreements concentrate, changed ratios."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import InvalidPackage, MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.strict_json import floats, parse_json
from memaudit.kernel.version import VERSION
from memaudit.show.page_kit import environment, one_file

TITLE = "How far the labels can be trusted"
AGREEMENT, RATIOS = "memaudit-agreement", "memaudit-label-ratios"
SCALES = {"labels": "full, partial, none", "covered": "covered at all, or not"}
MOST_CELLS = 12
STRATUM = "stratum"
"""The finest grouping: too many rows for a page; the JSON has them."""


@dataclass(frozen=True, slots=True)
class NumberWithInterval:
    """A number with its interval; None where it is undefined, or has no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


UNKNOWN = NumberWithInterval(None)


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two raters on one scale, on the frame as drawn or in the packages' balance.

    Only the scale of covered or not has positive and negative agreement.
    """

    pair: str
    scale: str
    balance: str
    cells: int
    kappa: NumberWithInterval
    raw: NumberWithInterval
    positive: NumberWithInterval = UNKNOWN
    negative: NumberWithInterval = UNKNOWN


@dataclass(frozen=True, slots=True)
class DisputeRow:
    """A cell that raters label differently."""

    at: str
    labels: Sequence[tuple[str, str]]
    candidate: str
    unit: str


@dataclass(frozen=True, slots=True)
class AlphaRow:
    """Krippendorff's alpha of all annotators, on one scale and level, in one balance."""

    scale: str
    level: str
    balance: str
    alpha: NumberWithInterval


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
    kappa: NumberWithInterval


@dataclass(frozen=True, slots=True)
class Concentration:
    """Where one pair disagrees, on the scale that is fair to both."""

    pair: str
    scale: str
    cells: int
    disagreements: int
    rows: tuple[GroupRow, ...]


@dataclass(frozen=True, slots=True)
class AgreementPart:
    """The part of the page about agreement."""

    cells: int
    packages: int
    pairs: tuple[PairRow, ...]
    disputed: tuple[DisputeRow, ...]
    disputes: int
    notes: tuple[str, ...]
    annotators: int = 0
    alphas: tuple[AlphaRow, ...] = ()
    concentrations: tuple[Concentration, ...] = ()


@dataclass(frozen=True, slots=True)
class ShiftRow:
    """Effect of a label set on the ratios at a budget."""

    labels: str
    changed: int
    budget: str
    change: NumberWithInterval
    preserved: bool
    swaps: int
    tau: NumberWithInterval
    rho: NumberWithInterval


@dataclass(frozen=True, slots=True)
class MeanRatioRow:
    """A store's mean ratio under the package's labels and the others, with draws."""

    store: str
    budget: str
    own: NumberWithInterval
    others: tuple[float | None, ...]
    drawn: NumberWithInterval


@dataclass(frozen=True, slots=True)
class RatioPart:
    """The part of the page about ratios under other labels."""

    packages: int
    optima: int
    uncertified: int
    sets: tuple[str, ...]
    shifts: tuple[ShiftRow, ...]
    stores: tuple[MeanRatioRow, ...]
    draws: int = 0
    drawn: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelAudit:
    """A label audit. Either part may be missing."""

    agreement: AgreementPart | None
    ratios: RatioPart | None


def write_page(audit: LabelAudit, out: Path) -> None:
    write_file(out, build_page(audit))


def build_page(audit: LabelAudit) -> str:
    """One self-contained HTML file."""
    return one_file(
        environment("memaudit.lab.labels"),
        "audit.html",
        title=TITLE,
        audit=audit,
        scales=SCALES,
        details=True,
        version=VERSION,
    )


def read_audit(paths: Iterable[Path]) -> LabelAudit:
    """Read a label audit from its JSON files."""
    parts: dict[str, Any] = {}
    for path in paths:
        try:
            data = floats(parse_json(read_text(path), path.name))
        except InvalidPackage as error:
            raise MemAuditError(str(error.problems[0])) from None
        kind = data.get("format") if isinstance(data, dict) else None
        if kind not in (AGREEMENT, RATIOS):
            raise MemAuditError(
                f"{path.name}: not a file of memaudit audit agreement --json or audit ratios --json"
            )
        if kind in parts:
            raise MemAuditError(f"{path.name}: second file of the same audit; give only one")
        try:
            parts[kind] = agreement_part(data) if kind == AGREEMENT else ratio_part(data)
        # The files are ours, but may be cut off or edited; what is missing shows as one of these.
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            raise MemAuditError(
                f"{path.name}: incomplete label audit; write it again with --json"
            ) from None
    return LabelAudit(parts.get(AGREEMENT), parts.get(RATIOS))


def agreement_part(data: Mapping[str, Any]) -> AgreementPart:
    """From the JSON of an agreement audit."""
    over = str(data["interval"])
    rows = []
    for scale in SCALES:
        for pair in data["pairs"]:
            title = f"{pair['first']['name']} - {pair['second']['name']}"
            measured = pair["scales"][scale]
            for balance in ("as_drawn", "natural"):
                if (coefficients := measured[balance]) is not None:
                    rows.append(
                        PairRow(
                            title,
                            scale,
                            balance,
                            int(measured["cells"]),
                            *_coefficients(coefficients, over),
                        )
                    )
    disputed = tuple(
        DisputeRow(
            f"{cell['package']}: {cell['candidate_id']} x {cell['unit_id']}"
            if cell["candidate_id"]
            else str(cell["cell_id"]),
            tuple((str(rater), str(label)) for rater, label in cell["labels"].items()),
            str(cell["candidate_text"]),
            str(cell["unit_text"]),
        )
        for cell in data["disputed"][:MOST_CELLS]
    )
    alphas = tuple(
        AlphaRow(
            str(alpha["scale"]), str(alpha["level"]), str(alpha["balance"]), _estimate(alpha, over)
        )
        for alpha in data["alpha"]
    )
    return AgreementPart(
        int(data["cells"]),
        int(data["packages"]),
        tuple(rows),
        disputed,
        len(data["disputed"]),
        tuple(map(str, data["notes"])),
        sum(rater["role"] == "annotator" for rater in data["raters"]),
        alphas,
        tuple(_concentrations(data)),
    )


def _coefficients(data: Mapping[str, Any], over: str) -> list[NumberWithInterval]:
    """Kappa, raw agreement and, with these two categories, agreement on each."""
    own = data["specific_agreement"]
    named = [data["kappa"], data["raw_agreement"], own.get("covered"), own.get("not covered")]
    return [_estimate(estimate, over) for estimate in named]


def _concentrations(data: Mapping[str, Any]) -> Iterator[Concentration]:
    """Agreement of the first pair of annotators, and of the first with a package or a model."""
    graded = {str(rater["name"]) for rater in data["raters"] if rater["labels"]["partial"]}
    people = {str(rater["name"]) for rater in data["raters"] if rater["role"] == "annotator"}
    # The consensus uses partial as soon as one annotator does.
    if graded & people:
        graded.add("consensus")
    within = [pair for pair in data["pairs"] if pair["kind"] == "annotator-annotator"]
    across = [pair for pair in data["pairs"] if pair["kind"] != "annotator-annotator"]
    # One pair of each sort: further pairs of the same people would repeat it.
    for pair in (*within[:1], *across[:1]):
        names = [str(pair[side]["name"]) for side in ("first", "second")]
        scale = "labels" if graded.issuperset(names) else "covered"
        compared = pair["scales"][scale]
        cells, confusion = int(compared["cells"]), compared["as_drawn"]["confusion"]
        rows = tuple(_group_rows(compared["groups"], cells))
        total = int(
            sum(entry for i, row in enumerate(confusion) for j, entry in enumerate(row) if i != j)
        )
        if rows and total:
            yield Concentration(" - ".join(names), scale, cells, total, rows)


def _group_rows(groups: Sequence[Mapping[str, Any]], cells: int) -> Iterator[GroupRow]:
    """Every grouping with at least two groups, those with most disagreements first."""
    by_grouping: dict[str, list[Mapping[str, Any]]] = {}
    for group in groups:
        by_grouping.setdefault(str(group["by"]), []).append(group)
    for by, members in by_grouping.items():
        if by == STRATUM or len(members) < 2:
            continue
        for group in sorted(members, key=lambda member: -int(member["disagreements"])):
            share = group["share_of_disagreements"]
            yield GroupRow(
                by,
                str(group["group"]),
                int(group["cells"]),
                int(group["cells"]) / cells,
                int(group["disagreements"]),
                None if share is None else float(share),
                float(group["rate"]),
                _estimate(group["kappa"], "over_cells"),
            )


def ratio_part(data: Mapping[str, Any]) -> RatioPart:
    """From the JSON of an audit of ratios."""
    sets = tuple(str(label_set["name"]) for label_set in data["label_sets"])
    shifts = tuple(
        ShiftRow(
            str(label_set["name"]),
            int(label_set["changed_cells"]),
            "all" if shift["budget"] is None else str(shift["budget"]),
            _number(shift["ratio_mad"], "mean"),
            *_ranking(shift["ranking"]),
        )
        for label_set in data["label_sets"]
        for shift in label_set["shifts"]
    )
    stores = tuple(
        MeanRatioRow(
            str(row["store"]),
            str(row["budget"]),
            _number(row["ratios"]["package"], "mean"),
            tuple(_number(row["ratios"].get(name), "mean").value for name in sets),
            _number(row["label_draws"], "mean"),
        )
        for row in data["ratios"]
    )
    return RatioPart(
        int(data["packages"]),
        int(data["solved_optima"]),
        int(data["uncertified_optima"]),
        sets,
        shifts,
        stores,
        int(data["draws"]),
        _kind_of_interval(data["ratios"]),
        tuple(map(str, data.get("notes", ()))),
    )


def _kind_of_interval(rows: Sequence[Mapping[str, Any]]) -> str:
    """What the interval of draws is: the middle 95%, or the range."""
    kinds = (row["label_draws"].get("interval") for row in rows if row["label_draws"])
    return str(next(kinds, None) or "middle 95%")


def _ranking(
    data: Mapping[str, Any],
) -> tuple[bool, int, NumberWithInterval, NumberWithInterval]:
    return (
        bool(data["preserved"]),
        len(data["swapped"]) + len(data["tied_under_one"]),
        _number(data["tau_b"]),
        _number(data["spearman_rho"]),
    )


def _estimate(data: Mapping[str, Any] | None, over: str) -> NumberWithInterval:
    """A coefficient with the interval over cells or packages, whichever is the main one."""
    if data is None:
        return UNKNOWN
    return _number({**(data.get(over) or {}), "value": data["value"]})


def _number(data: Mapping[str, Any] | None, name: str = "value") -> NumberWithInterval:
    if data is None:
        return UNKNOWN
    return NumberWithInterval(*(_real(data.get(key)) for key in (name, "low", "high")))


def _real(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
