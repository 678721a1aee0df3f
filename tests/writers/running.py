"""Running any writer on a package, and the packages that every writer is run on."""

from fractions import Fraction
from functools import cache

import pytest

from memaudit.core.errors import MissingTool
from memaudit.core.package import Package
from memaudit.generators.registry import named_distribution
from memaudit.io.packages import example_package
from memaudit.writers.estimators.embedding import embedded
from memaudit.writers.protocol import OracleView, Store, Writer, visible
from memaudit.writers.registry import WRITERS


@cache
def missing_model() -> str:
    """Why there are no embeddings here; empty where there are."""
    try:
        embedded([])
    except MissingTool as error:
        return str(error)
    return ""


def usable(name: str) -> Writer:
    """The writer of that name; the test is skipped where its extra is not installed."""
    if "embedding" in name and missing_model():
        pytest.skip(missing_model())
    return WRITERS[name]


def installed() -> list[str]:
    """The writers that run here."""
    return [name for name in sorted(WRITERS) if not ("embedding" in name and missing_model())]


def run(writer: Writer, package: Package, budget: Fraction, seed: int = 0) -> Store:
    """What a writer keeps of a package."""
    if writer.peeks:
        return writer.write(OracleView(package), budget, seed)
    return writer.write(visible(package), budget, seed)


def everything(package: Package) -> Fraction:
    """What all candidates cost together."""
    return sum((candidate.cost for candidate in package.candidates), Fraction(0))


@cache
def real_packages() -> tuple[Package, ...]:
    """The bundled example, and generated ones with one and two candidates a group."""
    made = [named_distribution(name).package(7) for name in ("base", "density_trap", "scope_shift")]
    return (example_package(), *made, made[1].replace(group_cap=2))
