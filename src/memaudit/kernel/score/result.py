"""How stores are scored, and what that returns: a row per store and budget, for one package."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import make_folder, write_file
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.notebook import Frame, html_table, html_text, to_frame, waterfall
from memaudit.kernel.number_text import fixed, short_exact
from memaudit.kernel.package.budgets import AskedBudget, asked_budget
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.provenance import is_estimate
from memaudit.kernel.score.caveats import caveat_lines
from memaudit.kernel.score.judge import Judge
from memaudit.kernel.score.loss_diagnosis import Diagnosis, KindRow, LostUnits, NoDiagnosis
from memaudit.kernel.score.priced_store import OWN_SALIENCE, JudgedStore, Salience
from memaudit.kernel.score.pruning import EVERYTHING_FITS, SHUFFLES, Policy
from memaudit.kernel.score.score import Ratio, StoreNumbers, bound_text
from memaudit.kernel.score.truth import Truths, maybe_outdated
from memaudit.kernel.score.verdict import Verdict
from memaudit.kernel.words.text import counted, one_line, shortened, visible_text

DRAWS = 24
"""Draws of labels behind an interval."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """How stores are scored, whatever the package.

    Judges are by store: one for all, or one each where files of labels name memories by ids that
    stores share.
    """

    budgets: tuple[AskedBudget, ...] | None
    """None for the usual ones."""
    judges: Mapping[str, Judge]
    salience: Salience = OWN_SALIENCE
    group_cap: int | None = None
    seconds: float | None = None
    threads: int | None = field(default=None, compare=False)
    """Of a solve: the time it takes, and what it has reached where `seconds` stops it."""
    trust_package_cells: bool = False
    """Keep the package's assumed cells, which the judge of the stores judges otherwise."""
    policy: Policy | None = None
    """Cuts a store that does not fit; None for the first of DEFAULT_POLICIES that it allows."""
    draws: int = DRAWS
    """Draws of labels behind the interval of a score by an offline judge; 0 for no intervals."""
    truths: Truths | None = None
    """Which texts are false, by labels or a model; None where nobody said."""
    shuffles: int = SHUFFLES
    """Orders behind the random cut; 0 for none."""
    watch: Callable[[int, int], None] | None = field(default=None, compare=False, repr=False)
    """Told the draws done and all of them."""

    def __post_init__(self) -> None:
        if self.draws < 0 or self.draws == 1:
            raise MemAuditError(f"draws must be 0 or at least 2, not {self.draws}")

    @property
    def judge_name(self) -> str:
        """The judge, or the judges separated by commas."""
        return ", ".join(dict.fromkeys(judge.name for judge in self.judges.values()))

    @property
    def judge_digest(self) -> str | None:
        """The digest of the file of an offline judge: its name stays, its weights may not."""
        return next((getattr(judge, "digest", None) for judge in self.judges.values()), None)


@dataclass(frozen=True, slots=True, repr=False)
class StoreScore:
    """One store at one budget.

    `score` is what the store keeps within the budget over OPT of the common union. It is undefined
    where OPT is 0, is not certified, or where nobody judged some cells: then `between` says what is
    known.
    """

    numbers: StoreNumbers
    random_cut: Ratio | None
    """The mean score if memories were taken in random order; None if it was not asked for."""
    diagnosis: Diagnosis | NoDiagnosis
    kinds: tuple[KindRow, ...]
    judge_assumes: bool
    """Whether the judge assumes what is 0."""
    lost: LostUnits
    interval: tuple[float, float] | None = None
    """Where the score lies given the error of an offline judge; see score_interval.py."""
    chance: float | None = None
    """What the kept memories score against the units of conversations they are not about."""
    is_unrelated: bool = False
    """Whether the whole store covers no more here than of such conversations."""

    @property
    def store(self) -> str:
        return self.numbers.store

    @property
    def budget(self) -> Fraction:
        return self.numbers.budget

    @property
    def score(self) -> float | None:
        return None if self.exact is None else float(self.exact)

    @property
    def exact(self) -> Fraction | None:
        return self.numbers.kept.ratio.value

    @property
    def between(self) -> tuple[Fraction, Fraction] | None:
        """What the score lies between where it is not known; None where it is, or nothing is."""
        return self.numbers.kept.ratio.between

    @property
    def undefined(self) -> str:
        """Why there is no score; empty where there is one."""
        return self.numbers.kept.ratio.undefined

    @property
    def kept_by(self) -> str:
        """The policy that cut the store to the budget, or that everything fits."""
        return self.numbers.kept.by

    @property
    def optimum(self) -> Optimum:
        """OPT of the common union."""
        return self.numbers.kept.ratio.optimum

    @property
    def losses(self) -> Mapping[str, Fraction]:
        """The share of OPT lost at each step; with the score they sum to 1. Empty where there is
        no diagnosis."""
        if isinstance(self.diagnosis, NoDiagnosis):
            return {}
        return {step.name: step.share for step in self.diagnosis.steps}

    @property
    def assumed(self) -> tuple[Fraction, Fraction]:
        """The shares of OPT and of what is kept that rest on assumed cells."""
        return self.optimum.assumed, self.numbers.kept.worth.assumed

    @property
    def rests_on_assumed(self) -> bool:
        """Whether much of OPT or of what is kept rests on assumed cells."""
        return is_estimate(self.assumed)

    @property
    def is_estimate(self) -> bool:
        """Whether much of a value rests on assumed cells, or the judge assumes what is 0."""
        return self.judge_assumes or self.rests_on_assumed

    @property
    def score_text(self) -> str:
        """The score with its interval, or what it lies between."""
        return f"{ratio_text(self.exact, self.between)}{margin(self.exact, self.interval)}"

    @property
    def asked(self) -> str:
        """The budget as it was asked for: a cost, a share of the conversation, or own."""
        return self.numbers.asked

    @property
    def advice(self) -> str:
        """What to improve; or why there is no diagnosis."""
        known = self.diagnosis
        return str(known) if isinstance(known, NoDiagnosis) else known.advice

    @property
    def at(self) -> str:
        """The budget as it was asked for, with the cost it means."""
        return budget_text(self.numbers.asked, self.budget)

    def __repr__(self) -> str:
        kept = self.kept_by if self.kept_by == EVERYTHING_FITS else f"cut by {self.kept_by}"
        why = f" ({self.undefined})" if self.undefined else ""
        parts = [f"{visible_text(self.store)} at {self.at}: score {self.score_text}{why}", kept]
        lost = {name: share for name, share in self.losses.items() if share}
        if lost:
            parts.append("loses " + ", ".join(f"{k} {float(v):.1%}" for k, v in lost.items()))
        parts.append(self.optimum.status)
        return ", ".join([*parts, *(["an ESTIMATE"] if self.is_estimate else [])])

    def _repr_html_(self) -> str:
        if isinstance(self.diagnosis, NoDiagnosis):
            return html_text(repr(self))
        return html_text(repr(self)) + waterfall(self.diagnosis.kept_share, self.losses)


def margin(value: Fraction | None, interval: tuple[float, float] | None) -> str:
    """How far an interval reaches to both sides, as `\u00b10.05`; empty without one."""
    if interval is None or value is None:
        return ""
    # The wider side: clipped at 0 or 1, the other one says less than the error is.
    low, high = interval
    return f"\u00b1{max(float(value) - low, high - float(value)):.2f}"


def budget_text(asked: str, amount: Fraction) -> str:
    """`250`, or `10% (812)`."""
    text = short_exact(amount)
    return text if asked == text else f"{asked} ({text})"


def ratio_text(value: Fraction | None, between: tuple[Fraction, Fraction] | None) -> str:
    """A ratio, or an interval if it is not known."""
    if value is not None:
        return fixed(value)
    if between is None:
        return "undefined"
    low, high = map(fixed, between)
    return f"{low}..{high}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What another judge was asked after the offline judge, and whether that was enough."""

    judge: str
    goal: str
    """What was to be settled: the gate's minimum, the order of stores, or a width."""
    asked: int
    pairs: int
    rounds: int
    settled: bool
    certain: bool = False
    """Whether no answer about the rest could change a score."""
    optimum: Mapping[Fraction, tuple[Fraction, Fraction]] = field(default_factory=dict)
    """By budget, where OPT of the common union lies whatever the other answers would be."""

    @property
    def text(self) -> str:
        end = f"{self.goal} {'settled' if self.settled else 'not settled'}"
        if self.certain:
            end = "no other answer could change a score"
        elif not self.settled:
            end = "; ".join([end, *self._between])
        return (
            f"{self.judge} was asked about {self.asked:,} of {counted(self.pairs, 'pair')} in "
            f"{counted(self.rounds, 'round')}, the most influential first: {end}"
        )

    @property
    def _between(self) -> list[str]:
        return [
            f"OPT at {short_exact(budget)} lies between {float(low):g} and {float(high):g}"
            for budget, (low, high) in self.optimum.items()
        ]


@dataclass(frozen=True, slots=True, repr=False)
class ScoreResult:
    """The scores of all stores on one package.

    `result[250]`, `result["10%"]` and `result["own"]` are rows of a single store, of several ones
    `result["mem0", 250]`. `package` has the judge's cells, `original_package` those it was given
    with, and `digest` is of that. `union` is what OPT is taken over: only scores over the same
    union can be compared, `compare` sees to that.
    """

    package: Package
    original_package: Package
    digest: str
    scoring: Scoring
    exported: tuple[ExportedStore, ...]
    stores: tuple[JudgedStore, ...]
    verdicts: tuple[Verdict, ...]
    """How complete and how lean each store is as it stands."""
    rows: tuple[StoreScore, ...]
    union: Package
    package_cells: str = "judged"
    """Whether the package's assumed cells were `judged` like the stores, or `kept`."""
    asked: Asked | None = None

    def __iter__(self) -> Iterator[StoreScore]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> StoreScore:
        names = [store.name for store in self.stores]
        name, budget = key if isinstance(key, tuple) and len(key) == 2 else (None, key)
        if name is None and len(names) > 1:
            raise KeyError(f"{len(names)} stores are scored; ask for result[{names[0]!r}, {key!r}]")
        if name is not None and name not in names:
            raise KeyError(f"no store is called {name!r}; known stores: {', '.join(names)}")
        try:
            asked = asked_budget(budget)
        except MemAuditError as error:
            raise KeyError(str(error)) from None
        rows = [row for row in self.rows if name in (None, row.store)]
        # By its text, or by its cost: 812 finds the row of 10% that means 812.
        for row in rows:
            if asked.text == row.numbers.asked or asked.cost == row.budget:
                return row
        known = ", ".join(dict.fromkeys(row.numbers.asked for row in self.rows))
        raise KeyError(f"no score of {name or names[0]!r} at {budget!r}; known budgets: {known}")

    def verdict(self, store: str | None = None) -> Verdict:
        """How complete and how lean a store is; of several stores, the one of that name."""
        names = [verdict.store for verdict in self.verdicts]
        if store is None and len(names) > 1:
            raise KeyError(f"{len(names)} stores are scored; ask for verdict({names[0]!r})")
        if store is not None and store not in names:
            raise KeyError(f"no store is called {store!r}; known stores: {', '.join(names)}")
        return self.verdicts[0 if store is None else names.index(store)]

    def __repr__(self) -> str:
        return "\n".join(map(repr, (*self.verdicts, *self.rows)))

    @property
    def union_digest(self) -> str:
        return self.rows[0].optimum.digest

    @property
    def is_estimate(self) -> bool:
        """Whether much of a value rests on assumed cells, or a judge assumes what is 0."""
        return any(row.is_estimate for row in self.rows)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the scores rest on and do not see, a line each."""
        return (
            *outdated_lines(self),
            *rests_on(self),
            *judge_errors(self),
            *open_optima(self),
            *self.caveats,
        )

    @property
    def caveats(self) -> list[str]:
        """What the scores do not see of the stores."""
        return caveat_lines([(store.name, store.caveats) for store in self.stores])

    def to_frame(self) -> Any:
        """A pandas data frame with a row per store and budget."""
        return to_frame(self._frame())

    def _frame(self) -> Frame:
        losses = tuple(dict.fromkeys(step for row in self.rows for step in row.losses))
        names = (
            "store",
            "asked",
            "budget",
            "store_cost",
            "kept_by",
            "score",
            "low",
            "high",
            *losses,
            "certified",
            "is_estimate",
        )
        return names, [
            (
                row.store,
                row.numbers.asked,
                float(row.budget),
                float(row.numbers.written.cost),
                row.kept_by,
                row.score,
                *(row.interval or (None, None)),
                *(float(row.losses[step]) if step in row.losses else None for step in losses),
                row.optimum.certified,
                row.is_estimate,
            )
            for row in self.rows
        ]

    def _repr_html_(self) -> str:
        return html_table(*self._frame()) + "".join(map(html_text, self.warnings))

    def to_json(self, cells: bool = False) -> dict[str, Any]:
        """The data of `memaudit score --json`; with every cell and lost unit where asked for."""
        # Not above: score_json is written in terms of the classes of this module.
        from memaudit.kernel.score.score_json import package_scores_data

        return package_scores_data(self, cells)

    def save(self, path: str | Path) -> None:
        """Write the file that `memaudit score --json` prints, with cells and lost units."""
        file = Path(path)
        make_folder(file.parent)
        write_file(file, json.dumps(self.to_json(cells=True), indent=1) + "\n")


MOST_QUOTED, LONGEST_QUOTE = 3, 60


def outdated_lines(result: ScoreResult) -> list[str]:
    """Memories that may be outdated, where nobody said which texts are false."""
    lines = []
    for store in result.stores if result.scoring.truths is None else ():
        memories = maybe_outdated(result.package, store)
        if not memories:
            continue
        quoted = "; ".join(
            f'{memory.id} "{shortened(one_line(memory.text), LONGEST_QUOTE)}"'
            for memory in memories[:MOST_QUOTED]
        )
        more = f"; and {len(memories) - MOST_QUOTED} more" if len(memories) > MOST_QUOTED else ""
        lines.append(
            f"{store.name}: {counted(len(memories), 'memory')} may be outdated, an estimate (not a "
            f"word of what came later): {quoted}{more}"
        )
    return lines


def rests_on(result: ScoreResult) -> list[str]:
    """What values rest on: shares of assumed cells, copies of a text, cells that were asked."""
    lines: dict[tuple[str, str], list[str]] = {}
    for row in result.rows:
        optimum, kept = row.assumed
        if optimum or kept:
            mark = ": an ESTIMATE" if row.rests_on_assumed else ""
            line = (
                f"{float(optimum):.1%} of OPT and {float(kept):.1%} of what is kept rest on "
                f"assumed cells{mark}"
            )
            lines.setdefault((row.store, line), []).append(row.at)
    remarks = [f"{store} at {', '.join(at)}: {line}" for (store, line), at in lines.items()]
    # Once per store: copies are the same at every budget.
    copies = {row.store: row.numbers for row in result.rows if row.numbers.duplicates}
    for name, numbers in copies.items():
        once = "counted once" if result.package.equal_texts_once else "each counted"
        remarks.append(
            f"{name}: {counted(numbers.duplicates, 'memory')} with the text of another one, "
            f"{once}; cost {short_exact(numbers.duplicate_cost)}"
        )
    for written in result.stores:
        if not all(memory.has_order for memory in written.memories):
            remarks.append(
                f"{written.name}: entries of its documents have no times, so recency has no "
                "number; over budget it is cut from the top"
            )
    if result.package_cells == "kept":
        remarks.append("the package's own assumed cells were kept: the judge did not judge them")
    return remarks


def judge_errors(result: ScoreResult) -> list[str]:
    """What the intervals are, which stores are unrelated, and what another judge was asked."""
    lines = []
    if any(row.interval for row in result.rows):
        chances = [row.chance for row in result.rows if row.chance is not None]
        chance = f"; by chance a score is at most {max(chances):.3f}" if chances else ""
        lines.append(
            f"a\u00b1b: the score under the judge's published error, {result.scoring.draws} draws"
            f"{chance}"
        )
    unrelated: dict[str, list[str]] = {}
    for row in result.rows:
        if row.is_unrelated:
            unrelated.setdefault(row.store, []).append(row.at)
    lines += [
        f"{store} at {', '.join(at)}: UNRELATED to {result.package.name}: its memories score no "
        "more than against conversations they are not about"
        for store, at in unrelated.items()
    ]
    return [*lines, *([result.asked.text] if result.asked else [])]


def open_optima(result: ScoreResult) -> list[str]:
    """One line per optimum that is not certified."""
    lines: dict[str, None] = {}
    for row in result.rows:
        numbers = row.numbers
        optima = {
            "the package": numbers.kept.package_ratio.optimum,
            f"the union with {row.store}": numbers.kept.union_ratio.optimum,
            "the common union": row.optimum,
            f"{row.store} alone": numbers.best_optimum,
        }
        for what, optimum in optima.items():
            if not optimum.certified:
                budget = short_exact(row.budget)
                lines[f"bound: OPT of {what} at {budget} {bound_text(optimum)}"] = None
    return list(lines)
