"""Ways of forging a certificate, by name."""

# ruff: noqa: ARG001, ARG005 - every edit takes the same arguments

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random

from memaudit.kernel.checker import _Problem
from memaudit.kernel.package.optimum import Certificate
from memaudit.kernel.package.package import Package
from tests.proofs import worth_of

F = Fraction
Words = list[tuple[int, ...]]
"""A tape, word by word with its operands."""
Edit = Callable[[Package, Certificate, Random], Certificate | None]
WordEdit = Callable[[Words, int, Package, Random], Words]


def instructions(proof: tuple[int, ...]) -> Words:
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


def joined(certificate: Certificate, words: Words) -> Certificate:
    return replace(certificate, proof=tuple(number for word in words for number in word))


def subtree(words: Words, at: int) -> int:
    """Where the subtree that starts at this word ends."""
    owed = 1
    while owed:
        owed += {1: 1, 0: -1, 7: -1}.get(words[at][0], 0)
        at += 1
    return at


def with_store(package: Package, certificate: Certificate, ids: list[str]) -> Certificate:
    """Another store, its value stated truly."""
    problem = _Problem(package).at(certificate.budget, certificate.group_cap)
    value = worth_of(problem, frozenset(problem.ids.index(id) for id in ids))
    return replace(certificate, store=tuple(ids), value=F(value, problem.scale))


EDITS: dict[str, Edit] = {
    "restated value": lambda package, old, random: replace(
        old, value=old.value + F(random.choice((-2, -1, 1, 2)), old.scale)
    ),
    "restated scale": lambda package, old, random: replace(
        old, scale=random.choice((1, 2, old.scale * 2, old.scale // 2, old.scale + 1))
    ),
    "other fineness": lambda package, old, random: replace(
        old, fineness=random.choice((old.fineness * 2, old.fineness // 2, 1 << 16, 1 << 21, 1000))
    ),
    "larger budget": lambda package, old, random: replace(
        old, budget=old.budget + random.choice((F(1, 3), F(1), F(2), F(5), F(100)))
    ),
    "smaller budget": lambda package, old, random: replace(
        old, budget=max(F(0), old.budget - random.choice((F(1, 2), F(1), F(3))))
    ),
    "larger cap": lambda package, old, random: replace(
        old, group_cap=old.group_cap + random.choice((1, 2, 9))
    ),
    "cut tape": lambda package, old, random: replace(
        old, proof=old.proof[: random.randrange(len(old.proof))]
    ),
    "longer tape": lambda package, old, random: replace(
        old, proof=(*old.proof, random.randint(0, 8))
    ),
    "no proof": lambda package, old, random: replace(
        old, proof=random.choice(((0,), (5, 0), (7,), (2, 10**9, 0)))
    ),
}


def edit(function: Edit) -> Edit:
    EDITS[function.__name__.replace("_", " ")] = function
    return function


def word_edit(*kinds: int) -> Callable[[WordEdit], Edit]:
    """An edit of the tape at some word of these kinds."""

    def register(function: WordEdit) -> Edit:
        def forge(package: Package, old: Certificate, random: Random) -> Certificate | None:
            words = instructions(old.proof)
            places = [at for at, word in enumerate(words) if word[0] in kinds]
            if not places:
                return None
            return joined(old, function(words, random.choice(places), package, random))

        forge.__name__ = function.__name__
        return edit(forge)

    return register


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


@word_edit(1)
def removed_subtree(words: Words, at: int, package: Package, random: Random) -> Words:
    kept = subtree(words, at + 1)
    if random.random() < 0.5:
        return words[:at] + words[at + 1 : kept] + words[subtree(words, kept) :]
    return words[:at] + words[kept:]


@word_edit(1)
def swapped_subtrees(words: Words, at: int, package: Package, random: Random) -> Words:
    kept = subtree(words, at + 1)
    end = subtree(words, kept)
    return words[: at + 1] + words[kept:end] + words[at + 1 : kept] + words[end:]


@word_edit(1)
def other_branch(words: Words, at: int, package: Package, random: Random) -> Words:
    return [*words[:at], (1, random.randint(-1, 9)), *words[at + 1 :]]


@word_edit(1)
def branch_made_a_leaf(words: Words, at: int, package: Package, random: Random) -> Words:
    return [*words[:at], (0,), *words[subtree(words, at) :]]


@word_edit(0)
def leaf_called_broken(words: Words, at: int, package: Package, random: Random) -> Words:
    return [*words[:at], (7,), *words[at + 1 :]]


@word_edit(2)
def other_multiplier(words: Words, at: int, package: Package, random: Random) -> Words:
    mu = words[at][1]
    other = random.choice((0, mu // 2, 2 * mu, mu + 1, 9**99))
    return [*words[:at], (2, other), *words[at + 1 :]]


@word_edit(3)
def other_prices(words: Words, at: int, package: Package, random: Random) -> Words:
    word = list(words[at])
    for place in range(4, len(word), 3):
        word[place] = random.choice((0, word[place], word[place] // 2, 9**99))
    return [*words[:at], tuple(word), *words[at + 1 :]]


@word_edit(4)
def other_fixes(words: Words, at: int, package: Package, random: Random) -> Words:
    numbers = list(range(len(package.candidates)))
    banned = random.sample(numbers, random.randint(0, len(numbers)))
    kept = random.sample(numbers, random.choice((0, 0, 1, 2)) % (len(numbers) + 1))
    return [*words[:at], (4, len(banned), *banned, len(kept), *kept), *words[at + 1 :]]


@word_edit(0, 1)
def added_fix(words: Words, at: int, package: Package, random: Random) -> Words:
    if not package.candidates:
        return words
    u = random.randrange(len(package.candidates))
    return [*words[:at], random.choice(((4, 1, u, 0), (4, 0, 1, u))), *words[at:]]


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
def random_word(package: Package, old: Certificate, random: Random) -> Certificate | None:
    proof = list(old.proof)
    proof[random.randrange(len(proof))] = random.choice((-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10**6))
    return replace(old, proof=tuple(proof))


@edit
def claimed_less(package: Package, old: Certificate, random: Random) -> Certificate | None:
    """A worse store, with whatever proof seems to fit it best."""
    worse = dropped_item(package, old, random)
    if worse is None:
        return None
    proofs = (EDITS["no proof"], removed_subtree, other_multiplier, added_fix)
    return random.choice(proofs)(package, worse, random) or worse


def priced(certificate: Certificate, problem: _Problem) -> Certificate:
    """The same proof with every price that is 0 by default written out, block by block."""
    zeros = [(u, r, 0) for u, row in enumerate(problem.rows) for r, _ in row]
    word = (3, len(zeros), *(number for entry in zeros for number in entry))
    words = instructions(certificate.proof)
    return joined(certificate, [word if old == (5,) else old for old in words])
