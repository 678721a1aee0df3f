"""The paper's natural and exported-store numbers from its archive, as far as its files allow.

Files are found by the names that the published layout gives them, wherever they lie in the archive:
a folder of packages, the stores of systems with coverage and salience calls beside them, and the
human label files. What a file would be needed for that is not there stays open.

The paper's Estimated-GVT uses estimates that only its archive holds. Ours uses the cue prior, so
that line compares two writers and reproduces nothing.
"""

import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from memaudit.judges.label_judges import PublishedJudge
from memaudit.judges.salience import SalienceCalls
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.packages import read_packages
from memaudit.kernel.io.published_folder import FILES
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.cost import cost_rule
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import NotJudged
from memaudit.kernel.score.judging import judge_store
from memaudit.kernel.score.priced_store import Salience, price_store
from memaudit.kernel.score.pruning import Policy, keep_within, usable_policies
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.solvers.solve import PackageSolver
from memaudit.kernel.stats.bootstrap import mean_intervals, resample_counts
from memaudit.lab.labels.agreement import audit_agreement
from memaudit.lab.labels.coded_labels import COVERED_SCALE
from memaudit.lab.labels.frame_files import read_frame, read_label_sets
from memaudit.lab.reproduce.folder import ARCHIVE_NUMBERS
from memaudit.lab.reproduce.scoreboard import ScoreboardLine, compare, published
from memaudit.lab.sweeps.runs.sweep import EvaluatedPackage
from memaudit.lab.sweeps.writers.registry import named_writer
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.registry import import_store

WRITERS = ("gvt", "estimated_gvt", "recency_raw")
PAPER_EXAMPLES = 87
BUDGET = Fraction(100)
STORES_FILE, COVERAGE_FILE, SALIENCE_FILE = (
    "written_stores.jsonl",
    "coverage_scoring_calls.jsonl",
    "salience_scoring_calls.jsonl",
)
CELLS, HUMANS = "annotation_cells.csv", ("human_a_labels.csv", "human_b_labels.csv")
MOST_FOLDERS = 10_000


@dataclass(slots=True)
class ArchiveResults:
    """Per budget and metric, one number per example; NaN where it is undefined."""

    examples: int
    uncertified: int = 0
    numbers: dict[tuple[int, str], list[float]] = field(default_factory=dict)

    def add(self, budget: int, metric: str, value: Fraction | None) -> None:
        number = math.nan if value is None else float(value)
        self.numbers.setdefault((budget, metric), []).append(number)

    def mean(self, budget: int, metric: str) -> tuple[float, float, float] | None:
        """The mean over examples where it is defined, and its interval."""
        values = np.array(self.numbers.get((budget, metric), []))[:, None]
        if not len(values) or np.isnan(values).all():
            return None
        (interval,) = mean_intervals(values, resample_counts(len(values)))
        return interval.mean, interval.low, interval.high


def measure_archive(
    packages: Sequence[Package], progress: Callable[[int], None] | None = None
) -> ArchiveResults:
    """Recompute every number that rests on the packages alone."""
    results = ArchiveResults(len(packages))
    budgets = [int(budget) for budget in published("natural")["budgets"]]
    for done, package in enumerate(packages, 1):
        _measure_package(results, package, budgets)
        if progress:
            progress(done)
    return results


def _measure_package(results: ArchiveResults, package: Package, budgets: Sequence[int]) -> None:
    subject = EvaluatedPackage(package)
    two, by_bytes = PackageSolver(package, 2), PackageSolver(package.recost("bytes"))
    for budget in budgets:
        amount = Fraction(budget)
        best = subject.oracle.optimum(amount)
        variants = {"opt": best, "opt_two": two.solve(budget), "opt_bytes": by_bytes.solve(budget)}
        for metric, optimum in variants.items():
            results.uncertified += not optimum.certified
            results.add(budget, metric, optimum.value if optimum.certified else None)
        base = best.value if best.certified and best.value else None
        pairs = {"two_over_one": variants["opt_two"], "bytes_over_default": variants["opt_bytes"]}
        for metric, optimum in pairs.items():
            results.add(budget, metric, optimum.value / base if base else None)
        for name in WRITERS:
            store = subject.written_by(named_writer(name), amount, 0)
            value = subject.scorer.worth(store).value
            results.add(budget, name, value / base if base else None)


def writer_rows(results: ArchiveResults) -> Iterator[tuple[str, int, float, float, float]]:
    """Our writers at the paper's budgets: mean ratio over examples and its interval."""
    for name in WRITERS:
        for budget in map(int, published("natural")["budgets"]):
            ours = results.mean(budget, name)
            if ours is not None:
                yield name, budget, *ours


def natural_numbers(results: ArchiveResults) -> dict[str, float | None]:
    """By what the paper calls a number, ours."""
    numbers: dict[str, float | None] = {}
    for entry in published("natural")["numbers"]:
        metric, end = entry["metric"], 0
        for place, suffix in ((1, "_low"), (2, "_high")):
            if metric.endswith(suffix):
                metric, end = metric.removesuffix(suffix), place
        for budget in entry["at"]:
            ours = results.mean(int(budget), metric)
            numbers[f"{entry['what']}, B = {budget}"] = None if ours is None else ours[end]
    return numbers


def natural_lines(results: ArchiveResults) -> Iterator[ScoreboardLine]:
    """Published numbers beside ours."""
    ours = natural_numbers(results)
    for entry in published("natural")["numbers"]:
        for budget, printed in entry["at"].items():
            what = f"{entry['what']}, B = {budget}"
            yield compare("natural", what, printed, ours[what])


# The archive as a folder.


@dataclass(frozen=True, slots=True)
class ArchiveFiles:
    """What was found: the folder of packages, stores by system, and the human audit frame."""

    packages: Path
    stores: dict[str, Path]
    """By the paper's name of a system, the folder of its store."""
    labels: Path | None

    @property
    def found(self) -> list[str]:
        """What there is, in words: paths of somebody's machine do not belong into results."""
        return [
            "packages",
            *(f"store of {name}" for name in sorted(self.stores)),
            *(["human labels"] if self.labels else []),
        ]


SYSTEMS = {
    "Mem0": ("mem0",),
    "Letta": ("letta",),
    "A-Mem metadata": ("amem", "metadata"),
    "A-Mem full": ("amem",),
}
"""The paper's rows, and what the path of a store's folder must hold; the first that fits."""


def find_archive(folder: Path) -> ArchiveFiles:
    """Look for files of the published layout, wherever they lie in the folder."""
    if not folder.is_dir():
        raise MemAuditError(f"no archive at {folder}; give the folder it was unpacked into")
    packages: list[Path] = []
    stores: dict[str, Path] = {}
    labels = None
    for count, (place, inner, names) in enumerate(os.walk(folder)):
        if count > MOST_FOLDERS:
            raise MemAuditError(f"{folder} has too many folders; give that of the archive")
        inner.sort()
        here = Path(place)
        if set(FILES.values()) <= set(names):
            packages.append(here)
        if STORES_FILE in names:
            path = here.relative_to(folder).as_posix().lower().replace("-", "").replace("_", "")
            system = next(
                (name for name, marks in SYSTEMS.items() if all(mark in path for mark in marks)),
                None,
            )
            if system is not None:
                stores.setdefault(system, here)
        if labels is None and {CELLS, *HUMANS} <= set(names):
            labels = here
    if not packages:
        raise MemAuditError(
            f"{folder} has no folder with {', '.join(FILES.values())}; is this the archive?"
        )
    return ArchiveFiles(_main_packages(packages), stores, labels)


def _main_packages(folders: Sequence[Path]) -> Path:
    """The set of 87 examples, or the only one."""
    if len(folders) == 1:
        return folders[0]
    sizes = {folder: len(read_packages(folder)) for folder in folders}
    fitting = [folder for folder, size in sizes.items() if size == PAPER_EXAMPLES]
    if len(fitting) != 1:
        there = ", ".join(f"{folder.name} ({size})" for folder, size in sizes.items())
        raise MemAuditError(
            f"the archive has several sets of packages, and not exactly one of {PAPER_EXAMPLES} "
            f"examples: {there}; give the folder of one of them"
        )
    return fitting[0]


def write_archive_numbers(files: ArchiveFiles, folder: Path) -> None:
    """Everything that the archive's files allow, as one file."""
    skipped: dict[str, int] = {}
    numbers = archive_numbers(files, skipped=skipped)
    data = {"found": files.found, "examples_not_judged": skipped, "numbers": numbers}
    write_file(folder / ARCHIVE_NUMBERS, json.dumps(data, indent=1) + "\n")


def archive_numbers(
    files: ArchiveFiles,
    progress: Callable[[int], None] | None = None,
    skipped: dict[str, int] | None = None,
) -> dict[str, dict[str, float | None]]:
    """Ours, by where the paper prints a number and what it calls it.

    `skipped` gets, by system, how many examples have no coverage calls that can be read.
    """
    packages = read_packages(files.packages)
    results = measure_archive(packages, progress)
    natural = natural_numbers(results)
    in_table_five = {what for what in natural if "Estimated" not in what}
    # Every table is listed, empty where its files are missing: a line without a number stays open.
    numbers: dict[str, dict[str, float | None]] = {
        "table 5": {what: natural[what] for what in natural if what in in_table_five},
        "section 6": {what: natural[what] for what in natural if what not in in_table_five},
        "table 4": {},
        "table 6": {},
        "appendix C": {},
        "table 2": {},
        "table 3": {},
    }
    # Another number of examples is another set, whose size agrees with nothing.
    if len(packages) == PAPER_EXAMPLES:
        numbers["table 2"]["adjudicated subset, accepted or corrected"] = len(packages)
    for system, folder in files.stores.items():
        missing = _add_store(numbers, system, folder, packages)
        if skipped is not None and missing:
            skipped[system] = missing
    if files.labels is not None:
        numbers["table 3"] |= _human_agreement(files.labels)
    return numbers


def _add_store(
    numbers: dict[str, dict[str, float | None]],
    system: str,
    folder: Path,
    packages: Sequence[Package],
) -> int:
    """The rows of tables 4 and 6 and the smallest notes, for one system; returns how many examples
    were left out because nobody judged them."""
    missing = 0
    store = import_store([folder / STORES_FILE], "written-stores", ImportOptions(name=system))
    if system == "A-Mem full":
        least = {rule: _smallest(store, packages, rule) for rule in ("words", "bytes")}
        numbers["appendix C"] |= {
            "A-Mem, mean smallest cost of a full note, words": least["words"],
            "A-Mem, mean smallest cost of a full note, byte-overhead units": least["bytes"],
        }
        numbers["section 6"] |= {
            "A-Mem, mean smallest cost of a full note, words": least["words"],
            "A-Mem, mean smallest cost of a full note, byte-overhead units": least["bytes"],
        }
    if not (folder / COVERAGE_FILE).is_file():
        return len(packages)
    judge = PublishedJudge(folder / COVERAGE_FILE)
    # An archive without salience calls is pruned by what else the store allows.
    calls = folder / SALIENCE_FILE
    salience = Salience({system: SalienceCalls(calls)} if calls.is_file() else {})
    # The paper calls the rule `byte-overhead`.
    rows = {"words": "words", "byte-overhead": "bytes"}
    for name, rule in rows.items():
        means = _StoreMeans()
        for package in packages:
            means.add(package, store, judge, salience, rule)
        missing = max(missing, means.skipped)
        row = {"A-Mem metadata": "A-Mem metadata recency", "A-Mem full": "A-Mem full native"}
        what = f"{name}, {row.get(system, f'{system} salience')} / package OPT"
        numbers["table 6"][what] = means.mean("package")
        if rule == "words":
            kept = {"A-Mem metadata": "A-Mem metadata view", "A-Mem full": "A-Mem full-store view"}
            head = kept.get(system, f"{system} salience-pruned")
            numbers["table 4"] |= {
                f"{head}, raw F(Y)": means.mean("value"),
                f"{head}, package ratio": means.mean("package"),
                f"{head}, union ratio": means.mean("union"),
            }
            if system in ("Mem0", "Letta"):
                numbers["table 4"] |= {
                    f"{system} upper-pruned, raw F(Y)": means.mean("upper value"),
                    f"{system} upper-pruned, package ratio": means.mean("upper package"),
                    f"{system} upper-pruned, union ratio": means.mean("upper union"),
                }
    return missing


@dataclass(slots=True)
class _StoreMeans:
    """What is kept of a store at B = 100, example by example."""

    numbers: dict[str, list[Fraction]] = field(default_factory=dict)
    skipped: int = 0

    def mean(self, name: str) -> float | None:
        values = self.numbers.get(name)
        return float(sum(values) / Fraction(len(values))) if values else None

    def add(
        self,
        package: Package,
        store: ExportedStore,
        judge: PublishedJudge,
        salience: Salience,
        rule: str,
    ) -> None:
        measured = package.recost(rule)
        try:
            written = judge_store(measured, store, judge, salience)
        except (NotJudged, MemAuditError):
            self.skipped += 1  # no call, or none that could be read: not a zero
            return
        policy: Policy | None = "salience" if "salience" in usable_policies(written) else None
        scorer = StoreScorer(measured, [written])
        kept = scorer.worth(written, keep_within(written, BUDGET, policy).ids).value
        upper = scorer.alone_optimum(written, BUDGET).value
        # The paper's package optimum is over declared costs.
        own = PackageSolver(package if rule == "words" else measured).solve(BUDGET).value
        union = scorer.union_optimum(written, BUDGET).value
        for name, value, base in (
            ("value", kept, Fraction(1)),
            ("package", kept, own),
            ("union", kept, union),
            ("upper value", upper, Fraction(1)),
            ("upper package", upper, own),
            ("upper union", upper, union),
        ):
            if base:
                self.numbers.setdefault(name, []).append(value / base)


def _smallest(store: ExportedStore, packages: Sequence[Package], rule: str) -> float | None:
    measure = cost_rule(rule)
    least = []
    for package in packages:
        try:
            memories = price_store(package.recost(rule), store).memories
        except MemAuditError:
            continue  # the store was not written for it
        if memories:
            least.append(min(measure(memory.text) for memory in memories))
    return sum(least) / len(least) if least else None


def _human_agreement(folder: Path) -> dict[str, float | None]:
    """The first rows of table 3: the two annotators, and their consensus against the model."""
    frame = read_frame(folder / CELLS, ids_only=True)
    humans = [label_set for name in HUMANS for label_set in read_label_sets(folder / name, frame)]
    audit = audit_agreement(frame, humans, draws=1)
    numbers: dict[str, float | None] = {}
    for pair in audit.pairs:
        own = pair.scales[COVERED_SCALE.name]
        if pair.kind == "annotator-annotator":
            head, cells = "human-human", "cells"
        elif pair.kind == "consensus-package":
            head, cells = "human-Gemini", "agreed cells"
        else:
            continue
        numbers[f"{head}, {cells}"] = own.cells
        numbers[f"{head}, Cohen's kappa"] = own.as_drawn.kappa.value
        numbers[f"{head}, raw agreement"] = own.as_drawn.raw_agreement.value
    return numbers
