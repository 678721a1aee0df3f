"""Writers on the project's own natural set: not the paper's Natural-87, and never called so."""

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from memaudit.core.package import Package
from memaudit.experiments.engines.local import Engine
from memaudit.experiments.evaluate import Row, Subject, evaluate
from memaudit.experiments.grid import read_grids
from memaudit.experiments.spec import ESTIMATED, PROXIES, RAW, REFERENCES, RunSpec
from memaudit.experiments.summary import summary_of
from memaudit.io.atomic import write_file
from memaudit.io.journal import read_journal, to_line
from memaudit.io.packages import write_package
from memaudit.natural.build_plan import file_name
from memaudit.natural.named_packages import natural_set
from memaudit.reproduce.folder import ROWS, SUMMARY
from memaudit.reproduce.journaled import Key, journaled
from memaudit.writers.registry import named_writer

NAME = "natural"
"""What stands for a distribution in rows; a seed is the place of a package in the set."""

BUDGETS = ("10", "20", "30", "60", "100")
"""The paper's 30, 60 and 100, and two that bind here: from 60 on the best store has everything."""

WRITERS = (*REFERENCES, *RAW, *ESTIMATED, *PROXIES)
FIELDS = ("distribution", "seed", "budget", "writer")
FOLDER = "packages"


def natural_spec(packages: int) -> RunSpec:
    """What is run on the first so many packages."""
    return RunSpec((NAME,), tuple(range(packages)), BUDGETS, WRITERS)


def make_natural_results(folder: Path, packages: int, engine: Engine) -> None:
    """Write the packages, every writer's row at every budget, and their summary."""
    (folder / FOLDER).mkdir(exist_ok=True)
    for package in natural_set()[:packages]:
        write_package(package, folder / FOLDER / file_name(package.name, "json"))
    spec = natural_spec(packages)
    work = partial(natural_lines, spec)
    journaled(folder / ROWS, spec.seeds, work, FIELDS, natural_keys(spec), engine)
    write_file(folder / SUMMARY, summary_text(spec, read_journal(folder / ROWS)))


def natural_keys(spec: RunSpec) -> list[Key]:
    """Which rows there are, in order."""
    return [
        (NAME, seed, int(budget), writer)
        for seed in spec.seeds
        for budget in spec.budgets
        for writer in spec.writers
    ]


def natural_lines(spec: RunSpec, place: int) -> list[str]:
    """The lines of one package."""
    return [to_line(row.to_json()) for row in natural_rows(natural_set()[place], place, spec)]


def natural_rows(package: Package, place: int, spec: RunSpec) -> Iterable[Row]:
    """Every writer at every budget on one package."""
    budgets = [(budget, Fraction(budget)) for budget in spec.budgets]
    writers = [named_writer(name) for name in spec.writers]
    return evaluate(Subject(package), NAME, place, budgets, writers)


def summary_text(spec: RunSpec, rows: Iterable[dict[str, Any]]) -> str:
    """Means with intervals, in the form of a run's summary."""
    manifest = {"spec": spec.to_json(), "spec_digest": spec.digest}
    found = summary_of(manifest, read_grids(manifest, rows))
    names: Sequence[str] = [one.name for one in natural_set()[: len(spec.seeds)]]
    data = {**found, "set": "the project's own natural set", "packages": names, **manifest}
    return json.dumps(data, indent=1) + "\n"
