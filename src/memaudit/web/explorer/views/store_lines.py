"""Every store of a package at one budget, held against OPT: what runs, systems and writers kept."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.report.page.cast import Member
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.opened import Opened
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.library.score_sheets import Line as Score
from memaudit.web.explorer.views.comparison import Comparison, compare
from memaudit.web.explorer.views.held import Held, of_candidates, of_system
from memaudit.web.explorer.views.run_stores import RunStore
from memaudit.web.explorer.views.systems import System


@dataclass(frozen=True, slots=True)
class Best:
    """OPT at a budget; `value` is 0 where it is not proven, since a ratio needs a proof."""

    held: Held
    budget: Fraction
    value: Fraction


@dataclass(frozen=True, slots=True)
class Line:
    """One store: who kept it, and how it compares. `held` is None while its writer is at work.
    `source` is the run or the file it is from, `page` the store's own, `scores` are those at this
    budget."""

    member: Member
    held: Held | None
    found: Comparison | None = None
    over: bool = False
    ratio: float | None = None
    source: str = ""
    page: str = ""
    scores: tuple[tuple[Found, Score], ...] = ()

    @property
    def place(self) -> tuple[int, float]:
        """The best first; then what is over the budget, what is not known yet, and what failed."""
        if self.held is None:
            return 2, 0.0
        if self.found is None:
            return 3, 0.0
        return int(self.over), -(self.ratio or 0.0)


def line(opened: Opened, best: Best, member: Member, held: Held | None, source: str = "") -> Line:
    """A store beside OPT; one that is over the budget has no ratio."""
    if held is None or held.failed:
        return Line(member, held, source=source)
    found = compare(opened, best.held, held)
    over = found.cost > best.budget
    ratio = float(found.value / best.value) if best.value and not over else None
    return Line(member, held, found, over, ratio, source)


def of_runs(opened: Opened, best: Best, rows: Iterable[RunStore]) -> list[Line]:
    """What writers kept in runs; the same store in several runs is one line."""
    kept: dict[tuple[str, tuple[str, ...], str], list[RunStore]] = {}
    for row in rows:
        if row.budget == best.budget:
            kept.setdefault((row.member.name, row.store, row.failed), []).append(row)
    return [
        line(
            opened, best, same[0].member,
            of_candidates(opened, same[0].member.label, same[0].store, same[0].failed),
            f"run {', '.join(dict.fromkeys(row.run.name for row in same))}",
        )
        for same in kept.values()
    ]  # fmt: skip


def of_systems(opened: Opened, best: Best, systems: Iterable[System]) -> list[Line]:
    """What systems wrote, each with its place: two may have one name."""
    lines = []
    for number, one in enumerate(systems, start=1):
        name = one.store.name
        member = Member(name, name, "", "deployable", number)
        try:
            held = of_system(opened, one.store)
        except MemAuditError as error:
            held = Held(name, (), str(error), True)
        scores = tuple(pair for pair in one.scores if pair[1].score.budget == best.budget)
        found = line(opened, best, member, held, one.found.place)
        lines.append(replace(found, page=addresses.store(one.found.slug), scores=scores))
    return lines
