"""Runs a spec: packages in chunks through an engine, rows appended to a journal in one order.

Rows are appended in the order of the spec whatever the engine, so at any moment the file is the
beginning of the finished one: a killed run goes on where its last whole row ends.
"""

import hashlib
import json
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.core.exact import plain
from memaudit.experiments.engines.local import Engine
from memaudit.experiments.evaluate import Subject, evaluate
from memaudit.experiments.spec import RunSpec, absolute, is_fraction
from memaudit.formats.run_files import StatedRun
from memaudit.generators.registry import named_distribution
from memaudit.io.atomic import write_file
from memaudit.io.files import read_text
from memaudit.io.journal import Journal, to_line
from memaudit.io.run_folder import LOCK, locked
from memaudit.io.strict_json import first_fault, floats, parse_json
from memaudit.writers.estimators.ridge import RidgeModel
from memaudit.writers.registry import named_writer

ROWS, RUN = "rows.jsonl", "run.json"
FORMAT = "memaudit-run"
MOST_IN_CHUNK = 16
CHUNKS = 64
"""A run is cut into at least so many chunks, so that progress shows and little work is lost."""

PARTS = {"spec": dict, "spec_digest": str, "budgets": dict, "rows": int, "versions": dict}
"""What the manifest of a run holds, whichever version wrote it."""

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some packages of a run; of the first, so many rows are already there."""

    packages: range
    skip: int


def run(spec: RunSpec, folder: Path, engine: Engine, progress: Progress | None = None) -> "Outcome":
    """Write all rows of a spec into a folder, or those that are missing."""
    for name in spec.writers:
        named_writer(name)
    for name in spec.distributions:
        named_distribution(name)
    budgets = resolve(spec)
    fresh = not folder.exists()
    with locked(folder):
        claimed = _claim(spec, budgets, folder)
        try:
            return _run(spec, budgets, folder, engine, progress)
        except MemAuditError:
            if claimed and not _size(folder / ROWS):  # nothing came of it
                for name in (ROWS, RUN, LOCK):
                    (folder / name).unlink(missing_ok=True)
                if fresh:
                    folder.rmdir()
            raise


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _run(
    spec: RunSpec, budgets: "Budgets", folder: Path, engine: Engine, progress: Progress | None
) -> "Outcome":
    keys = Keys(spec, [plain(budget) for _, budget in budgets])
    with Journal(folder / ROWS, keys.fits) as journal:
        found = journal.rows
        if progress:
            progress(found)
        work = partial(rows_of, spec, budgets)
        for lines in engine.map(work, _chunks(spec, found)):
            journal.append(lines)
            if progress:
                progress(journal.rows)
        return Outcome(journal.rows, found, journal.cut)


@dataclass(frozen=True, slots=True)
class Keys:
    """Which row belongs where; budgets as rows write them."""

    spec: RunSpec
    budgets: Sequence[int | float | str]

    def fits(self, place: int, row: dict[str, Any]) -> bool:
        """Whether a row is the one of this place."""
        spec = self.spec
        if place >= spec.rows:
            return False
        package, rest = divmod(place, spec.rows_a_package)
        budget, writer = divmod(rest, len(spec.writers))
        expected = (*spec.package_at(package), self.budgets[budget], spec.writers[writer])
        return expected == tuple(
            row.get(name) for name in ("distribution", "seed", "budget", "writer")
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: all rows, those found from before, and bytes of damaged rows cut off."""

    rows: int
    found: int
    cut: int


Budgets = tuple[tuple[str, Fraction], ...]


def resolve(spec: RunSpec) -> Budgets:
    """Budgets as given, each with its cost: fractions are shares of the mean total cost."""
    mean = mean_cost(spec) if any(is_fraction(budget) for budget in spec.budgets) else None
    budgets = tuple((given, absolute(given, mean)) for given in spec.budgets)
    seen: dict[Fraction, str] = {}
    for given, budget in budgets:
        if budget in seen:
            raise MemAuditError(
                f"budgets {seen[budget]} and {given} both mean {budget} here; keep one of them"
            )
        seen[budget] = given
    return budgets


def mean_cost(spec: RunSpec) -> Fraction:
    """The mean over all packages of the cost of keeping every candidate."""
    total = Fraction(0)
    for name in spec.distributions:
        distribution = named_distribution(name)
        for seed in spec.seeds if distribution.draws else spec.seeds[:1]:
            package = distribution.package(seed)
            cost = package.total_cost(package.candidate)
            total += cost if distribution.draws else cost * len(spec.seeds)
    return total / spec.packages


def rows_of(spec: RunSpec, budgets: Budgets, chunk: Chunk) -> list[str]:
    """The lines of a chunk: what an engine runs, maybe on another machine."""
    import memaudit.solvers.compiled.batch  # noqa: F401 - the compiled small search from here on

    writers = [named_writer(name) for name in spec.writers]
    lines: list[str] = []
    for index in chunk.packages:
        name, seed = spec.package_at(index)
        drawn = seed if named_distribution(name).draws else 0
        subject = _subject(name, drawn, spec.seconds)
        skip = chunk.skip if index == chunk.packages.start else 0
        rows = evaluate(subject, name, seed, budgets, writers, skip)
        lines += (to_line(row.to_json()) for row in rows)
    return lines


@lru_cache(maxsize=1)
def _subject(name: str, seed: int, seconds: float | None) -> Subject:
    """The package; a distribution without draws has one for all seeds, solved once a process."""
    return Subject(named_distribution(name).package(seed), seconds)


def _chunks(spec: RunSpec, found: int) -> Iterator[Chunk]:
    """What is left to do after the rows that were found."""
    first, skip = divmod(found, spec.rows_a_package)
    size = max(1, min(MOST_IN_CHUNK, spec.packages // CHUNKS))
    while first < spec.packages:
        end = min(first + size, spec.packages)
        yield Chunk(range(first, end), skip)
        first, skip = end, 0


def _claim(spec: RunSpec, budgets: Budgets, folder: Path) -> bool:
    """Make the folder this run's own, or see that it is; whether it is new."""
    path = folder / RUN
    if path.exists():
        before = read_run(folder)
        if before["spec_digest"] != spec.digest:
            raise MemAuditError(
                f"{folder} holds another run ({_difference(before['spec'], spec.to_json())}); "
                "choose another folder"
            )
        if before["versions"].get("memaudit") != version("memaudit"):
            raise MemAuditError(
                f"{folder} was begun by memaudit {before['versions'].get('memaudit')}, this is "
                f"{version('memaudit')}; choose another folder"
            )
        if before.get("estimators") != _estimators(spec):
            raise MemAuditError(
                f"{folder} was begun with another model of an estimator; choose another folder"
            )
        return False
    if (folder / ROWS).exists():
        raise MemAuditError(f"{folder} holds {ROWS} but no {RUN}; choose another folder")
    manifest = {
        "format": FORMAT,
        "version": 1,
        "spec": spec.to_json(),
        "spec_digest": spec.digest,
        "budgets": {given: str(budget) for given, budget in budgets},
        "rows": spec.rows,
        "estimators": _estimators(spec),
        "versions": {
            "memaudit": version("memaudit"),
            "numpy": version("numpy"),
            "numba": version("numba"),
            "python": platform.python_version(),
        },
    }
    write_file(path, json.dumps(manifest, indent=2) + "\n")
    return True


def _estimators(spec: RunSpec) -> dict[str, Any]:
    """What the trained writers of a run learned from: held-out means not in there."""
    found = {}
    for name in spec.writers:
        model = getattr(getattr(named_writer(name), "estimator", None), "model", None)
        if isinstance(model, RidgeModel):
            found[name] = {
                "model": hashlib.sha256(model.model_dump_json().encode()).hexdigest(),
                "trained_on": [trained.package for trained in model.training],
            }
    return found


def _difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    names = [name for name in now if before.get(name) != json.loads(json.dumps(now[name]))]
    return f"its {', '.join(names)} differ" if names else "an older form of run"


def read_run(folder: Path) -> dict[str, Any]:
    """A run's manifest."""
    path = folder / RUN
    try:
        manifest = floats(parse_json(read_text(path), RUN))
    except InvalidPackage as error:
        # What is wrong begins with the file's name.
        raise MemAuditError(f"cannot read {folder}/{error.problems[0]}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise MemAuditError(f"{path} is not the manifest of a run")
    if wrong := [name for name, kind in PARTS.items() if not isinstance(manifest.get(name), kind)]:
        raise MemAuditError(f"{path} is a damaged manifest of a run: see its part {wrong[0]!r}")
    try:
        StatedRun.model_validate(manifest)
    except ValidationError as error:
        raise MemAuditError(
            f"{path} is a damaged manifest of a run: {first_fault(error)}"
        ) from None
    return manifest
