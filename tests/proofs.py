"""A prover for tests: random proofs in every word of the checker's language, right or hopeless.

It asks the checker itself what it would accept at each node and takes all of it, so a checker that
accepts too much in any step is led to a false proof.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product
from random import Random
from typing import Any

from memaudit.kernel.checker import Q, _Checker, _Layout, _Node, _Problem
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.optimum import Certificate, Layout
from memaudit.kernel.package.package import Package

Cell = tuple[str, str, Any]


def package(
    candidates: str,
    units: Mapping[str, Any],
    cells: Iterable[tuple[Any, ...]] = (),
    /,
    response: Any = None,
    texts: Mapping[str, str] | None = None,
    generator: str | None = None,
    **more: Any,
) -> Package:
    """Candidates as `id:experience:cost` or `id:experience:cost:kind`; units by weight, or by their
    fields; a fourth part of a cell is its provenance. `more` are fields of the package."""
    rows = [(*word.split(":"), "fact")[:4] for word in candidates.split()]
    extra = {} if response is None else {"response": response}
    return Package.model_validate(
        {
            "name": "hand-made",
            "experiences": [{"id": id} for id in sorted({row[1] for row in rows})],
            "candidates": [
                {
                    **dict(zip(("id", "experience", "cost", "kind"), row, strict=True)),
                    "text": (texts or {}).get(row[0], ""),
                    "generator": generator,
                }
                for row in rows
            ],
            "units": [
                {
                    "id": id,
                    "kind": "fact",
                    **extra,
                    **(of if isinstance(of, dict) else {"weight": of}),
                }
                for id, of in units.items()
            ],
            "coverage": [
                dict(zip(("candidate", "unit", "value", "provenance"), cell, strict=False))
                for cell in cells
            ],
            **more,
        }
    )


def certificate(
    package: Package,
    budget: int,
    value: Any,
    store: str,
    *proof: int,
    layouts: tuple[Layout, ...] = (),
    scale: int = 1,
    cap: int = 1,
) -> Certificate:
    """A certificate of this package, right or wrong; ids of one letter each."""
    return Certificate(
        digest(package), Fraction(budget), cap, Fraction(value), scale, tuple(store), proof, layouts
    )


def faint(package: Package) -> Package:
    """The same package with coverage so small that h is straight and only its rounding bends."""
    cells = [
        cell.model_copy(update={"value": cell.value / 3_000_000_000}) for cell in package.coverage
    ]
    return package.replace(coverage=tuple(cells))


def stores(problem: _Problem) -> list[tuple[frozenset[int], int]]:
    """Every feasible store and what it is worth, in the checker's whole numbers."""
    groups: dict[int, list[int]] = {}
    for u, group in enumerate(problem.group):
        groups.setdefault(group, []).append(u)
    choices = [
        [c for size in range(problem.cap + 1) for c in combinations(members, size)]
        for members in groups.values()
    ]
    found = []
    for choice in product(*choices):
        store = frozenset(u for part in choice for u in part)
        if sum(problem.cost[u] for u in store) <= problem.budget:
            found.append((store, worth_of(problem, store)))
    return found


def worth_of(problem: _Problem, store: frozenset[int]) -> int:
    """What a store is worth, added up from scratch."""
    levels: dict[int, int] = {}
    for u in store:
        for r, level in problem.rows[u]:
            levels[r] = levels.get(r, 0) + level
    return sum(problem.worth[r][min(z, problem.top[r])] for r, z in levels.items())


def random_layout(problem: _Problem, random: Random) -> Layout:
    """Some units in blocks, some groups inside them, in any order and named more than once."""
    units = list(range(len(problem.top)))
    random.shuffle(units)
    count = random.randint(1, 3)
    parts = [tuple(units[i::count]) for i in range(count)]
    if len(parts) > 1 and random.random() < 0.5:
        parts.pop()
    everyone = sorted(set(problem.group))
    taken: set[int] = set()
    layout = []
    for part in parts:
        named = []
        for group in random.sample(everyone, random.randint(0, len(everyone))):
            touched = {
                r for u, row in enumerate(problem.rows) if problem.group[u] == group for r, _ in row
            }
            fits = problem.cap == 1 and touched <= set(part) and group not in taken
            if fits and random.random() < 0.7:
                taken.add(group)
                named += [group] * random.randint(1, 2)
            else:
                named += [~group] * random.randint(1, 2)
        layout.append((part, tuple(named)))
    return tuple(layout)


def random_mu(problem: _Problem, random: Random) -> int:
    """A price of the budget: none, about right, or absurd."""
    most = Q * (sum(table[top] for table, top in zip(problem.worth, problem.top, strict=True)) + 1)
    cost = max([1, *problem.cost])
    return random.choice((0, random.randint(0, most // cost + 1), random.randint(0, most), 9**99))


def random_prices(problem: _Problem, blocks: int, random: Random) -> list[tuple[int, int, int]]:
    """Prices for candidates and blocks, some of which do not exist."""
    prices = []
    for _ in range(random.randint(0, 8)):
        u = random.randint(-1, len(problem.cost))
        b = random.randint(-1, blocks + len(problem.top))
        rows = problem.rows[u] if 0 <= u < len(problem.rows) else ()
        gain = Q * sum(problem.worth[r][min(problem.top[r], level)] for r, level in rows)
        prices.append((u, b, random.choice((0, gain, random.randint(0, gain + 1), 9**99))))
    return prices


def prove(
    package: Package, budget: Fraction, cap: int, store: frozenset[int], random: Random
) -> Certificate | None:
    """A proof that this store is best, or None where even this checker refuses all of it."""
    problem = _Problem(package).at(budget, cap)
    value = worth_of(problem, store)
    checker = _Checker(problem, Q * (value + problem.grain))
    layouts = [random_layout(problem, random) for _ in range(2)]
    tape: list[int] = []
    waiting = [_Node(problem.useful(across=False), problem.budget, _Layout(problem, ()))]
    while waiting:
        node = waiting.pop()
        tape += _words(problem, node, layouts, random)
        tape += _fixes(checker, node)
        if node.left < 0 or max(node.kept.values(), default=0) > cap:
            tape.append(7)
            continue
        if checker.bound(node).total >= checker.target and not node.open:
            tape += (2, 0)
            node.mu = 0
        if checker.bound(node).total < checker.target:
            tape.append(0)
        elif not node.open:
            return None
        else:
            u = random.choice(node.open)
            tape += (1, u)
            node.open = tuple(v for v in node.open if v != u)
            other = _Node(
                node.open,
                node.left,
                node.layout,
                node.base,
                node.kept,
                node.mu,
                node.prices,
                node.free,
            )
            checker.keep(node, [u])
            waiting += [other, node]
    ids = tuple(sorted(problem.ids[u] for u in store))
    return Certificate(
        digest(package),
        budget,
        cap,
        Fraction(value, problem.scale),
        problem.scale,
        ids,
        tuple(tape),
        tuple(layouts),
    )


def _words(problem: _Problem, node: _Node, layouts: list[Layout], random: Random) -> Iterator[int]:
    """New multipliers for a node, now and then."""
    if random.random() < 0.3:
        index = random.randrange(len(layouts))
        node.layout, node.prices = _Layout(problem, layouts[index]), {}
        yield from (6, index)
    if random.random() < 0.5:
        node.mu = random_mu(problem, random)
        yield from (2, node.mu)
    if random.random() < 0.4:
        prices = random_prices(problem, len(node.layout.order), random)
        node.prices = {**node.prices, **{(u, b): price for u, b, price in prices}}
        yield from (3, len(prices), *(word for entry in prices for word in entry))
    if random.random() < 0.1:
        node.free = True
        yield 5


def _fixes(checker: _Checker, node: _Node) -> Iterator[int]:
    """Every decision the checker takes for justified."""
    bound = checker.bound(node, falls=True)
    low = checker.target - bound.total
    banned = [u for u, fall in bound.fall_in.items() if -fall < low]
    kept = [u for u, fall in bound.fall_out.items() if -fall < low and u not in banned]
    if banned or kept:
        checker.fix(node, banned, kept)
        yield from (4, len(banned), *banned, len(kept), *kept)
