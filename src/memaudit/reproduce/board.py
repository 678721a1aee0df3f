"""The scoreboard of the whole paper: agree, differ, or needs the published archive."""

import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from memaudit.core.exact import exact
from memaudit.reproduce.folder import FIGURES
from memaudit.reproduce.natural import published as published_natural
from memaudit.reproduce.scoreboard import AGREE, DIFFER, Line, compared, scoreboard

NEEDS = "needs the published archive"
NOTHING = "-"
VERDICTS = (AGREE, DIFFER, NEEDS)
COUNTED = {
    AGREE: ("agrees", "agree"), DIFFER: ("differs", "differ"),
    NEEDS: (NEEDS, "need the published archive"),
}  # fmt: skip
"""Verdicts after a number of lines: after 1, and after any other."""

MILP = "highs"
"""The backend that stands for the paper's MILP; it is compared with the reference search."""

TABLE_FIVE = ("opt", "opt_two", "two_over_one", "opt_bytes", "bytes_over_default")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure of the paper and the files of ours; none where it needs the archive."""

    where: str
    what: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """Every published number and figure."""

    settings: Mapping[str, int]
    lines: tuple[Line, ...]
    figures: tuple[Drawn, ...]
    own_set: Mapping[str, str]

    @property
    def counts(self) -> dict[str, int]:
        """How many lines have each verdict."""
        found = Counter(line.verdict for line in self.lines)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def counted(self) -> str:
        """The same in words."""
        return ", ".join(
            f"{number} {COUNTED[verdict][number != 1]}" for verdict, number in self.counts.items()
        )

    @property
    def computed(self) -> list[Line]:
        """The lines that have a number of ours."""
        return [line for line in self.lines if line.verdict != NEEDS]

    def text(self) -> str:
        """The JSON form."""
        data = {
            "settings": dict(self.settings),
            "counts": self.counts,
            "lines": [line.to_json() for line in self.lines],
            "figures": [
                {"where": one.where, "what": one.what, "files": list(one.files),
                 "verdict": "drawn" if one.files else NEEDS}
                for one in self.figures
            ],
            "own_set": dict(self.own_set),
        }  # fmt: skip
        return json.dumps(data, indent=1) + "\n"


@cache
def published() -> dict[str, Any]:
    """What only the archive can give, and the paper's figures."""
    text = files(__package__).joinpath("published_archive.toml").read_text("utf-8")
    return tomllib.loads(text)


def board(
    settings: Mapping[str, int],
    budgets: Mapping[str, str],
    summaries: Mapping[str, dict[str, Any]],
    solvers: Mapping[str, Any],
) -> Board:
    """From the controlled runs and the solver audit; everything else needs the archive."""
    lines = [*solver_lines(solvers), *scoreboard(budgets, summaries), *archive_lines()]
    figures = tuple(
        Drawn(one["where"], one["what"], tuple(f"{FIGURES}/{name}" for name in one["files"]))
        for one in published()["figures"]
    )
    return Board(settings, tuple(lines), figures, published()["own_set"])


def solver_lines(solvers: Mapping[str, Any]) -> Iterator[Line]:
    """Table 1: branch and bound against the MILP on the same rows."""
    found = solvers["solvers"][MILP]
    for what, printed, ours in (
        ("rows", "1200", found["rows"]),
        ("objective matches", "1200", found["matches"]),
        ("largest difference", "0.0", exact(found["max_difference"])),
    ):
        yield compared("table 1", f"branch and bound against MILP, {what}", printed, float(ours))


def archive_lines() -> Iterator[Line]:
    """Every number that nobody can compute without the archive."""
    for place in published()["places"]:
        for what, printed in place["numbers"].items():
            yield Line(place["where"], what, printed, NOTHING, NEEDS)
    for entry in published_natural()["numbers"]:
        where = "table 5" if entry["metric"] in TABLE_FIVE else "section 6"
        for budget, printed in entry["at"].items():
            yield Line(where, f"{entry['what']}, B = {budget}", printed, NOTHING, NEEDS)
