"""The natural set that comes with the program, as packages."""

from functools import cache
from importlib.resources import as_file, files

from memaudit.core.package import Package
from memaudit.datasets.read import read_conversations
from memaudit.natural.annotations import Recipe, build
from memaudit.natural.labels.files import read_labels

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
