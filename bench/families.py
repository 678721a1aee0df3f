"""The benchmark's problem families, drawn from fixed seeds.

A tiny, B a natural slice with a store, C full conversations, D very long ones, E dense with tight
budgets, H dense with loose budgets, R unions of real kind (unions.py; real_unions.py has the real
ones). Seeds give the same problems on every machine.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from bench.instance import Draft, Instance, Row
from bench.unions import LEXICAL, union, unions
from memaudit.kernel.errors import MemAuditError

STEPS = 10
"""Coverage levels of a conversation, up to full."""

C_BUDGETS = (100, 500, 1000, 2000, 3000, 5000)
C_CROSS = (0, 30, 60)
"""Cross-session memories of a full conversation: which of these, the seed decides."""

D_CASES = ((1000, 200), (5000, 0), (10000, 200))
"""Budget and cross-session memories."""

E_CASES = (
    (60, 100, 50),
    (60, 100, 100),
    (100, 200, 80),
    (100, 200, 150),
    (200, 300, 80),
    (200, 300, 150),
)
H_CASES = ((30, 60, 150), (60, 100, 200), (40, 80, 200))
"""Groups, units and budget."""

DEFAULT_SEEDS: dict[str, tuple[int, ...]] = {
    "A": tuple(range(701, 741)),
    "B": tuple(range(701, 741)),
    "C": (701, 702, 703),
    "D": (701, 702),
    "E": (701, 702),
    "H": (701, 702, 703),
    "R": (911, 912, 913),
}
"""Held out: nothing was tuned on them."""


def family(name: str, seeds: Iterable[int] | None = None) -> list[Instance]:
    """The problems of one family, by default those of its fixed seeds."""
    if name not in FAMILIES:
        raise MemAuditError(f"unknown family {name!r}; the families are {', '.join(FAMILIES)}")
    chosen = DEFAULT_SEEDS[name] if seeds is None else tuple(seeds)
    return [instance for seed in chosen for instance in FAMILIES[name](seed)]


def warm_up() -> list[Instance]:
    """Small problems of every kind, solved before any clock starts."""
    talk = conversation(_random("warm-up", 1), Shape(4, (8, 12), 0.7, 30, 4))
    return [
        *family("A", [1]),
        *family("B", [1]),
        Instance("warm-up conversation", talk.packed(150)),
        Instance("warm-up dense", _dense(_random("warm-up", 2), 25, 40).packed(60)),
        Instance("warm-up union", union(1, LEXICAL, 4, 2).packed(100)),
    ]


def _random(*key: str | int) -> Random:
    """A generator of its own for every key; text seeds give the same numbers everywhere."""
    return Random("/".join(map(str, key)))


def _tiny(seed: int) -> list[Instance]:
    random = _random("A", seed)
    draft = Draft(10, [random.randint(1, 5) for _ in range(10)])
    for _ in range(7):
        draft.groups.append([_tiny_candidate(random) for _ in range(random.randint(3, 5))])
    return [Instance(f"A{seed}", draft.packed(random.randint(2, 16)))]


def _tiny_candidate(random: Random) -> Row:
    units = random.sample(range(10), random.randint(1, 4))
    return random.randint(1, 6), {unit: random.choice((3, 5, 6, 8, 10)) for unit in units}


def _slice(seed: int) -> list[Instance]:
    random = _random("B", seed)
    units = random.randint(4, 20)
    draft = Draft(2, [0] * units)
    for unit in random.sample(range(units), min(units, random.randint(1, 6))):
        draft.weights[unit] = random.randint(1, 3)
    draft.groups += [_slice_session(random, units) for _ in range(random.randint(2, 6))]
    for _ in range(random.randint(5, 60)):
        covered = random.sample(range(units), random.choice((0, 1, 1, 1, 2, 3)))
        draft.groups.append([(random.randint(4, 40), _half_or_full(random, covered))])
    return [Instance(f"B{seed}", draft.packed(random.choice((30, 60, 100))))]


def _slice_session(random: Random, units: int) -> list[Row]:
    """A raw session that covers all its units, and shorter candidates covering some of it."""
    own = random.sample(range(units), min(units, random.randint(2, 6)))
    rows = [(random.randint(100, 220), dict.fromkeys(own, 2))]
    for _ in range(random.randint(3, 5)):
        covered = random.sample(own, random.randint(1, len(own)))
        rows.append((random.randint(8, 100), _half_or_full(random, covered)))
    return rows


def _half_or_full(random: Random, units: list[int]) -> dict[int, int]:
    return {unit: random.choice((1, 2)) for unit in units}


def _full(seed: int) -> list[Instance]:
    cross = C_CROSS[seed % len(C_CROSS)]
    draft = conversation(_random("C", seed), Shape(25, (18, 28), 0.7, 200, cross))
    instance = Instance("", draft.packed(0))
    return [instance.at(f"C{seed} cross {cross} B {budget}", budget) for budget in C_BUDGETS]


def _very_long(seed: int) -> list[Instance]:
    drawn = {
        cross: conversation(_random("D", seed), Shape(240, (16, 24), 1.0, 2500, cross))
        for cross in sorted({cross for _, cross in D_CASES})
    }
    return [
        Instance(f"D{seed} cross {cross} B {budget}", drawn[cross].packed(budget))
        for budget, cross in D_CASES
    ]


def _dense(random: Random, groups: int, units: int) -> Draft:
    draft = Draft(10, [random.randint(1, 10) for _ in range(units)])
    for _ in range(groups):
        rows: list[Row] = []
        for _ in range(random.randint(3, 4)):
            covered = random.sample(range(units), random.randint(5, 15))
            rows.append((random.randint(5, 40), {unit: random.randint(1, 9) for unit in covered}))
        draft.groups.append(rows)
    return draft


def _dense_cases(name: str, cases: Iterable[tuple[int, int, int]], seed: int) -> list[Instance]:
    return [
        Instance(
            f"{name}{seed} {groups} groups {units} units B {budget}",
            _dense(_random(name, seed, groups, units), groups, units).packed(budget),
        )
        for groups, units, budget in cases
    ]


@dataclass(frozen=True, slots=True)
class Shape:
    """How long a conversation is and what is asked about it."""

    sessions: int
    turns: tuple[int, int]
    unit_share: float
    queries: int
    cross: int


def conversation(random: Random, shape: Shape) -> Draft:
    """One conversation: a group per turn, per session's summaries and per cross-session memory."""
    draft = Draft(STEPS)
    sessions = [_session(random, shape, draft) for _ in range(shape.sessions)]
    filled = [units for units in sessions if units]
    draft.groups += [_summaries(random, units) for units in filled]
    draft.groups += [_profile(random, filled) for _ in range(shape.cross)]
    for _ in range(shape.queries):
        required = _required(random, filled, len(draft.weights))
        for unit in required:
            draft.weights[unit] += 12 // len(required)
    return draft


def _session(random: Random, shape: Shape, draft: Draft) -> list[int]:
    """Adds a session's turns to the draft; returns its units."""
    units: list[int] = []
    for _ in range(random.randint(*shape.turns)):
        own = None
        if random.random() < shape.unit_share:
            own = len(draft.weights)
            draft.weights.append(0)
            units.append(own)
        earlier = units[-2] if len(units) > 1 else None
        draft.groups.append(_turn(random, own, earlier))
    return units


def _turn(random: Random, own: int | None, earlier: int | None) -> list[Row]:
    """The raw turn, which covers its unit fully, and two to four shorter facts."""
    raw: dict[int, int] = {} if own is None else {own: STEPS}
    if earlier is not None and random.random() < 0.15:
        raw[earlier] = random.choice((2, 3, 4))
    rows = [(random.randint(20, 40), raw)]
    for _ in range(random.randint(2, 4)):
        fact: dict[int, int] = {} if own is None else {own: random.choice((8, 9, 10))}
        if earlier is not None and random.random() < 0.2:
            fact[earlier] = random.choice((2, 3, 4, 5))
        rows.append((random.randint(6, 14), fact))
    return rows


def _summaries(random: Random, units: list[int]) -> list[Row]:
    """Three to five summaries of one session: many units, each in part."""
    rows = []
    for _ in range(random.randint(3, 5)):
        covered = random.sample(units, min(len(units), random.randint(10, 25)))
        rows.append((random.randint(60, 130), {unit: random.randint(3, 7) for unit in covered}))
    return rows


def _profile(random: Random, sessions: list[list[int]]) -> list[Row]:
    """A memory about several sessions at once, in one to three wordings."""
    units = [random.choice(random.choice(sessions)) for _ in range(random.randint(2, 5))]
    return [
        (random.randint(10, 40), {unit: random.choice((4, 5, 6, 7, 8)) for unit in units})
        for _ in range(random.randint(1, 3))
    ]


def _required(random: Random, sessions: list[list[int]], units: int) -> list[int]:
    """What one query needs: units from anywhere, or all from one session."""
    count = random.randint(1, 4)
    session = random.choice(sessions)
    if random.random() < 0.5 or len(session) < count:
        return random.sample(range(units), count)
    return random.sample(session, count)


FAMILIES: dict[str, Callable[[int], list[Instance]]] = {
    "A": _tiny,
    "B": _slice,
    "C": _full,
    "D": _very_long,
    "E": lambda seed: _dense_cases("E", E_CASES, seed),
    "H": lambda seed: _dense_cases("H", H_CASES, seed),
    "R": unions,
}
