"""Lazy judging: the exact optimum under a judge from a few percent of the labels.

A filter proposes pairs of a text and a unit; the others count as not covered. An unasked pair has
the value 0 and the upper bound 1. Every round solves with guesses for unasked pairs, asks about
those that the best stores use, and puts the answers in, until a best store rests on answers alone.
Guesses go from what is expected to the upper bound, so that rounds are spent on likely pairs first.

Why the result is exact. F does not fall if a cell rises. So the optimum under the judge's labels
lies between that of the answers so far (unasked pairs at 0) and that of the upper bounds. If a
store that is best under the upper bounds is worth the same with unasked pairs at 0, both are equal
and the store is optimal, whatever the judge would say about the rest. docs/optima.md has the whole
proof. Every pair of a store that the filter keeps is judged, what is kept within a budget first.

A statement with parts is kept by the filter, and asked about, as a whole.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from memaudit.core.grounds import UNJUDGED
from memaudit.core.package import EvidenceUnit, Package
from memaudit.core.text import content_key, counted
from memaudit.core.unit_parts import WholeUnit, whole_units
from memaudit.scoring.candidate_cells import as_memory, assumed_pairs, with_cells
from memaudit.scoring.heading_credit import NOT_NAMED, count_once, heading_texts
from memaudit.scoring.judge import (
    IN_PART,
    NO_CORE,
    AskedPair,
    Cell,
    Judge,
    MemoryText,
    NotJudged,
    Pair,
    ask_judge,
)
from memaudit.scoring.pair_filters import PairFilter
from memaudit.scoring.pruning import keep_within, prune, usable_policies
from memaudit.scoring.readable import refuse_unreadable
from memaudit.scoring.score import StoreScorer
from memaudit.scoring.written_store import WrittenStore

NONE, ALL = Fraction(0), Fraction(1)

EXPECTED = ((0.6, Fraction(1)), (0.4, Fraction(1, 2)), (0.3, Fraction(1, 4)))
"""By the weighted share of a unit's terms in a text, about what readers find covered in the shipped
conversations."""

STAGES: tuple[Callable[[float], Fraction], ...] = (
    lambda likely: next((value for least, value in EXPECTED if likely >= least), NONE),
    lambda likely: ALL if likely >= 0.4 else NONE,
    lambda likely: ALL if likely >= 0.2 else NONE,
    lambda likely: ALL,  # noqa: ARG005 - the upper bound of every pair
)
"""What an unasked pair is taken for, stage by stage."""

GUESSING = 2.0
"""Seconds of a solve with guesses: a good store is enough."""

LOOK_AHEAD = 3
"""Times that a round solves again, as if its pairs were answered by none, to fill its batch."""


@dataclass(frozen=True, slots=True)
class LazyRound:
    """The state after a round: cells asked of those the filter keeps, and where OPT lies."""

    number: int
    asked: int
    kept: int
    between: Mapping[Fraction, tuple[Fraction, Fraction]]
    """By budget, for the package with all stores."""


@dataclass(frozen=True, slots=True)
class LazyPlan:
    """How to judge lazily. A round asks about `round_cells` pairs if there are so many."""

    filter: PairFilter
    max_cells: int | None = None
    round_cells: int = 200
    progress: Callable[[LazyRound], None] = lambda _: None
    announce: Callable[[Collection[AskedPair]], None] = lambda _: None
    """Told all pairs that may be asked about, before the first of them is."""


@dataclass(frozen=True, slots=True)
class LazyResult:
    """The package and its stores with values and upper bounds, and what it took."""

    package: Package
    stores: tuple[WrittenStore, ...]
    pairs: int
    kept: int
    asked: int
    rounds: int
    stopped: bool
    """Whether `max_cells` ended it before the optima were exact."""


def judge_lazily(
    package: Package,
    stores: Sequence[WrittenStore],
    judge: Judge,
    budgets: Sequence[Fraction],
    plan: LazyPlan,
    group_cap: int | None = None,
    seconds: float | None = None,
    trust_package_cells: bool = False,
) -> LazyResult:
    """Judge what the optima of all budgets rest on; stores come measured, without cells."""
    for store in stores:
        memories = [memory.text for memory in store.memories]
        try:
            refuse_unreadable(judge, package, memories)
            refuse_unreadable(plan.filter, package, memories, "--filter all")
        except NotJudged as error:
            raise NotJudged(f"store {store.name!r}: {error}") from None
    wanted = assumed_pairs(package)
    if trust_package_cells or not judge.judges_candidates:
        wanted = {}
    work = _Work(package, stores, judge, plan, budgets, group_cap, wanted)
    plan.announce(work.text_pairs)
    rounds, highest = 0, work.bounds()

    def ask(batch: Sequence[Pair]) -> None:
        nonlocal rounds
        rounds += 1
        work.ask(batch)
        lowest = work.known_values()
        between = {budget: (lowest[budget], highest[budget]) for budget in budgets}
        plan.progress(LazyRound(rounds, len(work.answers), len(work.likely), between))

    if kept := work.pairs_of([*work.headings, *_scored_memories(stores, budgets)]):
        ask(kept)
    for stage in STAGES:
        while not work.is_full:
            batch = work.round(stage)
            if not batch and stage is STAGES[-1]:  # now that the bounds are close, prove it
                batch = work.round(stage, seconds)
            if not batch:
                break
            ask(batch)
        now = work.bounds()  # a solve that ran out of time may give a worse bound than before
        highest = {budget: min(bound, now[budget]) for budget, bound in highest.items()}
    rest = work.pairs_of(id for store in stores for id in store.candidate_ids)
    if rest and not work.is_full:
        ask(rest)
    stopped = bool(work.pairs_of(id for store in stores for id in store.candidate_ids)) or bool(
        work.is_full and work.round(STAGES[-1])
    )
    final, judged = work.frozen()
    return LazyResult(
        final, judged, work.pairs, len(work.likely), len(work.answers), rounds, stopped
    )


def _scored_memories(stores: Sequence[WrittenStore], budgets: Sequence[Fraction]) -> Iterator[str]:
    """Everything that a store is scored by: what it keeps within each budget."""
    for store in stores:
        for budget in budgets:
            yield from keep_within(store, budget).ids
            for policy in usable_policies(store):
                yield from prune(store, budget, policy)


class _Work:
    """The texts to judge, the pairs the filter keeps, and the answers so far."""

    def __init__(
        self,
        package: Package,
        stores: Sequence[WrittenStore],
        judge: Judge,
        plan: LazyPlan,
        budgets: Sequence[Fraction],
        group_cap: int | None,
        candidates: Mapping[str, list[str]],
    ) -> None:
        self.package, self.stores, self.judge, self.plan = package, tuple(stores), judge, plan
        self._budgets, self._group_cap = budgets, group_cap
        self.unit: dict[str, EvidenceUnit] = {unit.id: unit for unit in package.asked_units}
        self.whole: dict[str, WholeUnit] = {
            unit.id: whole for whole in whole_units(package.asked_units) for unit in whole.units
        }
        self.headings: list[str] = []
        self.parts = {
            store.whole_id(document): tuple(map(store.candidate_id, document.parts))
            for store in self.stores
            for document in store.documents
        }
        texts, wanted = self._texts_and_units(candidates)
        silent = judge.judge(list(texts.values()), package.units, ())
        self.unknown, self.left_out = silent.unknown, Counter(silent.left_out)
        for store in self.stores:
            if missing := silent.unknown.intersection(store.candidate_ids):
                raise NotJudged(
                    f"store {store.name!r}: {len(missing)} of "
                    f"{counted(len(store.memories), 'memory')} are not among the texts of "
                    f"{judge.name}"
                )
        self.text = {id: text for id, text in texts.items() if id not in silent.unknown}
        self.wanted = {id: units for id, units in wanted.items() if id in self.text}
        first: dict[str, str] = {}
        once = package.equal_texts_once
        self.asked_as = {
            id: first.setdefault((content_key(text.text) if once else text.text) or id, id)
            for id, text in self.text.items()
        }
        # In a union a candidate that is judged may stand for a memory that is not.
        self.standing = {
            candidate.id: first[key]
            for candidate in package.candidates
            if once and (key := content_key(candidate.text)) in first
        }
        likely = plan.filter.likely(
            [self.text[id].text for id in first.values()],
            [whole.text for whole in whole_units(package.asked_units)],
        )
        open_pairs = {
            (self.asked_as[id], unit) for id, units in self.wanted.items() for unit in units
        }
        self.pairs = len(open_pairs)
        self.likely: dict[Pair, float] = {
            (id, unit): likely[at]
            for id, unit in sorted(open_pairs)
            if (at := (self.text[id].text, self.whole[unit].text)) in likely
        }
        self.units_of: dict[str, list[str]] = {}
        for id, unit in self.likely:
            self.units_of.setdefault(id, []).append(unit)
        self.answers: dict[Pair, Cell | None] = {}

    def _texts_and_units(
        self, candidates: Mapping[str, list[str]]
    ) -> tuple[dict[str, MemoryText], dict[str, list[str]]]:
        """By id, every text to judge and the units that are open for it."""
        package, wanted = self.package, dict(candidates)
        texts = {id: as_memory(package.candidate[id], package) for id in wanted}
        for store in self.stores:
            for memory in store.memories:
                id = store.candidate_id(memory)
                texts[id] = MemoryText(id, memory.text, memory.sources, package.name)
                wanted[id] = list(self.unit)
            for heading in heading_texts(store, package.name):
                id = store.candidate_id(heading.id)
                self.headings.append(id)
                texts[id] = replace(heading, id=id)
                wanted[id] = list(self.unit)
        return texts, wanted

    @property
    def text_pairs(self) -> list[AskedPair]:
        """All texts and statements that may be asked about, the likeliest first."""
        pairs = sorted(self.likely, key=lambda at: (-self.likely[at], at))[: self.plan.max_cells]
        asked = {(id, self.whole[unit].id): self.whole[unit] for id, unit in pairs}
        return [(self.text[id].text, whole) for (id, _), whole in asked.items()]

    @property
    def is_full(self) -> bool:
        """Whether no more cells may be asked."""
        return self.plan.max_cells is not None and len(self.answers) >= self.plan.max_cells

    def pairs_of(self, ids: Iterable[str], beside: Iterable[Pair] = ()) -> list[Pair]:
        """The kept pairs of some texts that nobody was asked about, the likeliest first."""
        known = self.answers.keys() | set(beside)
        known_as = {**self.standing, **self.asked_as}
        single = (part for id in ids for part in self.parts.get(id, (id,)))
        asked_as = dict.fromkeys(known_as[id] for id in single if id in known_as)
        pairs = [(id, unit) for id in asked_as for unit in self.units_of.get(id, ())]
        return sorted(
            (pair for pair in pairs if pair not in known), key=lambda at: (-self.likely[at], at)
        )

    def ask(self, pairs: Sequence[Pair]) -> None:
        """Ask the judge, up to the limit. Of a statement all parts are asked, even beyond it."""
        if self.plan.max_cells is not None:
            pairs = pairs[: max(0, self.plan.max_cells - len(self.answers))]
        if not pairs:
            return
        pairs = list(
            dict.fromkeys((id, part.id) for id, unit in pairs for part in self.whole[unit].units)
        )
        texts = [self.text[id] for id in dict.fromkeys(id for id, _ in pairs)]
        judged = ask_judge(self.judge, texts, list(self.unit.values()), pairs)
        for why in (NO_CORE, IN_PART):
            if why in judged.left_out:
                self.left_out[why] += judged.left_out[why]
        undecided = set(judged.undecided)
        nothing = Cell(NONE, f"judged:{self.judge.name}")
        for id, unit in pairs:
            cell = judged.cells.get(id, {}).get(unit, nothing)
            self.answers[id, unit] = None if (id, unit) in undecided else cell

    def round(
        self, guess: Callable[[float], Fraction], seconds: float | None = GUESSING
    ) -> list[Pair]:
        """The unasked pairs that the best stores under these guesses use; none if they use none."""
        batch: dict[Pair, None] = {}
        for ahead in range(1 + LOOK_AHEAD):
            scorer = self._scorer(guess, batch, GUESSING if ahead else seconds)
            new = [
                pair
                for best in _best_stores(scorer, self._budgets)
                for pair in self.pairs_of(best, batch)
                if guess(self.likely[pair])
            ]
            batch.update(dict.fromkeys(new))
            if not new or len(batch) >= self.plan.round_cells:
                break
        return list(batch)

    def bounds(self) -> dict[Fraction, Fraction]:
        """By budget, what the optimum of everything is at most."""
        scorer = self._scorer(STAGES[-1], (), GUESSING)
        return {budget: scorer.common_optimum(budget).bound for budget in self._budgets}

    def known_values(self) -> dict[Fraction, Fraction]:
        """By budget, the best store found by what is known."""
        scorer = self._scorer(lambda _: NONE, (), GUESSING)
        return {budget: scorer.common_optimum(budget).value for budget in self._budgets}

    def _scorer(
        self, guess: Callable[[float], Fraction], none: Iterable[Pair], seconds: float | None
    ) -> StoreScorer:
        """A scorer where unasked pairs have guessed values, and `none` nothing."""
        nothing = set(none)

        def cell(pair: Pair) -> Cell | None:
            value = NONE if pair in nothing else guess(self.likely[pair])
            return Cell(value, UNJUDGED) if value else None

        package, stores = self._with(cell)
        return StoreScorer(package, stores, self._group_cap, seconds)

    def frozen(self) -> tuple[Package, tuple[WrittenStore, ...]]:
        """The package and stores with answers, and with upper bounds where nobody was asked."""
        return self._with(lambda _: Cell(NONE, UNJUDGED, "", ALL))

    def _with(
        self, unasked: Callable[[Pair], Cell | None]
    ) -> tuple[Package, tuple[WrittenStore, ...]]:
        """The package and stores. Without an answer of the judge a memory does not cover a unit,
        and a candidate keeps its cell."""
        by_text: dict[str, dict[str, Cell]] = {}
        undecided: set[Pair] = set()
        for pair in self.likely:
            cell = self.answers[pair] if pair in self.answers else unasked(pair)
            if cell is not None:
                by_text.setdefault(pair[0], {})[pair[1]] = cell
            elif pair in self.answers:
                undecided.add(pair)
        cells = {id: by_text.get(own, {}) for id, own in self.asked_as.items()}
        decided = [
            (id, unit)
            for id, units in self.wanted.items()
            if id in self.package.candidate
            for unit in units
            if (self.asked_as[id], unit) not in undecided
        ]
        stores = tuple(self._written(store, cells, undecided) for store in self.stores)
        return with_cells(self.package, cells, decided), stores

    def _written(
        self, store: WrittenStore, cells: Mapping[str, Mapping[str, Cell]], undecided: set[Pair]
    ) -> WrittenStore:
        """A store with its cells, and what its judge could not say."""
        own = {memory.id: store.candidate_id(memory) for memory in store.memories}
        headings = heading_texts(store, self.package.name)
        silent = sum(store.candidate_id(heading.id) in self.unknown for heading in headings)
        written = replace(
            store,
            memories=tuple(
                replace(memory, coverage=cells.get(own[memory.id], {})) for memory in store.memories
            ),
        ).judged(
            [
                (id, unit)
                for id, candidate in own.items()
                for unit in self.unit
                if (self.asked_as.get(candidate, ""), unit) in undecided
            ],
            {**self.left_out, **({NOT_NAMED: silent} if silent else {})},
        )
        return count_once(
            written,
            {heading.id: cells.get(store.candidate_id(heading.id), {}) for heading in headings},
        )


def _best_stores(scorer: StoreScorer, budgets: Sequence[Fraction]) -> Iterator[tuple[str, ...]]:
    """The optima that scores are made of."""
    for budget in budgets:
        yield scorer.common_optimum(budget).store
        if scorer.stores and scorer.package.candidates:
            yield scorer.package_optimum(budget).store
        for store in scorer.stores:
            if len(scorer.stores) > 1:
                yield scorer.union_optimum(store, budget).store
            yield scorer.upper_optimum(store, budget).store
