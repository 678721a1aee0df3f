"""All checks, the cheap ones first; later ones only rest on what earlier ones found sound."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memaudit.experiments.engines.local import Engine, Serial
from memaudit.reproduce.folder import MANIFEST
from memaudit.reproduce.settings import source_digest, versions
from memaudit.reproduce.verify.compare import check_again
from memaudit.reproduce.verify.derived import check_derived, check_labels
from memaudit.reproduce.verify.downstream import check_downstream
from memaudit.reproduce.verify.drawn import Pen, check_figures
from memaudit.reproduce.verify.files import check_files
from memaudit.reproduce.verify.other_rows import check_other_rows
from memaudit.reproduce.verify.packages import check_packages
from memaudit.reproduce.verify.report import Report
from memaudit.reproduce.verify.rows import check_runs, run_specs
from memaudit.reproduce.verify.stated import Stated, read_stated

BASE = "base"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done: rows to make again, all unless a number is given, drawn with a seed.

    Without a pen figures are compared by hash only.
    """

    sample: int | None = None
    seed: int = 0
    engine: Engine = field(default_factory=Serial)
    pen: Pen | None = None


def verify_all(folder: Path, effort: Effort) -> Report:
    """Check a folder."""
    stated = read_stated(folder)
    settings = stated.settings
    report = Report(notes=[*_other_program(stated), stated.told])
    if not check_files(folder, stated, report):
        report.notes.append("files are missing or not plain: nothing was computed again")
        return report
    listed = len(stated.packages.get(BASE, {}))
    if listed != settings.seeds:  # what is computed again must be of the size that is there
        where = f"lists {listed} packages of {BASE} for {settings.seeds} seeds"
        report.problem(MANIFEST, where)
        return report
    digests = check_packages(folder, stated, report)
    before = len(report.problems)
    runs = run_specs(settings)
    rows = check_runs(folder, stated, runs, digests, report)
    rows |= check_other_rows(folder, settings, report)
    check_labels(folder, settings, effort.engine, report)
    check_downstream(folder, settings, report)
    sound = len(report.problems) == before
    check_again(rows, settings, runs, effort.sample, effort.seed, effort.engine, report)
    if sound:
        check_derived(folder, stated, report)
        check_figures(folder, stated, effort.pen, report)
    else:
        report.notes.append("documents and figures were not made again: they rest on wrong files")
    return report


def _other_program(stated: Stated) -> Iterator[str]:
    """A note where the folder was made by another program than this one."""
    made, here = stated.identity, source_digest()
    if made.source != here:
        yield (
            f"made by another program: memaudit {made.memaudit}, source {made.source[:12]}; this "
            f"is {versions()['memaudit']}, {here[:12]}"
        )
