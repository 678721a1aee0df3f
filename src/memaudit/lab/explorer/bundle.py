"""The same pages as a folder of static files, written completely or not at all."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import new_folder, one_line_errors
from memaudit.kernel.io.strict_json import read_object
from memaudit.kernel.version import VERSION
from memaudit.lab.explorer.library.entries import KINDS
from memaudit.lab.explorer.library.folders import SITE as MANIFEST
from memaudit.lab.explorer.library.folders import SITE_FORMAT as FORMAT
from memaudit.lab.explorer.library.folders import WRITTEN
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.library.packages import run_package
from memaudit.lab.explorer.pages import PAGES
from memaudit.lab.explorer.site import Site, all_addresses, show, static_files
from memaudit.lab.sweeps.runs.report.frontier_curves import choose_packages

Progress = Callable[[int, int, str], None]
"""Called with the entry that is under way, how many there are, and its page or store."""


@dataclass(frozen=True, slots=True)
class BundleSummary:
    """A bundle that was written: its pages, those that only explain an error, and its bytes."""

    pages: int
    errors: int
    bytes: int


def write_bundle(
    library: Library, out: Path, seconds: float, progress: Progress | None = None
) -> BundleSummary:
    """Write every page into a new folder, then put it in place of the old one."""
    refuse_foreign_files(out)
    site = Site(library, bundled=True, seconds=seconds, shown=frozenset(_chosen_packages(library)))
    with one_line_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
    with new_folder(out, lambda: refuse_foreign_files(out)) as folder:
        return _write(site, folder, progress)


def _write(site: Site, folder: Path, progress: Progress | None) -> BundleSummary:
    hashes: dict[str, str] = {}
    errors = size = pages = 0
    entries = sum(len(site.entries(kind)) for kind in KINDS)
    begun: set[str] = set()

    def tell(text: str) -> None:
        if progress is not None:
            progress(min(len(begun), entries), entries, text)

    site.tell = tell
    for address in all_addresses(site, PAGES):
        begun.add("/".join(address.split("/")[:2]))
        tell(address)
        status, text = show(site, PAGES, address, {})
        data = text.encode("utf-8", "surrogatepass")
        _put(folder, address, data, hashes)
        pages, errors, size = pages + 1, errors + (status != 200), size + len(data)
    for name, data in static_files().items():
        _put(folder, f"static/{name}", data, hashes)
    manifest = {
        "format": FORMAT,
        "version": 1,
        "memaudit": VERSION,
        "files": dict(sorted(hashes.items())),
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    return BundleSummary(pages, errors, size)


def _put(folder: Path, address: str, data: bytes, hashes: dict[str, str]) -> None:
    path = folder / address  # an address is made of slugs: it cannot lead out of the folder
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    hashes[address] = hashlib.sha256(data).hexdigest()


def _chosen_packages(library: Library) -> Iterator[str]:
    """The packages of runs that get pages: the first of each distribution."""
    for entry in library.of("run"):
        if entry.count(WRITTEN) is not None:
            continue
        try:
            run = library.run(entry)
        except MemAuditError:  # listed as unreadable
            continue
        for distribution, seed in choose_packages(run):
            yield run_package(entry, distribution, seed).slug


def refuse_foreign_files(out: Path) -> None:
    """Only a new or empty folder, or an earlier bundle with nothing else in it, is written to."""
    if not out.exists():
        return
    if not out.is_dir():
        raise MemAuditError(f"cannot write {out}: it is a file; give a folder")
    present = {
        str((Path(folder) / name).relative_to(out))
        for folder, _, names in os.walk(out)
        for name in names
    }
    if not present:
        return
    foreign = sorted(present - own_files(out))
    if foreign:
        raise MemAuditError(
            f"cannot write {out}: the folder contains {foreign[0]!r}, which is not part of a "
            "bundle; choose a new folder"
        )


def own_files(out: Path) -> set[str]:
    """The files that a bundle lists in its manifest."""
    try:
        data = read_object(out / MANIFEST, "")
    except MemAuditError:
        return set()
    files = data.get("files") if data.get("format") == FORMAT else None
    return {MANIFEST, *files} if isinstance(files, dict) else set()
