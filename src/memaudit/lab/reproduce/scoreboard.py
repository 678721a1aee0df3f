"""The scoreboard: every number the paper prints beside ours.

Numbers agree if ours rounds to what the paper prints. Counts and zeros must be equal.
What rests on the authors' archive alone is listed as such.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from memaudit.kernel.exact import exact
from memaudit.lab.reproduce.folder import FIGURES

AGREE, DIFFER, NEEDS_ARCHIVE = "agree", "differ", "needs the published archive"
NOT_AS_PRINTED = "cannot be reproduced as printed"
VERDICTS = {
    AGREE: ("agrees", "agree"),
    DIFFER: ("differs", "differ"),
    NEEDS_ARCHIVE: (NEEDS_ARCHIVE, "need the published archive"),
    NOT_AS_PRINTED: (NOT_AS_PRINTED, NOT_AS_PRINTED),
}
"""Each verdict after the number 1, and after any other number."""

MILP = "highs"
"""The backend that stands for the paper's MILP. It is compared with the reference search."""

TABLE_FIVE = ("opt", "opt_two", "two_over_one", "opt_bytes", "bytes_over_default")


@dataclass(frozen=True, slots=True)
class ScoreboardLine:
    """One published number and ours, to the places that were printed."""

    where: str
    what: str
    published: str
    ours: str
    verdict: str
    why: str = ""
    """Why it cannot be reproduced as printed, or what ours is instead."""

    def to_json(self) -> dict[str, str]:
        data = asdict(self)
        return data if self.why else {name: data[name] for name in data if name != "why"}


@dataclass(frozen=True, slots=True)
class ScoreboardFigure:
    """A figure of the paper and our files, or what it needs where there are none."""

    where: str
    what: str
    files: tuple[str, ...]
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """Every published number and figure."""

    settings: Mapping[str, int]
    lines: tuple[ScoreboardLine, ...]
    figures: tuple[ScoreboardFigure, ...]
    own_set: Mapping[str, str]

    @property
    def counts(self) -> dict[str, int]:
        """How many lines have each verdict."""
        counts = Counter(line.verdict for line in self.lines)
        return {verdict: counts[verdict] for verdict in VERDICTS}

    @property
    def headline(self) -> str:
        """The counts in words."""
        return ", ".join(
            f"{number} {VERDICTS[verdict][number != 1]}" for verdict, number in self.counts.items()
        )

    @property
    def computed(self) -> list[ScoreboardLine]:
        """The lines that have a number of ours."""
        return [line for line in self.lines if line.ours != "-"]

    def text(self) -> str:
        """The JSON form."""
        data = {
            "settings": dict(self.settings),
            "counts": self.counts,
            "lines": [line.to_json() for line in self.lines],
            "figures": [
                {
                    "where": figure.where,
                    "what": figure.what,
                    "files": list(figure.files),
                    "verdict": "drawn" if figure.files else f"needs {figure.needs}",
                }
                for figure in self.figures
            ],
            "own_set": dict(self.own_set),
        }
        return json.dumps(data, indent=1) + "\n"


def make_scoreboard(
    settings: Mapping[str, int],
    budgets: Mapping[str, str],
    summaries: Mapping[str, dict[str, Any]],
    solvers: Mapping[str, Any],
    from_archive: "ArchiveNumbers | None" = None,
) -> Scoreboard:
    """From the controlled runs and the solver audit, and the archive where it was given."""
    lines = [
        *solver_lines(solvers),
        *controlled_lines(budgets, summaries),
        *archive_lines(from_archive or {}),
    ]
    archive = published("archive")
    figures = tuple(
        ScoreboardFigure(
            figure["where"],
            figure["what"],
            tuple(f"{FIGURES}/{name}" for name in figure["files"]),
            figure.get("needs", ""),
        )
        for figure in archive["figures"]
    )
    return Scoreboard(settings, tuple(lines), figures, archive["own_set"])


@cache
def published(name: str) -> dict[str, Any]:
    """Numbers as the paper prints them: `numbers` (controlled), `natural` or `archive`."""
    text = files(__package__).joinpath(f"published_{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


def compare(where: str, what: str, published: str, ours: float | None) -> ScoreboardLine:
    """The line of one number."""
    if ours is None:
        return ScoreboardLine(where, what, published, "undefined", DIFFER)
    places = Decimal(published)
    # Half to even, as floats are formatted.
    rounded = Decimal(repr(ours)).quantize(places, ROUND_HALF_EVEN)
    if rounded != places:
        return ScoreboardLine(where, what, published, str(rounded), DIFFER)
    # A count that is off by a little is wrong, and 0.000 means zero.
    is_exact = "." not in published or not places
    if is_exact and ours != places:
        return ScoreboardLine(where, what, published, repr(ours), DIFFER)
    return ScoreboardLine(where, what, published, str(rounded), AGREE)


def solver_lines(solvers: Mapping[str, Any]) -> Iterator[ScoreboardLine]:
    """Table 1: branch and bound against the MILP on the same rows."""
    tally = solvers["solvers"][MILP]
    for what, printed, ours in (
        ("rows", "1200", tally["rows"]),
        ("objective matches", "1200", tally["matches"]),
        ("largest difference", "0.0", exact(tally["max_difference"])),
    ):
        yield compare("table 1", f"branch and bound against MILP, {what}", printed, float(ours))


def controlled_lines(
    budgets: Mapping[str, str], summaries: Mapping[str, dict[str, Any]]
) -> list[ScoreboardLine]:
    """Every published number on controlled packages.

    From the budgets that the shares of the sweep came to, and from the summaries of the runs.
    """
    numbers = published("numbers")
    lines = [
        compare(
            "section 4",
            f"budget that the share {share} means on base",
            budget,
            float(budgets[share]) if share in budgets else None,
        )
        for share, budget in numbers["budgets"].items()
    ]
    for entry in numbers["numbers"]:
        lines += _run_lines(entry, summaries[entry["run"]])
    return lines


def _run_lines(entry: dict[str, Any], summary: dict[str, Any]) -> Iterator[ScoreboardLine]:
    what = entry["what"]
    at_budget = {
        row["budget"]: row[entry["metric"]]
        for row in summary["rows"]
        if row["distribution"] == entry["distribution"] and row["writer"] == entry["writer"]
    }
    for budget, printed in entry.get("at", {}).items():
        yield compare(entry["where"], f"{what}, B = {budget}", printed, at_budget.get(int(budget)))
    if "range" in entry:
        bounds = entry["range"]
        values = [at_budget[budget] for budget in bounds["budgets"]]
        budgets = ", ".join(map(str, bounds["budgets"]))
        for name, pick in (("low", min), ("high", max)):
            yield compare(
                entry["where"], f"{what}, {name}est of B = {budgets}", bounds[name], pick(values)
            )


ArchiveNumbers = Mapping[str, Mapping[str, float | None]]
"""Ours, by where the paper prints a number and what it calls it."""


def archive_lines(ours: ArchiveNumbers) -> Iterator[ScoreboardLine]:
    """Every number that rests on the archive: compared where it was given, else open.

    A number that cannot be reproduced as printed says why, with ours beside it if there is one.
    """
    for place in published("archive")["places"]:
        for what, printed in place["numbers"].items():
            yield _archive_line(place["where"], what, printed, ours)
    for entry in published("natural")["numbers"]:
        where = "table 5" if entry["metric"] in TABLE_FIVE else "section 6"
        for budget, printed in entry["at"].items():
            yield _archive_line(where, f"{entry['what']}, B = {budget}", printed, ours)


def _archive_line(where: str, what: str, printed: str, ours: ArchiveNumbers) -> ScoreboardLine:
    number = ours.get(where, {}).get(what)
    for entry in published("archive")["not_as_printed"]:
        # By part of the name: a reason is often about a row of a table, not one number.
        if entry["where"] == where and any(part in what for part in entry["what"]):
            shown = "-" if number is None else compare(where, what, printed, number).ours
            return ScoreboardLine(where, what, printed, shown, NOT_AS_PRINTED, entry["why"])
    if number is None:
        return ScoreboardLine(where, what, printed, "-", NEEDS_ARCHIVE)
    return compare(where, what, printed, number)
