"""Family R, generated: one conversation and the stores that memory systems made of it.

Raw turns, session summaries and the memories of one to four systems, at coverage levels 0, 1/2
and 1. Two densities: *labelled* cells say what a text holds, *lexical* ones which words it shares
with a unit. Real unions (real_unions.py) are the pattern. Seeds below 900 were used to tune the
generator, and may be used to tune solvers; the default seeds are held out.

Checked on seeds 1 to 5 at budgets 250 to 1000, 8 s each. Lexical: 9 to 16 thousand cells, Gurobi
0.05 to 0.65 s with at most 119 nodes, HiGHS open on 4 of 20; the real R1j: 15 thousand cells,
Gurobi 0.09 to 0.22 s at its root, HiGHS open on 2 of 4. Labelled: 1.4 to 1.9 thousand cells,
Gurobi 0.02 to 0.06 s at its root, HiGHS open on 1 of 20; the real R2 and R5: 1.0 and 1.8 thousand
cells, Gurobi 0.01 to 0.02 s at its root, HiGHS up to 1.3 s.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random

from bench.instance import Draft, Instance, Row

HALF, FULL = 1, 2
LEXICAL, LABELLED = "lexical", "labelled"
DENSITIES = (LEXICAL, LABELLED)
"""Cells by words in common, or as somebody labels them."""

BUDGETS = (250, 500, 750, 1000, 2000, 4000)
SESSIONS = 19
TURNS = (18, 26)
TURN_WORDS = (8, 56)
SUMMARY_WORDS = (84, 236)
MEMORIES = 37
"""Of all systems together, per session."""
PER_SESSION = sum(TURNS) // 2 + 1 + MEMORIES
"""Candidates, on average."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a memory system writes: words of a memory, words per unit, units in a memory."""

    words: tuple[int, int]
    words_per_unit: tuple[int, int]
    units: tuple[int, ...]


STYLES = (
    Style((3, 9), (2, 6), (1, 1, 1, 2, 3)),
    Style((5, 12), (3, 8), (1, 2, 2, 3, 4)),
    Style((8, 20), (6, 12), (2, 3, 4, 5, 6)),
    Style((4, 10), (2, 7), (1, 1, 2, 3)),
)


def unions(seed: int) -> list[Instance]:
    """Both densities at every budget; the seed decides how many systems there are."""
    systems = 1 + seed % len(STYLES)
    drawn = {density: union(seed, density, SESSIONS, systems) for density in DENSITIES}
    return [
        Instance(f"R seed {seed} {density} B {budget}", drawn[density].packed(budget))
        for density in DENSITIES
        for budget in BUDGETS
    ]


def union(seed: int, density: str, sessions: int, systems: int) -> Draft:
    """A conversation and the memories of some systems, every candidate in a group of its own."""
    random = Random(f"R/{seed}/{density}")
    draft = Draft(FULL)
    told = [_session(random, draft) for _ in range(sessions)]
    memories = _Memories(random, told)
    for units in told:
        for _ in range(MEMORIES):
            memories.write(random.choice(STYLES[:systems]), units)
    rows = [row for group in draft.groups for row in group] + memories.rows
    if density == LEXICAL:
        rows = _by_shared_words(random, rows, len(draft.weights))
    draft.groups = [[row] for row in rows]
    return draft


def _session(random: Random, draft: Draft) -> list[int]:
    """Adds a session's turns and its summary to the draft; returns its units."""
    units: list[int] = []
    for _ in range(random.randint(*TURNS)):
        turn: dict[int, int] = {}
        if units and random.random() < 0.2:
            turn[units[-1]] = HALF
        for _ in range(random.choices((0, 1, 2), (63, 26, 11))[0]):
            unit = len(draft.weights)
            draft.weights.append(random.choices((1, 2, 3, 4), (83, 15, 1, 1))[0])
            turn[unit] = _level(random, 0.6)
            units.append(unit)
        draft.groups.append([(random.randint(*TURN_WORDS), turn)])
    covered = random.sample(units, len(units) * 4 // 5)
    summary = {unit: _level(random, 0.3) for unit in covered}
    draft.groups.append([(random.randint(*SUMMARY_WORDS), summary)])
    return units


def _level(random: Random, full: float) -> int:
    return FULL if random.random() < full else HALF


@dataclass(slots=True)
class _Memories:
    """What all systems wrote so far."""

    random: Random
    told: Sequence[Sequence[int]]
    rows: list[Row] = field(default_factory=list)

    def write(self, style: Style, units: Sequence[int]) -> None:
        """One more memory about a session: small talk, a paraphrase, or units of the session."""
        random, kind = self.random, self.random.random()
        levels: dict[int, int] = {}
        words = random.randint(*style.words)
        if not units or kind < 0.25:
            words += random.randint(*style.words_per_unit)
        elif self.rows and kind < 0.45:
            levels = self._paraphrase(units)
        else:
            count = min(len(units), random.choice(style.units))
            levels = {unit: _level(random, 0.62) for unit in random.sample(units, count)}
            if random.random() < 0.12:  # it spans sessions
                for unit in random.choice(self.told)[:2]:
                    levels.setdefault(unit, HALF)
        words += sum(random.randint(*style.words_per_unit) for _ in levels)
        self.rows.append((words, levels))

    def _paraphrase(self, units: Sequence[int]) -> dict[int, int]:
        """The cells of a recent memory, sometimes with one half more or less."""
        random = self.random
        levels = dict(random.choice(self.rows[-2 * MEMORIES :])[1])
        change = random.random()
        if change < 0.2:
            levels.setdefault(random.choice(units), HALF)
        elif change < 0.4 and levels:
            unit = random.choice(list(levels))
            levels[unit] -= HALF
            levels = {unit: level for unit, level in levels.items() if level}
        return levels


PEOPLE = 2
COMMON = range(PEOPLE, PEOPLE + 150)
OFTEN = list(accumulate(10_000 // (rank + 3) for rank in range(len(COMMON))))
"""How often each common word is said, summed up. Words are numbers: people, common, rare."""
KEPT = {FULL: 0.8, HALF: 0.5}
"""The share of a unit's words in a text that covers it."""


def _by_shared_words(random: Random, rows: Sequence[Row], units: int) -> list[Row]:
    """The same texts with the cells that the lexical judge would give them."""
    words: list[list[int]] = []
    rare = COMMON.stop
    for _ in range(units):
        own = {random.randrange(PEOPLE), *_common(random, random.randint(1, 3))}
        number = random.randint(2, 5)
        own.update(range(rare, rare + number))
        rare += number
        words.append(sorted(own))
    units_with: dict[int, list[int]] = defaultdict(list)
    for unit, own_words in enumerate(words):
        for word in own_words:
            units_with[word].append(unit)
    judged: list[Row] = []
    for cost, levels in rows:
        text = {random.randrange(PEOPLE), *_common(random, random.randint(0, cost // 9))}
        if random.random() < cost / 50:
            text.update(range(PEOPLE))
        for unit, level in levels.items():
            text.update(word for word in words[unit] if random.random() < KEPT[level])
        shared = Counter(unit for word in text for unit in units_with[word])
        cells = {unit: _lexical(shared[unit], len(words[unit])) for unit in sorted(shared)}
        judged.append((cost, {unit: level for unit, level in cells.items() if level}))
    return judged


def _common(random: Random, number: int) -> list[int]:
    return random.choices(COMMON, cum_weights=OFTEN, k=number)


def _lexical(shared: int, wanted: int) -> int:
    """Half of the words are enough, three quarters of a few; three tenths are a half."""
    if 4 * shared >= (3 if wanted <= 4 else 2) * wanted:
        return FULL
    return HALF if shared >= 2 and 10 * shared >= 3 * wanted else 0
