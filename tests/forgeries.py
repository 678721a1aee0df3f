"""Ways of forging a certificate, by name."""

# ruff: noqa: ARG001 - every edit takes the same arguments

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

from memaudit.checker import _Problem
from memaudit.core.optimum import Certificate
from memaudit.core.package import Package
from tests.proofs import worth_of

F = Fraction


def instructions(proof: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The tape, word by word with its operands."""
    found, at = [], 0
    while at < len(proof):
        end = at + {1: 2, 2: 2, 6: 2}.get(proof[at], 1)
        if proof[at] == 3:
            end = at + 2 + 3 * proof[at + 1]
        elif proof[at] == 4:
            middle = at + 2 + proof[at + 1]
            end = middle + 1 + proof[middle]
        found.append(proof[at:end])
        at = end
    return found


def subtree(words: list[tuple[int, ...]], at: int) -> int:
    """Where the subtree that starts at this word ends."""
    owed = 1
    while owed:
        owed += {1: 1, 0: -1, 7: -1}.get(words[at][0], 0)
        at += 1
    return at


def joined(certificate: Certificate, words: list[tuple[int, ...]]) -> Certificate:
    """The certificate with another tape."""
    return replace(certificate, proof=tuple(number for word in words for number in word))


def pick(certificate: Certificate, random: Random, *kinds: int) -> tuple[Any, int]:
    """The tape's words, and the place of one of these kinds (-1: there is none)."""
    words = instructions(certificate.proof)
    places = [at for at, word in enumerate(words) if word[0] in kinds]
    return words, random.choice(places) if places else -1


Edit = Callable[[Package, Certificate, Random], Certificate | None]
EDITS: dict[str, Edit] = {}


def edit(function: Edit) -> Edit:
    """Register a way of forging a certificate."""
    EDITS[function.__name__.replace("_", " ")] = function
    return function


def with_store(package: Package, certificate: Certificate, ids: list[str]) -> Certificate:
    """Another store, its value stated truly."""
    problem = _Problem(package).at(certificate.budget, certificate.group_cap)
    value = worth_of(problem, frozenset(problem.ids.index(id) for id in ids))
    return replace(certificate, store=tuple(ids), value=F(value, problem.scale))


@edit
def dropped_item(package: Package, old: Certificate, random: Random) -> Certificate | None:
    if not old.store:
        return None
    gone = random.choice(old.store)
    return with_store(package, old, [id for id in old.store if id != gone])


@edit
def other_store(package: Package, old: Certificate, random: Random) -> Certificate | None:
    ids = [candidate.id for candidate in package.candidates]
    return with_store(package, old, random.sample(ids, random.randint(0, len(ids))))


@edit
def restated_value(package: Package, old: Certificate, random: Random) -> Certificate | None:
    return replace(old, value=old.value + F(random.choice((-2, -1, 1, 2)), old.scale))


@edit
def restated_scale(package: Package, old: Certificate, random: Random) -> Certificate | None:
    return replace(old, scale=random.choice((1, 2, old.scale * 2, old.scale // 2, old.scale + 1)))


@edit
def larger_budget(package: Package, old: Certificate, random: Random) -> Certificate | None:
    return replace(old, budget=old.budget + random.choice((F(1, 3), F(1), F(2), F(5), F(100))))


@edit
def smaller_budget(package: Package, old: Certificate, random: Random) -> Certificate | None:
    return replace(old, budget=max(F(0), old.budget - random.choice((F(1, 2), F(1), F(3)))))


@edit
def larger_cap(package: Package, old: Certificate, random: Random) -> Certificate | None:
    return replace(old, group_cap=old.group_cap + random.choice((1, 2, 9)))


@edit
def removed_subtree(package: Package, old: Certificate, random: Random) -> Certificate | None:
    words, at = pick(old, random, 1)
    if at < 0:
        return None
    kept = subtree(words, at + 1)
    if random.random() < 0.5:
        return joined(old, words[:at] + words[at + 1 : kept] + words[subtree(words, kept) :])
    return joined(old, words[:at] + words[kept:])


@edit
def swapped_subtrees(package: Package, old: Certificate, random: Random) -> Certificate | None:
    words, at = pick(old, random, 1)
    if at < 0:
        return None
    kept = subtree(words, at + 1)
    end = subtree(words, kept)
    return joined(old, words[: at + 1] + words[kept:end] + words[at + 1 : kept] + words[end:])


@edit
def other_branch(package: Package, old: Certificate, random: Random) -> Certificate | None:
    words, at = pick(old, random, 1)
    if at < 0:
        return None
    return joined(old, [*words[:at], (1, random.randint(-1, 9)), *words[at + 1 :]])


@edit
def branch_made_a_leaf(package: Package, old: Certificate, random: Random) -> Certificate | None:
    words, at = pick(old, random, 1)
    return None if at < 0 else joined(old, [*words[:at], (0,), *words[subtree(words, at) :]])


@edit
def leaf_called_broken(package: Package, old: Certificate, random: Random) -> Certificate | None:
    words, at = pick(old, random, 0)
    return None if at < 0 else joined(old, [*words[:at], (7,), *words[at + 1 :]])


@edit
def other_multiplier(package: Package, old: Certificate, random: Random) -> Certificate | None:
    words, at = pick(old, random, 2)
    if at < 0:
        return None
    mu = random.choice((0, words[at][1] // 2, 2 * words[at][1], words[at][1] + 1, 9**99))
    return joined(old, [*words[:at], (2, mu), *words[at + 1 :]])


@edit
def other_prices(package: Package, old: Certificate, random: Random) -> Certificate | None:
    words, at = pick(old, random, 3)
    if at < 0:
        return None
    word = list(words[at])
    for place in range(4, len(word), 3):
        word[place] = random.choice((0, word[place], word[place] // 2, 9**99))
    return joined(old, [*words[:at], tuple(word), *words[at + 1 :]])


@edit
def other_fixes(package: Package, old: Certificate, random: Random) -> Certificate | None:
    words, at = pick(old, random, 4)
    if at < 0:
        return None
    numbers = list(range(len(package.candidates)))
    banned = random.sample(numbers, random.randint(0, len(numbers)))
    kept = random.sample(numbers, random.choice((0, 0, 1, 2)) % (len(numbers) + 1))
    word = (4, len(banned), *banned, len(kept), *kept)
    return joined(old, [*words[:at], word, *words[at + 1 :]])


@edit
def added_fix(package: Package, old: Certificate, random: Random) -> Certificate | None:
    words, at = pick(old, random, 0, 1)
    if not package.candidates:
        return None
    u = random.randrange(len(package.candidates))
    return joined(old, [*words[:at], random.choice(((4, 1, u, 0), (4, 0, 1, u))), *words[at:]])


@edit
def other_layout(package: Package, old: Certificate, random: Random) -> Certificate | None:
    if not old.layouts:
        return None
    layout = [[list(units), list(groups)] for units, groups in random.choice(old.layouts)]
    units, groups = random.choice(layout)
    change = random.randrange(4)
    if change == 0:
        units.append(random.randint(-1, 4))
    elif change == 1:
        groups.insert(0, random.choice((-3, -2, -1, 0, 1, 2)))
    elif change == 2:
        groups[:] = [max(g, ~g) for g in groups]
    else:
        groups += groups
    new = tuple((tuple(units), tuple(groups)) for units, groups in layout)
    return replace(old, layouts=(new,) * len(old.layouts))


@edit
def cut_tape(package: Package, old: Certificate, random: Random) -> Certificate | None:
    return replace(old, proof=old.proof[: random.randrange(len(old.proof))])


@edit
def longer_tape(package: Package, old: Certificate, random: Random) -> Certificate | None:
    return replace(old, proof=(*old.proof, random.randint(0, 8)))


@edit
def random_word(package: Package, old: Certificate, random: Random) -> Certificate | None:
    proof = list(old.proof)
    proof[random.randrange(len(proof))] = random.choice((-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10**6))
    return replace(old, proof=tuple(proof))


@edit
def no_proof(package: Package, old: Certificate, random: Random) -> Certificate | None:
    return replace(old, proof=random.choice(((0,), (5, 0), (7,), (2, 10**9, 0))))


@edit
def claimed_less(package: Package, old: Certificate, random: Random) -> Certificate | None:
    """A worse store, with whatever proof seems to fit it best."""
    worse = dropped_item(package, old, random)
    again = worse and random.choice((no_proof, removed_subtree, other_multiplier, added_fix))
    return (again(package, worse, random) if worse and again else None) or worse


def priced(certificate: Certificate, problem: _Problem) -> Certificate:
    """The same proof with every price that is 0 by default written out, block by block."""
    zeros = [(u, r, 0) for u, row in enumerate(problem.rows) for r, _ in row]
    word = (3, len(zeros), *(number for entry in zeros for number in entry))
    words = instructions(certificate.proof)
    return joined(certificate, [word if old == (5,) else old for old in words])
