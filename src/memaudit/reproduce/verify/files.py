"""Every file is there, is what the manifest says, and there is no other."""

from pathlib import Path

from memaudit.reproduce.folder import MANIFEST, PARTS, entries, file_sha256
from memaudit.reproduce.verify.report import Report
from memaudit.reproduce.verify.stated import Stated


def check_files(folder: Path, stated: Stated, report: Report) -> bool:
    """Compare all hashes; whether every file is there and plain, so that they can be read."""
    there = dict(entries(folder))
    plain = {name for name, wrong in there.items() if not wrong}
    for name, wrong in there.items():
        if wrong or name not in {MANIFEST, *stated.files}:
            report.problem(name, wrong or "is not in the manifest")
    for name, sha256 in stated.files.items():
        if name not in there:
            report.problem(name, "is missing")
        elif name in plain and file_sha256(folder / name) != sha256:
            report.problem(name, "its SHA-256 is not the manifest's")
        report.checked["files"] += 1
    report.same(MANIFEST, "the list of parts", sorted(stated.parts), sorted(PARTS))
    report.same(MANIFEST, "what took time", sorted(stated.times.seconds), sorted(PARTS))
    for part, names in stated.parts.items():
        for name in names:
            if not name.startswith(f"{part}/"):
                report.problem(MANIFEST, f"counts {name[:80]!r} to the part {part[:80]!r}")
    return stated.files.keys() | {MANIFEST} <= plain
