"""A score file as pages show it: one line per package, store and budget, each with an address."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.kernel.io.score_file import ScoreFile, ScoreRow, ScoreRun, read_score_run
from memaudit.kernel.score.result import budget_text
from memaudit.lab.explorer.addresses import slug


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A score with its package's file, its name in addresses and its place in the list."""

    slug: str
    place: int
    file: ScoreFile
    score: ScoreRow

    @property
    def store_digest(self) -> str:
        """The digest of the store, where the file says it."""
        digests = (store.digest for store in self.file.stores if store.name == self.score.store)
        return next(digests, "")

    @property
    def at(self) -> str:
        """The budget as it was asked for, with the cost it means."""
        return budget_text(self.score.asked, self.score.budget)


@dataclass(frozen=True, slots=True)
class ScoreLines:
    """A score file, and its lines in order and by name."""

    run: ScoreRun
    lines: tuple[ScoreLine, ...]
    by_slug: Mapping[str, ScoreLine]

    @property
    def budgets(self) -> tuple[Fraction, ...]:
        return tuple(sorted({line.score.budget for line in self.lines}))


def read_score_lines(data: Mapping[str, Any], place: str) -> ScoreLines:
    """The content of a score file."""
    run = read_score_run(data, place)
    lines: dict[str, ScoreLine] = {}
    for file in run.packages:
        for score in file.scores:
            key = (file.package, score.store, score.asked)
            name = slug(" ".join(key), *key)
            while name in lines:  # the same line twice in a file
                name = slug(name, *key)
            lines[name] = ScoreLine(name, len(lines), file, score)
    return ScoreLines(run, tuple(lines.values()), lines)
