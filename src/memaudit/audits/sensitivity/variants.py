"""The variants a score is checked under; the first is the base."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from memaudit.audits.sensitivity.noise import Kind, Noise, mislabelled
from memaudit.audits.union import WrittenStore
from memaudit.core.cost import cost_rule
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.package import Package

BASE = "base"
COST_RULES = ("words", "bytes", "tokens:simple")
GROUP_CAPS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Variant:
    """The same stores scored otherwise. Draws of the same noise share their name."""

    name: str
    package: Package
    stores: tuple[WrittenStore, ...]
    group_cap: int | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """What to vary. Budgets keep their numbers under every cost rule, as in the paper's appendix:
    a budget of 100 is 100 words, or 100 of the units that `bytes` counts."""

    cost_rules: tuple[str, ...] = COST_RULES
    group_caps: tuple[int, ...] = GROUP_CAPS
    noise: tuple[Kind, ...] = ("flip", "move")
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
            raise MemAuditError("a group cap is 1 or more")


def variants(
    package: Package,
    stores: Sequence[WrittenStore],
    choices: Choices,
    group_cap: int | None = None,
    judged: Mapping[str, Sequence[WrittenStore]] | None = None,
) -> Iterator[Variant]:
    """The base, every other judge, cost rule and group cap, and every draw of noise.

    `judged` are the same stores as other judges see them, by the judge's name.
    """
    stores = tuple(stores)
    yield Variant(BASE, package, stores, group_cap)
    for name, others in (judged or {}).items():
        yield Variant(judge_variant(name), package, tuple(others), group_cap)
    for rule in choices.cost_rules:
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
    memories = (replace(one, cost=Fraction(measure(one.text))) for one in store.memories)
    return replace(store, memories=tuple(memories))
