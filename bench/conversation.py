"""Conversations: turns kept raw or as facts, session summaries, memories that span sessions."""

from dataclasses import dataclass
from random import Random

from bench.draft import Draft, Row

STEPS = 10


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
    told = [units for units in sessions if units]
    draft.groups += [_summaries(random, units) for units in told]
    draft.groups += [_profile(random, told) for _ in range(shape.cross)]
    for _ in range(shape.queries):
        required = _required(random, told, len(draft.weights))
        for unit in required:
            draft.weights[unit] += 12 // len(required)
    return draft


def _session(random: Random, shape: Shape, draft: Draft) -> list[int]:
    """Adds a session's turns to the draft; returns the units it tells."""
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
        told = random.sample(units, min(len(units), random.randint(10, 25)))
        rows.append((random.randint(60, 130), {unit: random.randint(3, 7) for unit in told}))
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
