"""What a reproduction was asked for, and the program that made it: versions, source, data."""

import hashlib
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

from pydantic import JsonValue

from memaudit.building.named_packages import natural_set
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.version import VERSION
from memaudit.lab.reproduce.controlled import SEEDS
from memaudit.lab.runs.solver_audit import ROWS

LIBRARIES = ("numpy", "numba", "highspy", "joblib", "matplotlib", "pillow")
DATA = ("examples/", "lab/generators/tables/", "lab/writers/estimators/ridge_default.json")
"""What results are computed from, besides seeds."""

MOST = {"seeds": 100_000, "rows": 1_000_000}
"""Larger numbers are a slip or an attack."""


def versions() -> dict[str, str]:
    """The platform, Python, and every library that numbers or figures come from."""
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "memaudit": VERSION,
        **{name: version(name) for name in LIBRARIES},
    }


@cache
def own_files() -> dict[str, str]:
    """Every file of the installed program by its path, with its SHA-256."""
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for name, file in sorted(_walk(files("memaudit"), ""), key=lambda entry: entry[0])
    }


def source_digest() -> str:
    """One SHA-256 over all files of the program."""
    # Names are part of it: moving a file is another program too.
    text = "".join(f"{sha256}  {name}\n" for name, sha256 in own_files().items())
    return hashlib.sha256(text.encode()).hexdigest()


def prompt_hashes() -> dict[str, str]:
    """Every prompt for a model, and the guideline for annotators."""
    return {
        name: sha256
        for name, sha256 in own_files().items()
        if name.endswith(".md") and ("prompts/" in name or name.endswith("guideline.md"))
    }


def data_hashes() -> dict[str, str]:
    return {name: sha256 for name, sha256 in own_files().items() if name.startswith(DATA)}


def _walk(folder: Traversable, place: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.name.startswith((".", "__pycache__")):
            continue
        if entry.is_dir():
            yield from _walk(entry, f"{place}{entry.name}/")
        elif not entry.name.endswith(".pyc"):
            yield f"{place}{entry.name}", entry


@dataclass(frozen=True, slots=True)
class Settings:
    """Seeds of the controlled runs, rows of the solver audit, packages of the natural set.

    The paper's numbers need the defaults. Smaller ones are for a quick look.
    """

    seeds: int = SEEDS
    rows: int = ROWS
    packages: int = 64

    def __post_init__(self) -> None:
        for name in ("seeds", "rows", "packages"):
            if getattr(self, name) < 1:
                raise MemAuditError(f"--{name} must be at least 1")
        for name, most in MOST.items():
            if getattr(self, name) > most:
                raise MemAuditError(f"--{name} must be at most {most:,}")
        if self.packages > len(natural_set()):
            raise MemAuditError(
                f"--packages {self.packages}: the natural set has {len(natural_set())}"
            )

    def to_json(self) -> dict[str, int]:
        return {"seeds": self.seeds, "rows": self.rows, "packages": self.packages}

    @property
    def remark(self) -> str:
        return remark_on(self.to_json())

    @property
    def options(self) -> str:
        """As on the command line."""
        return f"--seeds {self.seeds} --rows {self.rows} --packages {self.packages}"

    def identity(self) -> dict[str, JsonValue]:
        """What a run that resumes must have in common with the one that was started."""
        return {
            "settings": dict(self.to_json()),
            "memaudit": versions()["memaudit"],
            "source": source_digest(),
        }


def remark_on(given: Mapping[str, int]) -> str:
    """What to expect with these settings, empty if they are the defaults."""
    usual = {setting.name: setting.default for setting in fields(Settings)}
    other = " ".join(f"--{name} {value}" for name, value in given.items() if value != usual[name])
    if not other:
        return ""
    return f"made with {other}, the paper's numbers need the defaults; differences are expected"
