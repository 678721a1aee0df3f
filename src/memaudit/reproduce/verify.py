"""Verification of a reproduction: cheap checks first; later ones rest on what was found sound.

Every file against its hash, packages remade from seeds, rows recomputed, documents derived again.
A folder may be anybody's work: whatever it holds is one line per problem, never a traceback.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.core.text import counted
from memaudit.downstream.run import MEMORIES
from memaudit.experiments.engines import Engine, Serial
from memaudit.experiments.spec import RunSpec
from memaudit.experiments.sweep import RUN, read_run, resolve, run_manifest
from memaudit.generators.registry import named_distribution
from memaudit.io.files import read_text
from memaudit.io.journal import read_journal
from memaudit.io.packages import read_package
from memaudit.io.run_folder import SPEC, entries, files_in
from memaudit.io.strict_json import read_object
from memaudit.natural.named_packages import natural_set
from memaudit.reproduce.controlled import controlled_scoreboard_text, controlled_specs
from memaudit.reproduce.folder import (
    ARCHIVE,
    ARCHIVE_NUMBERS,
    CARD,
    CONTROLLED,
    CROISSANT,
    DOWNSTREAM,
    FIGURES,
    LABELS,
    MANIFEST,
    NATURAL,
    PARTS,
    ROWS,
    SCOREBOARD,
    STORES,
    SUMMARY,
    file_sha256,
)
from memaudit.reproduce.manifest import Manifest, documents, make_manifest, read_manifest
from memaudit.reproduce.own_set import label_texts, make_downstream, package_file, store_texts
from memaudit.reproduce.results import PackageKey, read_results
from memaudit.reproduce.scoreboard import controlled_lines
from memaudit.reproduce.settings import Settings, source_digest, versions
from memaudit.reproduce.verify_rows import BRUTE, RowPart, Rows, check_rows, row_parts, shortened

LONGEST = 160
"""Characters of a name that a folder gives. Longer ones are cut."""

MOST_PER_FILE = 10
"""Lines about one file. One more line says that there are others."""

MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What data of the wrong form raises when something is computed from it."""

FROM_FILES = ("command_lines", "declared", "packages", "certificates", "scoreboard", "seeds")
"""Fields of the manifest that follow from the files, whatever program made them."""

FROM_PROGRAM = ("prompts", "data")
"""Fields that follow from the program's own files."""

Draw = Callable[[Path, Path], object]
"""Draws the figures of a reproduction into a folder."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done: rows to recompute, all unless a number is given, drawn with a seed.

    Without `draw`, figures are compared by hash only.
    """

    sample: int | None = None
    seed: int = 0
    engine: Engine = field(default_factory=Serial)
    draw: Draw | None = None


@dataclass(slots=True)
class VerifyReport:
    """Problems make it fail, notes do not. `unverified` files only another program could remake."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unverified: dict[str, str] = field(default_factory=dict)
    checked: Counter[str] = field(default_factory=Counter)
    _per_file: Counter[str] = field(default_factory=Counter)

    def problem(self, where: str, what: str) -> None:
        where = where if len(where) <= LONGEST else f"{where[:LONGEST]}..."
        file = where.partition(", ")[0]
        self._per_file[file] += 1
        if self._per_file[file] <= MOST_PER_FILE:
            self.problems.append(f"{where}: {what}")
        elif self._per_file[file] == MOST_PER_FILE + 1:
            self.problems.append(f"{file}: more of the same, not listed")

    @contextmanager
    def reading(self, where: str) -> Iterator[None]:
        """What cannot be read is a problem of the file, and no reason to stop."""
        try:
            yield
        except InvalidPackage as error:
            self.problem(where, error.problems[0].message)
        except MemAuditError as error:
            self.problem(where, str(error))
        except MALFORMED as error:
            self.problem(where, f"is malformed ({type(error).__name__}: {shortened(error)})")

    def compare(self, folder: Path, name: str, expected: str, problem: str) -> bool:
        """Whether a file has this text; a problem if not."""
        same = False
        with self.reading(name):
            same = read_text(folder / name) == expected
            if not same:
                self.problem(name, problem)
        return same

    @property
    def headline(self) -> str:
        if self.problems:
            return counted(len(self.problems), "problem")
        if self.unverified:
            return f"holds, with {counted(len(self.unverified), 'file')} not verified"
        return "OK"

    @property
    def verdict(self) -> str:
        """The headline, and how much was checked."""
        checked = ", ".join(f"{number:,} {what}" for what, number in self.checked.items())
        return f"{self.headline}: {checked}"

    def to_json(self) -> dict[str, Any]:
        return {
            "valid": not self.problems,
            "headline": self.headline,
            "problems": self.problems,
            "not_verified": self.unverified,
            "notes": self.notes,
            "checked": dict(self.checked),
        }


def verify_reproduction(folder: Path, effort: Effort) -> VerifyReport:
    """Check a folder that `reproduce all` wrote, whoever ran it."""
    manifest = read_manifest(folder)
    settings = manifest.settings
    report = VerifyReport(notes=list(_stated_only(manifest)))
    if not _check_files(folder, manifest, report):
        report.notes.append("files are missing or not plain: nothing was recomputed")
        return report
    listed = len(manifest.packages.get("base", {}))
    if listed != settings.seeds:  # what is recomputed must be of the size that is there
        report.problem(MANIFEST, f"lists {listed} packages of base for {settings.seeds} seeds")
        return report
    _check_packages(folder, manifest, report)
    before = len(report.problems)
    _check_rows(folder, manifest, effort, report)
    for name, text in label_texts(settings.packages, effort.engine).items():
        report.compare(folder, f"{LABELS}/{name}", text, "differs from what is recomputed")
    for name, text in store_texts(settings.packages, effort.engine).items():
        report.compare(folder, f"{STORES}/{name}", text, "differs from what is recomputed")
    if ARCHIVE in manifest.parts:
        report.unverified[f"{ARCHIVE}/{ARCHIVE_NUMBERS}"] = "recomputing it needs the archive"
    _check_downstream(folder, settings, report)
    if len(report.problems) > before:
        report.notes.append("documents and figures were not checked: they rest on wrong files")
        return report
    with report.reading(MANIFEST):
        _check_documents(folder, manifest, report)
        _check_figures(folder, manifest, effort.draw, report)
    return report


def _stated_only(manifest: Manifest) -> Iterator[str]:
    """What only the manifest says, and whether another program made the folder."""
    made_by, here = manifest.identity, source_digest()
    if made_by.source != here:
        yield (
            f"made by another program: memaudit {made_by.memaudit}, source "
            f"{made_by.source[:12]}; this is {versions()['memaudit']}, {here[:12]}"
        )
    libraries = ", ".join(f"{name} {version}" for name, version in manifest.versions.items())
    seconds = ", ".join(f"{part} {took:g} s" for part, took in manifest.times.seconds.items())
    yield f"stated, not checked: made on {manifest.times.date} with {libraries}; took {seconds}"


def _check_files(folder: Path, manifest: Manifest, report: VerifyReport) -> bool:
    """Compare all hashes. True if every file is there and plain, so that it can be read."""
    present = dict(entries(folder))
    plain = {name for name, wrong in present.items() if not wrong}
    for name, wrong in present.items():
        if wrong or name not in {MANIFEST, *manifest.files}:
            report.problem(name, wrong or "is not in the manifest")
    for name, sha256 in manifest.files.items():
        if name not in present:
            report.problem(name, "is missing")
        elif name in plain and file_sha256(folder / name) != sha256:
            report.problem(name, "its SHA-256 is not the manifest's")
        report.checked["files"] += 1
    if sorted(set(manifest.parts) - {ARCHIVE}) != sorted(PARTS):
        report.problem(MANIFEST, "its list of parts is not that of a reproduction")
    for part, names in manifest.parts.items():
        for name in names:
            if not name.startswith(f"{part}/"):
                report.problem(MANIFEST, f"lists {name[:80]!r} in the part {part[:80]!r}")
    return manifest.files.keys() | {MANIFEST} <= plain


def _check_packages(folder: Path, manifest: Manifest, report: VerifyReport) -> None:
    """Compare digests in the manifest and packages on disk with packages remade from seeds."""
    remade = dict(_remade_digests(manifest.settings))
    report.checked["packages"] = len(remade)
    stated = {
        (name, int(seed)): sha256
        for name, seeds in manifest.packages.items()
        for seed, sha256 in seeds.items()
    }
    for key in sorted(remade.keys() | stated.keys()):
        if stated.get(key) != remade.get(key):
            here, again = shortened(stated.get(key)), shortened(remade.get(key))
            what = f"its digest in the manifest is {here}, recomputed {again}"
            report.problem(f"package {key[0]}, {key[1]}", what)
    for place, package in enumerate(natural_set()[: manifest.settings.packages]):
        path = f"{NATURAL}/{package_file(package)}"
        with report.reading(path):
            if digest(read_package(folder / path)) != remade[NATURAL, place]:
                report.problem(path, f"is not the package {package.name}: its digest differs")


def _remade_digests(settings: Settings) -> Iterator[tuple[PackageKey, str]]:
    stress = controlled_specs(settings.seeds)["stress"]
    for name in stress.distributions:
        distribution = named_distribution(name)
        shared = None if distribution.draws else digest(distribution.package(0))
        for seed in stress.seeds:
            yield (name, seed), shared or digest(distribution.package(seed))
    for place, package in enumerate(natural_set()[: settings.packages]):
        yield (NATURAL, place), digest(package)


def _check_rows(folder: Path, manifest: Manifest, effort: Effort, report: VerifyReport) -> None:
    parts = row_parts(manifest.settings, effort.sample, effort.seed)
    rows: dict[str, Rows] = {}
    for name, part in parts.items():
        with report.reading(f"{name}/{ROWS}"):
            part_rows = list(read_journal(folder / name / ROWS))
            report.checked["rows"] += len(part_rows)
            if _are_sound(folder, name, part, part_rows, manifest, report):
                rows[name] = part_rows
    check = check_rows(parts, rows, effort.sample, effort.seed, effort.engine)
    for where, what in check.problems:
        report.problem(where, what)
    report.checked["certificates verified"] += check.certificates
    report.checked["rows made again"] += check.rows
    report.notes.append(
        f"{check.rows:,} of {report.checked['rows']:,} rows were recomputed, of the solver audit "
        f"{check.by_brute_force} with {BRUTE}; drawn with --seed {effort.seed}"
    )


def _are_sound(
    folder: Path, name: str, part: RowPart, rows: Rows, manifest: Manifest, report: VerifyReport
) -> bool:
    """Whether rows are the ones due, in order, and add up to the summary."""
    where = f"{name}/{ROWS}"
    misplaced = (line for line, row in enumerate(rows, 1) if not part.fits(line - 1, row))
    if line := next(misplaced, 0):
        report.problem(f"{where}, line {line}", "is not the row that is due here")
    elif len(rows) != part.rows:
        report.problem(where, f"has {len(rows)} rows, the settings ask for {part.rows}")
    elif part.spec and any(row["version"] != manifest.identity.memaudit for row in rows):
        report.problem(where, "is not of the version that the manifest names")
    elif report.compare(
        folder, f"{name}/{SUMMARY}", part.summary_text(rows), "does not follow from the rows"
    ):
        return (
            name == NATURAL or not part.spec or _is_run(folder, name, part.spec, manifest, report)
        )
    return False


def _is_run(
    folder: Path, name: str, spec: RunSpec, manifest: Manifest, report: VerifyReport
) -> bool:
    """Whether a run's own manifest follows from its spec, with the versions that ours names."""
    stated = read_run(folder / name)
    expected = json.loads(json.dumps(run_manifest(spec, resolve(spec))))
    expected["versions"] = {
        library: manifest.versions.get(library) for library in stated["versions"]
    }
    for key in sorted(stated.keys() | expected.keys()):
        if stated.get(key) != expected.get(key):
            report.problem(f"{name}/{RUN}", f"{key} does not follow from the manifest")
    return bool(stated == expected)


def _check_downstream(folder: Path, settings: Settings, report: VerifyReport) -> None:
    """Rows and memories are the same texts, the rest the same apart from versions."""
    with tempfile.TemporaryDirectory() as temporary:
        again = Path(temporary, DOWNSTREAM)
        make_downstream(again, settings.packages)
        for name in (ROWS, MEMORIES, SPEC, SUMMARY):
            path = f"{DOWNSTREAM}/{name}"
            read = _without_versions if name in (SPEC, SUMMARY) else read_text
            with report.reading(path):
                if read(folder / path) != read(again / name):
                    report.problem(path, "differs from what is recomputed")


def _without_versions(path: Path) -> dict[str, Any]:
    data = read_object(path, "run memaudit reproduce all again")
    return {**data, "spec": {**data["spec"], "versions": None}}


def _check_documents(folder: Path, manifest: Manifest, report: VerifyReport) -> None:
    """Scoreboard, tables, card, metadata and manifest, from files that were found sound."""
    results = read_results(folder, manifest.settings)
    made_by, here = manifest.identity.memaudit, versions()["memaudit"]
    texts = documents(results, manifest.part_files, manifest.times.date, made_by)
    lines = controlled_lines(results.runs["sweep"]["budgets"], results.summaries)
    board = controlled_scoreboard_text(results.settings.seeds, lines)
    for name, text in {f"{CONTROLLED}/{SCOREBOARD}": board, **texts}.items():
        if name in (CARD, CROISSANT) and made_by != here and read_text(folder / name) != text:
            report.unverified[name] = f"made by memaudit {made_by}, which {here} may word otherwise"
        elif report.compare(folder, name, text, "does not follow from the results"):
            report.checked["documents"] += 1
    if sorted(manifest.documents) != sorted(texts):
        report.problem(MANIFEST, "its list of documents is not that of a reproduction")
    stated = manifest.model_dump(mode="json")
    again = make_manifest(stated["identity"], stated["times"], stated["parts"], results, texts)
    same_source = manifest.identity.source == source_digest()
    for name in (*FROM_FILES, *FROM_PROGRAM):
        if stated[name] == again[name]:
            continue
        if name in FROM_FILES or same_source:
            report.problem(MANIFEST, f"its {name} do not follow from the files")
        else:
            report.unverified[MANIFEST] = f"its {name} are those of another program"
    if manifest.versions.get("memaudit") != made_by or (same_source and made_by != here):
        report.problem(MANIFEST, f"names version {made_by}, which did not make this")


def _check_figures(
    folder: Path, manifest: Manifest, draw: Draw | None, report: VerifyReport
) -> None:
    """The same program and libraries draw the same bytes. Others are known by their hash only."""
    stated = manifest.parts[FIGURES]
    if draw is None:
        report.unverified |= dict.fromkeys(stated, "by hash only: it was not drawn again")
        return
    here = {**versions(), "the program": source_digest()[:12]}
    made_with = {**manifest.versions, "the program": manifest.identity.source[:12]}
    other = next((name for name in here if made_with.get(name) != here[name]), None)
    with tempfile.TemporaryDirectory() as temporary:
        draw(folder, Path(temporary))
        drawn = {
            f"{FIGURES}/{name}": file_sha256(Path(temporary, name))
            for name in files_in(Path(temporary))
        }
    for name in sorted(stated.keys() | drawn.keys()):
        if stated.get(name) == drawn.get(name):
            report.checked["figures"] += 1
        elif other is None:
            report.problem(name, "is not what is drawn from the runs")
        elif name in stated:
            report.unverified[name] = (
                f"by hash only: {other} was {made_with.get(other, 'unknown')}, here it is "
                f"{here[other]}"
            )
