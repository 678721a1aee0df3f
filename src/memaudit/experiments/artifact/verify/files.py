"""Every file is there, is what the manifest says, and there is no other."""

from pathlib import Path

from memaudit.experiments.artifact.layout import MANIFEST, file_sha256, files_in
from memaudit.experiments.artifact.verify.report import Report
from memaudit.experiments.artifact.verify.stated import Stated


def check_files(folder: Path, stated: Stated, report: Report) -> bool:
    """Compare all hashes; whether every file is there, so that they can be read."""
    there = set(files_in(folder)) - {MANIFEST}
    for name in sorted(there - stated.files.keys()):
        report.problem(name, "is not in the manifest")
    for name, sha256 in stated.files.items():
        if name not in there:
            report.problem(name, "is missing")
        elif file_sha256(folder / name) != sha256:
            report.problem(name, "its SHA-256 is not the manifest's")
        report.checked["files"] += 1
    return stated.files.keys() <= there
