"""Build folders: packages with one manifest beside them, written and read back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.core.package import Package
from memaudit.io.atomic import write_file
from memaudit.io.packages import read_packages
from memaudit.io.plain_rows import line
from memaudit.io.validate import build_rows
from memaudit.natural.annotations import METHOD
from memaudit.natural.build_manifest import build_manifest
from memaudit.natural.building import Job, file_name, plan, refuse_an_empty_build, store
from memaudit.natural.claim import refuse_other_builds
from memaudit.natural.manifest import NAME, Tally, manifest, unused

FORMS = ("json", "folder")

Progress = Callable[[str, bool], None]
"""Called with a package's name and whether it was written (else it was there already)."""


def build_into(
    job: Job, out: Path, form: str = "json", progress: Progress | None = None
) -> dict[str, Any]:
    """Build every package into a folder; the manifest comes last, so it vouches for them all."""
    if form not in FORMS:
        raise MemAuditError(f"unknown form {form!r}; choose {' or '.join(FORMS)}")
    made = plan(job)
    refuse_other_builds(out, made, METHOD)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MemAuditError(f"cannot make {out}: {error.strerror or error}") from None
    tally = Tally()
    try:
        for built in made.built():
            name = built.package.name
            file = file_name(name, form)
            written = store(built.package, out / file)
            tally.add(built, file, written)
            if progress is not None:
                progress(name, written)
    except MemAuditError as error:
        if not tally.packages:
            raise
        raise MemAuditError(
            f"{error} ({len(tally.packages)} packages are in {out}, without a manifest: a build "
            "that runs through keeps them)"
        ) from None
    if not tally.packages:
        refuse_an_empty_build(job.path, out)
    tally.misfits += [
        (one.id, one) for one in unused(made, (row["name"] for row in tally.packages))
    ]
    data = manifest(made, tally)
    text = line(data, indent=2) + "\n"
    write_file(out / NAME, text)
    return {**data, "kept": tally.kept}


def packages_at(path: Path) -> list[Package]:
    """The packages of a build folder, or of any path that holds packages."""
    data = build_manifest(path)
    if data is None:
        return read_packages(path)
    packages = []
    for row in build_rows(data):
        name = str(row["file"])
        try:
            found = read_packages(path / name)
        except InvalidPackage as error:
            raise InvalidPackage(error.problems, f"{path / name}") from None
        if [digest(one) for one in found] != [row.get("digest")]:
            raise MemAuditError(
                f"{path / name}: is not the package that the manifest names; build it again"
            )
        packages += found
    return packages
