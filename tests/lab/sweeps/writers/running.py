"""Helpers: run any writer, the packages every writer is run on, and hand-written views."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from memaudit.kernel.io.packages import example_package
from memaudit.kernel.package.package import Package
from memaudit.lab.sweeps.generators.registry import named_distribution
from memaudit.lab.sweeps.writers.protocol import (
    OracleView,
    Store,
    View,
    VisibleCandidate,
    VisibleExperience,
    Writer,
    visible,
)


def run(writer: Writer, package: Package, budget: Fraction, seed: int = 0) -> Store:
    if writer.peeks:
        return writer.write(OracleView(package), budget, seed)
    return writer.write(visible(package), budget, seed)


def everything(package: Package) -> Fraction:
    return sum((candidate.cost for candidate in package.candidates), Fraction(0))


@cache
def real_packages() -> tuple[Package, ...]:
    """The bundled example, and generated ones with one and two candidates per group."""
    made = [named_distribution(name).package(7) for name in ("base", "density_trap", "scope_shift")]
    return (example_package(), *made, made[1].replace(group_cap=2))


Offer = tuple[str, str, int] | tuple[str, str, int, Fraction]
"""Kind, text, cost and optionally confidence."""


def view_of(*groups: Sequence[Offer], cap: int = 1) -> View:
    """A view with one experience per group, which offers the candidates 0.0, 0.1 and so on."""
    return View(
        experiences=tuple(
            VisibleExperience(str(g), g, group[0][1] if group else "", None, None, None)
            for g, group in enumerate(groups)
        ),
        candidates=tuple(
            VisibleCandidate(
                f"{g}.{i}",
                str(g),
                offer[0],
                offer[1],
                Fraction(offer[2]),
                offer[3] if len(offer) > 3 else None,
            )
            for g, group in enumerate(groups)
            for i, offer in enumerate(group)
        ),
        group_cap=cap,
    )
