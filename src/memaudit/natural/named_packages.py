"""Packages as people name them: a path, a build folder, or the set that is shipped."""

from collections.abc import Iterable
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from memaudit.core.package import Package
from memaudit.datasets.registry import read_conversations
from memaudit.natural.annotations import Recipe, build
from memaudit.natural.build_folder import packages_at
from memaudit.natural.label_files import read_labels

PASSES = ("coverage", "blind_a", "blind_b")
"""The first is the packages' coverage; the others were made without sight of it or each other."""


@cache
def natural_set() -> tuple[Package, ...]:
    """26 invented conversations with units, memories and coverage labelled for them."""
    with as_file(files("memaudit").joinpath("examples", "natural")) as folder:
        labels = read_labels(
            folder / "units.jsonl",
            folder / "memories.jsonl",
            [folder / f"{name}.jsonl" for name in PASSES],
        )
        recipe = Recipe("chat", labels=labels)
        loaded = read_conversations(folder / "conversations.jsonl", recipe.format)
        return tuple(build(one, recipe).package for one in loaded)


NATURAL = "natural"
"""The word for the natural set that comes with the program; such a folder is `./natural`."""


def named_packages(names: Iterable[str]) -> list[Package]:
    """Packages of files, folders, build folders, or the natural set; in the order given."""
    found: list[Package] = []
    for name in names:
        found += natural_set() if name == NATURAL else packages_at(Path(name))
    return found
