"""Problems small enough to try every store, and the trying."""

from itertools import product
from random import Random

from bench.instance import Draft, Instance
from bench.model import evaluate, feasible
from memaudit.solvers.packed import Packed


def mini(seed: int) -> Instance:
    """Like family A with four groups of one to three candidates; one unit has no weight."""
    random = Random(seed)
    draft = Draft(10, [0, *(random.randint(1, 5) for _ in range(4))])
    for _ in range(4):
        group = []
        for _ in range(random.randint(1, 3)):
            units = random.sample(range(5), random.randint(0, 3))
            levels = {unit: random.choice((3, 5, 6, 8, 10)) for unit in units}
            group.append((random.randint(0, 6), levels))
        draft.groups.append(group)
    return Instance(f"mini {seed}", draft.packed(random.randint(0, 12)))


def brute(packed: Packed) -> int:
    """The best value over all stores, one candidate or none per group."""
    groups: list[list[int | None]] = [[None] for _ in range(int(packed.group.max()) + 1)]
    for candidate, group in enumerate(packed.group.tolist()):
        groups[group].append(candidate)
    stores = (
        tuple(candidate for candidate in choice if candidate is not None)
        for choice in product(*groups)
    )
    return max(evaluate(packed, store) for store in stores if feasible(packed, store))
