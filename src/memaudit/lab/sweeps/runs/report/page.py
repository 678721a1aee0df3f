"""The run report as one HTML file: ranking, value at every budget, what writers lose by kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.package.budgets import is_share
from memaudit.kernel.stats.bootstrap import Floats
from memaudit.kernel.version import VERSION
from memaudit.lab.sweeps.runs.report.frontier_curves import choose_packages, frontier_curves
from memaudit.lab.sweeps.runs.report.run_grids import (
    FinishedRunData,
    Tally,
    WriterRanking,
    open_run,
    rank_writers,
)
from memaudit.lab.sweeps.runs.spec import named_source
from memaudit.show import page_charts
from memaudit.show.page_charts import OPT, Member, grouped
from memaudit.show.page_kit import environment, one_file

MOST_KINDS = 12
"""Further kinds are shown together."""
TRUTHS = ("invalidation", "current", "stale")


@dataclass(frozen=True, slots=True)
class KindMeans:
    """Means by kind of one writer, and of OPT for the same packages and budgets."""

    member: Member
    rows: int
    own: tuple[float, ...]
    best: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.own)

    @property
    def best_total(self) -> float:
        return sum(self.best)

    @property
    def gaps(self) -> tuple[float, ...]:
        """Writer minus OPT, kind by kind."""
        return tuple(own - best for own, best in zip(self.own, self.best, strict=True))


@dataclass(frozen=True, slots=True)
class KindTable:
    """The means of all writers; `best` is OPT over everything compared."""

    kinds: tuple[str, ...]
    best: tuple[float, ...]
    writers: tuple[KindMeans, ...]

    def largest_loss(self, writer: KindMeans) -> tuple[str, float] | None:
        """The kind with the largest loss and its share of all losses. None if there is no loss."""
        losses = [max(0.0, -gap) for gap in writer.gaps]
        if sum(losses) < 1e-9:
            return None
        worst = max(range(len(losses)), key=lambda at: losses[at])
        return self.kinds[worst], losses[worst] / sum(losses)


@dataclass(frozen=True, slots=True)
class TruthMeans:
    """Mean number of covered units by validity. `member` is None for OPT itself."""

    member: Member | None
    means: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Losses:
    """What writers lose, by kind of unit, of memory and of validity."""

    values: KindTable
    kept: KindTable
    truths: tuple[TruthMeans, ...]


def losses(run: FinishedRunData, order: Sequence[Member]) -> Losses | None:
    """Compare the writers of a run with OPT, in the order given. None if the run has no OPT."""
    if OPT not in run.members:
        return None
    best = _from_rows(run)
    writers = [member for member in order if member.name != OPT]
    return Losses(
        values=_kind_table(run, run.unit_values, best, best.values, writers),
        kept=_kind_table(run, run.kept, best, best.kept, writers),
        truths=_truths(run, best, writers),
    )


@dataclass(frozen=True, slots=True)
class _Best:
    """OPT by distribution, seed and budget, where `known`."""

    known: NDArray[np.bool_]
    values: dict[str, Floats]
    kept: dict[str, Floats]
    truths: dict[str, Floats]


def _fine(run: FinishedRunData, name: str) -> NDArray[np.bool_]:
    """Where a writer did not fail and the optimum is certified."""
    at = list(run.members).index(name)
    return np.stack([~(g.failed[:, :, at] | g.uncertified[:, :, at]) for g in run.grids])


def _from_rows(run: FinishedRunData) -> _Best:
    at = list(run.members).index(OPT)
    return _Best(
        known=_fine(run, OPT),
        values={kind: numbers[..., at] for kind, numbers in run.unit_values.kinds.items()},
        kept={kind: numbers[..., at] for kind, numbers in run.kept.kinds.items()},
        truths={name: np.stack([g.numbers[name][:, :, at] for g in run.grids]) for name in TRUTHS},
    )


def _kind_table(
    run: FinishedRunData,
    tally: Tally,
    best: _Best,
    optima: dict[str, Floats],
    writers: Sequence[Member],
) -> KindTable:
    nothing = np.zeros(best.known.shape)
    totals = {
        kind: float(optima.get(kind, nothing)[best.known].sum()) for kind in {*tally.kinds, *optima}
    }
    kinds = sorted(totals, key=lambda kind: (-totals[kind], kind))
    shown, rest = (kinds, []) if len(kinds) <= MOST_KINDS else _cut(kinds)
    parts = [[kind] for kind in shown] + ([rest] if rest else [])
    names = (*shown, f"{len(rest)} other kinds") if rest else tuple(shown)

    def means(of: dict[str, Floats], where: NDArray[np.bool_]) -> tuple[float, ...]:
        rows = max(1, int(where.sum()))
        return tuple(
            sum(float(of.get(kind, nothing)[where].sum()) for kind in part) / rows for part in parts
        )

    rows = []
    for member in writers:
        at = list(run.members).index(member.name)
        # A writer is compared with OPT on the same cells only: where it failed, OPT does not count
        # either.
        where = best.known & _fine(run, member.name)
        own = {kind: numbers[..., at] for kind, numbers in tally.kinds.items()}
        rows.append(KindMeans(member, int(where.sum()), means(own, where), means(optima, where)))
    return KindTable(names, means(optima, best.known), tuple(rows))


def _cut(kinds: list[str]) -> tuple[list[str], list[str]]:
    return kinds[: MOST_KINDS - 1], kinds[MOST_KINDS - 1 :]


def _truths(run: FinishedRunData, best: _Best, writers: Sequence[Member]) -> tuple[TruthMeans, ...]:
    rows = [TruthMeans(None, tuple(_mean(best.truths[name][best.known]) for name in TRUTHS))]
    for member in writers:
        at = list(run.members).index(member.name)
        where = best.known & _fine(run, member.name)
        numbers = [np.stack([g.numbers[name][:, :, at] for g in run.grids]) for name in TRUTHS]
        rows.append(TruthMeans(member, tuple(_mean(values[where]) for values in numbers)))
    return tuple(rows)


def _mean(numbers: Floats) -> float | None:
    return float(numbers.mean()) if numbers.size else None


TITLE = "What was kept, and what could have been"


def write_report(folder: Path, out: Path, diagnoses: Sequence[object] = ()) -> None:
    """Build the report of a run, with views of diagnoses if any, and write it atomically."""
    write_file(out, build_report(folder, diagnoses=diagnoses))


def build_report(
    folder: Path, *, title: str | None = None, diagnoses: Sequence[object] = ()
) -> str:
    run = open_run(folder)
    ranked = rank_writers(run)
    groups = grouped([place.member for place in ranked.places])
    order = [member for _, members in groups for member in members]
    drawn = frontier_curves(run, choose_packages(run))
    return one_file(
        environment("memaudit.lab.sweeps.runs.report", "memaudit.lab.downstream"),
        "page.html",
        title=title or TITLE,
        run=run,
        distributions=[(g.distribution, named_source(g.distribution)) for g in run.grids],
        budgets=list(zip(run.budgets, run.given, map(is_share, run.given), strict=True)),
        standing=ranked,
        groups=groups,
        places={place.member.name: place for place in ranked.places},
        leader=_leader(ranked),
        curves=[(curve, page_charts.plot(curve)) for curve in drawn],
        losses=losses(run, order),
        diagnoses=diagnoses,
        versions={"report": VERSION, **run.manifest["versions"]},
    )


def _leader(ranked: WriterRanking) -> Any:
    """The best writer that could be deployed, or None."""
    able = [p for p in ranked.places if p.member.group != "reference" and p.mean is not None]
    return able[0] if able else None
