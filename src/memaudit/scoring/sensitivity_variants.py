"""The variants a score is checked under: judges, costs, group caps, and label noise."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from memaudit.core.cost import UNICODE_WORDS, cost_rule
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.grounds import is_exact
from memaudit.core.labels import FULL, NONE, PARTIAL
from memaudit.core.package import Coverage, Package
from memaudit.scoring.judge import Cell, cores, with_cores
from memaudit.scoring.written_store import DOCUMENT, MEMORY, WrittenStore

NoiseKind = Literal["flip", "resample", "move"]
NOISE_KINDS: tuple[NoiseKind, ...] = get_args(NoiseKind)
BASE = "base"


@dataclass(frozen=True, slots=True)
class Variant:
    """The same stores scored otherwise. Draws of the same noise share their name."""

    name: str
    package: Package
    stores: tuple[WrittenStore, ...]
    group_cap: int | None = None


USUAL_RULES = ("words", "bytes", "tokens:simple")


@dataclass(frozen=True, slots=True)
class VariantChoices:
    """What to vary.

    Budgets keep their numbers under every cost rule, as in the paper's appendix: a budget of 100 is
    100 words, or 100 of the units that `bytes` counts.
    """

    cost_rules: tuple[str, ...] | None = None
    """Words, bytes and simple tokens if not given; bytes alone if texts have no spaces."""
    group_caps: tuple[int, ...] = (1, 2, 3)
    noise: tuple[NoiseKind, ...] = ("flip", "move")
    rates: tuple[Fraction, ...] = (Fraction(1, 10),)
    repetitions: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if self.repetitions < 1:
            raise MemAuditError("label noise needs at least 1 repetition")
        for kind in self.noise:
            for rate in self.rates:
                Noise(kind, rate)
        if any(cap < 1 for cap in self.group_caps):
            raise MemAuditError("a group cap must be at least 1")


def variants(
    package: Package,
    stores: Sequence[WrittenStore],
    choices: VariantChoices,
    group_cap: int | None = None,
    judged: Mapping[str, tuple[Package, Sequence[WrittenStore]]] | None = None,
) -> Iterator[Variant]:
    """The base, every other judge, cost rule and group cap, and every draw of noise.

    `judged` are the same package and stores as other judges see them, by the judge's name.
    """
    stores = tuple(stores)
    yield Variant(BASE, package, stores, group_cap)
    for name, (by_other, others) in (judged or {}).items():
        yield Variant(judge_variant(name), by_other, tuple(others), group_cap)
    usual = ("bytes",) if package.cost_rule == UNICODE_WORDS else USUAL_RULES
    for rule in usual if choices.cost_rules is None else choices.cost_rules:
        if rule != package.cost_rule:
            measured = tuple(measured_by(rule, store) for store in stores)
            yield Variant(f"cost {rule}", package.recost(rule), measured, group_cap)
    for cap in choices.group_caps:
        if cap != (package.group_cap if group_cap is None else group_cap):
            yield Variant(f"k = {cap}", package, stores, cap)
    for kind in choices.noise:
        for rate in choices.rates:
            for repetition in range(choices.repetitions):
                noise = Noise(kind, rate, choices.seed, repetition)
                yield Variant(
                    f"{kind} {plain(rate)}", *mislabelled(package, stores, noise), group_cap
                )


def judge_variant(judge: str) -> str:
    """The name of the variant in which another judge decides."""
    return f"judge {judge}"


def measured_by(rule: str, store: WrittenStore) -> WrittenStore:
    """A store with its costs measured by another rule."""
    measure = cost_rule(rule)
    return replace(
        store,
        memories=tuple(
            replace(memory, cost=Fraction(measure(memory.text, MEMORY, memory.metadata)))
            for memory in store.memories
        ),
        documents=tuple(
            replace(document, cost=Fraction(measure(document.text, DOCUMENT)))
            for document in store.documents
        ),
    )


LABELS = (NONE, PARTIAL, FULL)
DRAWN = 1 << 64
"""The number of possible draws."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Some labels of package candidates and memories are wrong, chosen by a seed.

        flip      a label becomes one of the two others of none, partial and full, each as likely;
                  a part is kept or lost
        resample  a label is drawn again from all labels of the package and its stores
        move      a label goes to another unit, one its text has no label for: a miss and a false
                  alarm

    Labels are the listed cells. Cells that nobody listed stay 0 except for `move`, and cells that
    are exact by construction never change. What happens to a label depends on its text, its unit,
    the seed and the repetition alone: equal texts of two systems are mislabelled alike, as by one
    blind judge, and what goes wrong at a low rate goes wrong at a higher one too. After that, no
    part is kept without the core of its statement.
    """

    kind: NoiseKind
    rate: Fraction
    seed: int = 0
    repetition: int = 0

    def __post_init__(self) -> None:
        if self.kind not in NOISE_KINDS:
            raise MemAuditError(
                f"unknown noise {self.kind!r}; choose from {', '.join(NOISE_KINDS)}"
            )
        if not 0 <= self.rate <= 1:
            raise MemAuditError(f"noise rate {self.rate} is not between 0 and 1")

    def draw(self, text: str, unit: str) -> tuple[bool, int]:
        """Whether a label is changed, and a number to choose its new value by."""
        at = json.dumps([self.seed, self.repetition, text, unit]).encode()
        digest = hashlib.sha256(at).digest()
        changed = int.from_bytes(digest[:8]) < self.rate * DRAWN
        return changed, int.from_bytes(digest[8:16])


def mislabelled(
    package: Package, stores: Sequence[WrittenStore], noise: Noise
) -> tuple[Package, tuple[WrittenStore, ...]]:
    """The package and its stores with some of their labels wrong."""
    pool = _pool(package, stores)
    units = sorted(unit.id for unit in package.units)
    core_of = cores(package.units)
    rows: dict[str, dict[str, Coverage]] = defaultdict(dict)
    for row in package.coverage:
        rows[row.candidate][row.unit] = row
    coverage: list[Coverage] = []
    for candidate in package.candidates:
        before = rows.get(candidate.id, {})
        cells = {unit: Cell(row.value, row.provenance or "") for unit, row in before.items()}
        for unit, cell in noisy_cells(candidate.text, cells, units, pool, noise, core_of).items():
            if cell is cells.get(unit):
                coverage.append(before[unit])
            elif cell.value:
                coverage.append(
                    Coverage(
                        candidate=candidate.id,
                        unit=unit,
                        value=cell.value,
                        provenance=cell.provenance,
                    )
                )
    noisy = tuple(
        replace(
            store,
            memories=tuple(
                replace(
                    memory,
                    coverage=noisy_cells(memory.text, memory.coverage, units, pool, noise, core_of),
                )
                for memory in store.memories
            ),
        )
        for store in stores
    )
    return package.replace(coverage=tuple(coverage)), noisy


def noisy_cells(
    text: str,
    cells: Mapping[str, Cell],
    units: Sequence[str],
    pool: Sequence[Fraction],
    noise: Noise,
    core_of: Mapping[str, str],
) -> dict[str, Cell]:
    """The cells of one text after the noise; a cell that is not changed is the same object."""
    noisy = dict(cells)
    free = [unit for unit in units if unit not in cells]
    for unit, cell in sorted(cells.items()):
        changed, number = noise.draw(text, unit)
        if not changed or is_exact(cell.provenance):
            continue
        if noise.kind == "move":
            if not free or not cell.value:
                continue
            del noisy[unit]
            unit = free[number % len(free)]
            value = max(cell.value, noisy[unit].value if unit in noisy else NONE)
        else:
            among = pool
            if noise.kind == "flip":
                labels = (NONE, FULL) if unit in core_of else LABELS
                among = [label for label in labels if label != cell.value]
            value = among[number % len(among)]
        noisy[unit] = Cell(value, f"noise:{noise.kind}")
    return with_cores(noisy, core_of)


def _pool(package: Package, stores: Sequence[WrittenStore]) -> list[Fraction]:
    """All labels that noise may change, in order."""
    judged = [row.value for row in package.coverage if not is_exact(row.provenance)]
    for store in stores:
        for memory in store.memories:
            judged += (c.value for c in memory.coverage.values() if not is_exact(c.provenance))
    return sorted(judged)
