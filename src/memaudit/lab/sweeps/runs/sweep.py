"""Runs a spec: packages in chunks through an engine, rows appended to a journal.

A package has a row for every budget and writer, each a ratio to the certified optimum.

Rows are appended in the order of the spec whatever the engine, so at any moment the file is the
beginning of the finished one, and a killed run resumes after its last complete row.
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

from memaudit.kernel.errors import InvalidPackage, MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.strict_json import first_fault, floats, parse_json
from memaudit.kernel.number_text import rounded
from memaudit.kernel.package.budgets import budget_cost, is_share
from memaudit.kernel.package.optimum import Certificate
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.score import Ratio
from memaudit.kernel.score.store_value import StoreValuer
from memaudit.kernel.version import VERSION
from memaudit.lab.sweeps.runs.run_files import RunManifest, RunRow, is_run_row
from memaudit.lab.sweeps.runs.spec import RunSpec, named_source
from memaudit.lab.sweeps.writers.protocol import Writer, WriterRunner
from memaudit.lab.sweeps.writers.registry import named_writer
from memaudit.workspace.engines import Engine
from memaudit.workspace.journal import Fits, Journal, Key, rows_in_order, to_line
from memaudit.workspace.run_folder import ROWS, claimed, refuse_other_run


class EvaluatedPackage(WriterRunner):
    """A package with its writers, scorer and certificates."""

    def __init__(self, package: Package, seconds: float | None = None) -> None:
        super().__init__(package, seconds)
        self.scorer = StoreValuer(package, self.oracle.form)
        self._hashes: dict[Fraction, str | None] = {}

    def certificate(self, budget: Fraction) -> str | None:
        """The hash of the certificate at a budget, or None if the optimum is not certified."""
        if budget not in self._hashes:
            optimum = self.oracle.optimum(budget)
            certificate = optimum.certificate if optimum.certified else None
            self._hashes[budget] = certificate_hash(certificate) if certificate else None
        return self._hashes[budget]


def evaluate(
    subject: EvaluatedPackage,
    distribution: str,
    seed: int,
    budgets: Sequence[tuple[str, Fraction]],
    writers: Sequence[Writer],
    skip: int = 0,
) -> Iterator[RunRow]:
    """The rows of a package, in order of budgets and writers, without the first `skip`."""
    cells = [(given, budget, writer) for given, budget in budgets for writer in writers]
    for given, budget, writer in cells[skip:]:
        yield _row(subject, distribution, seed, given, budget, writer)


def _row(
    subject: EvaluatedPackage,
    distribution: str,
    seed: int,
    given: str,
    budget: Fraction,
    writer: Writer,
) -> RunRow:
    optimum = subject.oracle.optimum(budget)
    # A writer that fails is a row too: a run of thousands of packages does not stop for one.
    failed, score = "", None
    store: tuple[str, ...] = ()
    try:
        store = subject.written_by(writer, budget, seed)
        score = subject.scorer.worth(store)
    except MemAuditError as error:
        failed = str(error)
    ratio = Ratio(score.value if score else Fraction(0), optimum)
    share = ratio.value if score else None
    budget_shown = plain(budget)
    return RunRow.model_construct(  # made here, so not validated: a tenth of a sweep's time
        distribution=distribution,
        seed=seed,
        package=subject.package.name,
        digest=optimum.digest,
        budget=budget_shown,
        writer=writer.name,
        peeks=writer.peeks,
        value=rounded(score.value) if score else None,
        optimum=rounded(optimum.value),
        ratio=None if share is None else rounded(share),
        undefined=ratio.undefined,
        cost=plain(score.cost) if score else None,
        store=store,
        kinds=score.kinds if score else {},
        unit_values={kind: rounded(value) for kind, value in score.unit_values.items()}
        if score
        else {},
        invalidation=rounded(score.invalidation) if score else None,
        current=rounded(score.current) if score else None,
        stale=rounded(score.stale) if score else None,
        certificate=subject.certificate(budget),
        version=VERSION,
        failed=failed,
        budget_as_given="" if given == str(budget_shown) else given,
    )


def certificate_hash(certificate: Certificate) -> str:
    """The SHA-256 of a certificate's canonical JSON."""
    text = json.dumps(certificate.to_json(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


RUN = "run.json"
FORMAT = "memaudit-run"
MOST_IN_CHUNK = 16
CHUNKS = 64
"""A run is cut into at least this many chunks, so that progress shows and little work is lost."""

PARTS = {"spec": dict, "spec_digest": str, "budgets": dict, "rows": int, "versions": dict}
"""What the manifest of a run holds, whichever version wrote it."""

Progress = Callable[[int], None]
Budgets = tuple[tuple[str, Fraction], ...]
"""Budgets as given, each with its cost."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended: all rows, those that already existed, bytes of damaged rows cut off."""

    rows: int
    existing: int
    cut: int


@dataclass(frozen=True, slots=True)
class SweepChunk:
    """Some packages of a run. The first `skip` rows of the first package already exist."""

    packages: range
    skip: int


def run(
    spec: RunSpec, folder: Path, engine: Engine, progress: Progress | None = None
) -> RunOutcome:
    """Write all rows of a spec into a folder, or those that are missing."""
    for name in spec.writers:
        named_writer(name)
    for name in spec.distributions:
        named_source(name)
    budgets = resolve(spec)
    is_due = row_order(spec, [plain(budget) for _, budget in budgets])
    manifest = run_manifest(spec, budgets)
    with (
        claimed(folder, RUN, manifest, lambda: _refuse_others(manifest, folder), indent=2),
        Journal(folder / ROWS, lambda at, row: is_due(at, row) and is_run_row(row)) as journal,
    ):
        existing = journal.rows
        if progress:
            progress(existing)
        # The engine returns results in the order of chunks, so the journal is always a beginning of
        # the finished file.
        for lines in engine.map(partial(rows_of, spec, budgets), _chunks(spec, existing)):
            journal.append(lines)
            if progress:
                progress(journal.rows)
        return RunOutcome(journal.rows, existing, journal.cut)


def row_order(spec: RunSpec, budgets: Sequence[int | float | str]) -> Fits:
    """Whether a row is the one of its place; `budgets` as rows write them."""

    def key_at(place: int) -> Key:
        package, rest = divmod(place, spec.rows_per_package)
        budget, writer = divmod(rest, len(spec.writers))
        return (*spec.package_at(package), budgets[budget], spec.writers[writer])

    return rows_in_order(("distribution", "seed", "budget", "writer"), spec.rows, key_at)


def resolve(spec: RunSpec) -> Budgets:
    """Budgets as given, each with its cost. Below 1 they are shares of the mean total cost."""
    # The mean needs every package once, which takes long for large runs; costs given as numbers do
    # not need it.
    mean = mean_cost(spec) if any(is_share(budget) for budget in spec.budgets) else None
    budgets = tuple((given, budget_cost(given, mean)) for given in spec.budgets)
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
        distribution = named_source(name)
        for seed in spec.seeds if distribution.draws else spec.seeds[:1]:
            package = distribution.package(seed)
            cost = package.total_cost(package.candidate)
            total += cost if distribution.draws else cost * len(spec.seeds)
    return total / spec.packages


def rows_of(spec: RunSpec, budgets: Budgets, chunk: SweepChunk) -> list[str]:
    """The lines of a chunk: what an engine runs, maybe on another machine."""
    import memaudit.kernel.solvers.compiled.batch  # noqa: F401 - the compiled small search from here on

    writers = [named_writer(name) for name in spec.writers]
    lines: list[str] = []
    for index in chunk.packages:
        name, seed = spec.package_at(index)
        # All seeds of a distribution without draws are one package; with one name for it, the cache
        # of the process keeps its solver.
        drawn = seed if named_source(name).draws else 0
        subject = _subject(name, drawn, spec.seconds)
        skip = chunk.skip if index == chunk.packages.start else 0
        rows = evaluate(subject, name, seed, budgets, writers, skip)
        lines += (to_line(row.to_json()) for row in rows)
    return lines


@lru_cache(maxsize=1)
def _subject(name: str, seed: int, seconds: float | None) -> EvaluatedPackage:
    """A distribution without draws has one package for all seeds, solved once per process."""
    return EvaluatedPackage(named_source(name).package(seed), seconds)


def _chunks(spec: RunSpec, existing: int) -> Iterator[SweepChunk]:
    """What is left to do after the rows that already exist."""
    # A killed run may have stopped in the middle of a package: its first rows are not made again.
    first, skip = divmod(existing, spec.rows_per_package)
    # Small chunks, so that progress shows and an interruption loses little; not single packages,
    # whose overhead would be that of the engine.
    size = max(1, min(MOST_IN_CHUNK, spec.packages // CHUNKS))
    while first < spec.packages:
        end = min(first + size, spec.packages)
        yield SweepChunk(range(first, end), skip)
        first, skip = end, 0


def _refuse_others(manifest: dict[str, Any], folder: Path) -> None:
    """An error where the folder holds another run, or one by another version of the program."""
    before = read_run(folder)
    if before["spec_digest"] != manifest["spec_digest"]:
        refuse_other_run(folder, "run", before["spec"], manifest["spec"])
        raise MemAuditError(f"{folder} holds an older form of run; choose another folder")
    started_by, now = (data["versions"].get("memaudit") for data in (before, manifest))
    if started_by != now:
        raise MemAuditError(
            f"{folder} was started by memaudit {started_by}, this is {now}; choose another folder"
        )


def run_manifest(spec: RunSpec, budgets: Budgets) -> dict[str, Any]:
    """What claims the folder of a run."""
    return {
        "format": FORMAT,
        "version": 1,
        "spec": spec.to_json(),
        "spec_digest": spec.digest,
        "budgets": {given: str(budget) for given, budget in budgets},
        "rows": spec.rows,
        "versions": {
            "memaudit": VERSION,
            "numpy": version("numpy"),
            "numba": version("numba"),
            "python": platform.python_version(),
        },
    }


def read_run(folder: Path) -> dict[str, Any]:
    """The manifest of a run."""
    path = folder / RUN
    try:
        manifest = floats(parse_json(read_text(path), RUN))
    except InvalidPackage as error:
        # The problem starts with the file's name.
        raise MemAuditError(f"cannot read {folder}/{error.problems[0]}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise MemAuditError(f"{path} is not the manifest of a run")
    if wrong := [name for name, kind in PARTS.items() if not isinstance(manifest.get(name), kind)]:
        raise MemAuditError(f"{path} is a damaged manifest of a run: see its part {wrong[0]!r}")
    try:
        RunManifest.model_validate(manifest)
    except ValidationError as error:
        raise MemAuditError(
            f"{path} is a damaged manifest of a run: {first_fault(error)}"
        ) from None
    return manifest
