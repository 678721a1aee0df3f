"""Packages to audit, as people name them on a command line."""

from collections.abc import Iterable
from pathlib import Path

from memaudit.core.package import Package
from memaudit.natural.build_folder import packages_at
from memaudit.natural.example import natural_set

NATURAL = "natural"
"""The word for the natural set that comes with the program; such a folder is `./natural`."""


def named_packages(names: Iterable[str]) -> list[Package]:
    """Packages of files, folders, build folders, or the natural set; in the order given."""
    found: list[Package] = []
    for name in names:
        found += natural_set() if name == NATURAL else packages_at(Path(name))
    return found
