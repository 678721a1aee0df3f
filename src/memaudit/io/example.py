"""The example package that comes with the program."""

from importlib.resources import as_file, files

from memaudit.core.package import Package
from memaudit.io.packages import read_package


def example_package() -> Package:
    """One traveller's messages, hand-made: a changed diet, a move, a deletion, an open question."""
    with as_file(files("memaudit").joinpath("examples", "travel.json")) as path:
        return read_package(path)
