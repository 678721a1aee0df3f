"""All checks, the cheap ones first; later ones only rest on what earlier ones found sound."""

from collections.abc import Iterator
from pathlib import Path

from memaudit.experiments.artifact.layout import MANIFEST
from memaudit.experiments.artifact.program import source_digest, versions
from memaudit.experiments.artifact.verify.derived import check_derived, check_labels
from memaudit.experiments.artifact.verify.files import check_files
from memaudit.experiments.artifact.verify.other_rows import check_other_rows
from memaudit.experiments.artifact.verify.packages import check_packages
from memaudit.experiments.artifact.verify.report import Report
from memaudit.experiments.artifact.verify.rows import check_runs
from memaudit.experiments.artifact.verify.sample import check_sample
from memaudit.experiments.artifact.verify.stated import Stated, read_stated

BASE = "base"
FIGURES_NOTE = "figures are checked by hash only: their bytes depend on the drawing library"


def verify_all(folder: Path, sample: int, seed: int) -> Report:
    """Check a folder; `sample` rows are computed again, chosen by `seed`."""
    stated = read_stated(folder)
    settings = stated.settings
    report = Report(notes=[FIGURES_NOTE, *_other_program(stated)])
    if not check_files(folder, stated, report):
        report.notes.append("files are missing: nothing was computed again")
        return report
    listed = len(stated.packages.get(BASE, {}))
    if listed != settings.seeds:  # what is computed again must be of the size that is there
        where = f"lists {listed} packages of {BASE} for {settings.seeds} seeds"
        report.problem(MANIFEST, where)
        return report
    digests = check_packages(folder, stated, report)
    before = len(report.problems)
    rows = check_runs(folder, settings, digests, report)
    rows |= check_other_rows(folder, settings, report)
    check_labels(folder, settings, report)
    sound = len(report.problems) == before
    if rows:
        check_sample(rows, sample, seed, report)
    if sound:
        check_derived(folder, stated, report)
    else:
        report.notes.append("documents were not derived again: the files they rest on are wrong")
    return report


def _other_program(stated: Stated) -> Iterator[str]:
    """A note where the folder was made by another program than this one."""
    made, here = stated.identity, source_digest()
    if made.source != here:
        yield (
            f"made by another program: memaudit {made.memaudit}, source {made.source[:12]}; this "
            f"is {versions()['memaudit']}, {here[:12]}. Prompts and data are not compared"
        )
