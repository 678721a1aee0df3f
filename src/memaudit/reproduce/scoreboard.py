"""Published numbers beside ours: they agree if ours rounds to what was printed.

Counts and zeros are no roundings: there ours must be the very number.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from importlib.resources import files
from typing import Any

AGREE, DIFFER = "agree", "differ"


@dataclass(frozen=True, slots=True)
class Line:
    """One published number and ours, to the places that were printed."""

    where: str
    what: str
    published: str
    ours: str
    verdict: str

    def to_json(self) -> dict[str, str]:
        """The JSON form."""
        return asdict(self)


def compared(where: str, what: str, published: str, ours: float | None) -> Line:
    """The line of one number."""
    if ours is None:
        return Line(where, what, published, "undefined", DIFFER)
    places = Decimal(published)
    rounded = Decimal(repr(ours)).quantize(places, ROUND_HALF_EVEN)
    if rounded != places:
        return Line(where, what, published, str(rounded), DIFFER)
    if is_exact(published) and ours != places:
        return Line(where, what, published, repr(ours), DIFFER)
    return Line(where, what, published, str(rounded), AGREE)


def is_exact(published: str) -> bool:
    """Whether a printed number is a count or a zero, and not a mean to so many places."""
    return "." not in published or not Decimal(published)


def scoreboard(budgets: Mapping[str, str], summaries: Mapping[str, dict[str, Any]]) -> list[Line]:
    """Every published number on controlled packages.

    From the budgets that the shares of the sweep came to, and from the summaries of the runs.
    """
    text = files("memaudit.reproduce").joinpath("published_numbers.toml").read_text("utf-8")
    published = tomllib.loads(text)
    lines = [
        compared("section 4", f"budget that the share {share} means on base", budget,
                 float(budgets[share]) if share in budgets else None)
        for share, budget in published["budgets"].items()
    ]  # fmt: skip
    for entry in published["numbers"]:
        lines += _lines(entry, summaries[entry["run"]])
    return lines


def _lines(entry: dict[str, Any], summary: dict[str, Any]) -> Iterator[Line]:
    what = entry["what"]
    found = {
        row["budget"]: row[entry["metric"]]
        for row in summary["rows"]
        if row["distribution"] == entry["distribution"] and row["writer"] == entry["writer"]
    }
    for budget, published in entry.get("at", {}).items():
        yield compared(entry["where"], f"{what}, B = {budget}", published, found.get(int(budget)))
    if "range" in entry:
        bounds = entry["range"]
        values = [found[budget] for budget in bounds["budgets"]]
        budgets = ", ".join(map(str, bounds["budgets"]))
        for name, pick in (("low", min), ("high", max)):
            yield compared(
                entry["where"], f"{what}, {name}est of B = {budgets}", bounds[name], pick(values)
            )
