"""What made the results: versions, the program's own text, its prompts and its bundled data."""

import hashlib
import platform
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

LIBRARIES = ("memaudit", "numpy", "numba", "highspy", "joblib", "matplotlib", "pillow")
PROMPTS = "prompts/"
"""Prompts for models are in folders of this name."""

DATA = ("examples/", "generators/tables/", "writers/estimators/ridge_default.json")
"""What results are computed from, besides seeds."""


def versions() -> dict[str, str]:
    """The machine's kind, Python, and every library that numbers or figures come from."""
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


@cache
def own_files() -> dict[str, str]:
    """Every file of the installed program by its path, with its SHA-256."""
    found = {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for name, file in _walk(files("memaudit"), "")
    }
    return dict(sorted(found.items()))


def source_digest() -> str:
    """One SHA-256 over all files of the program: two programs with the same one are the same."""
    text = "".join(f"{sha256}  {name}\n" for name, sha256 in own_files().items())
    return hashlib.sha256(text.encode()).hexdigest()


def prompt_hashes() -> dict[str, str]:
    """Every prompt a model is asked with, and the guideline annotators read."""
    return {
        name: sha256
        for name, sha256 in own_files().items()
        if name.endswith(".md") and (PROMPTS in name or name.endswith("guideline.md"))
    }


def data_hashes() -> dict[str, str]:
    """The bundled data that results rest on."""
    return {name: sha256 for name, sha256 in own_files().items() if name.startswith(DATA)}


def _walk(folder: Traversable, place: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.name.startswith((".", "__pycache__")):
            continue
        if entry.is_dir():
            yield from _walk(entry, f"{place}{entry.name}/")
        elif not entry.name.endswith(".pyc"):
            yield f"{place}{entry.name}", entry
