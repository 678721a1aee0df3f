"""What a path holds: packages, or everything that is wrong with them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memaudit.core.errors import InvalidPackage, Problem
from memaudit.core.package import Package
from memaudit.io.artifact import MARKS, read_artifact
from memaudit.io.check import check
from memaudit.io.draft import Draft
from memaudit.io.files import is_file_name, names_in, read_text, refusal
from memaudit.io.folder import FILES, MANIFEST, read_folder
from memaudit.io.single import read_single
from memaudit.io.strict_json import parse_json

BUILD_FORMAT = "memaudit-build"
"""The format of the manifest beside the packages of one build."""


def problems_at(path: Path) -> list[Problem]:
    """Every problem of the package or packages at a path; empty when all is well."""
    return examine(path)[1]


def examine(path: Path) -> tuple[list[Package], list[Problem]]:
    """The packages at a path, and every problem found on the way."""
    try:
        drafts, problems = _drafts(path)
    except InvalidPackage as error:
        return [], list(error.problems)
    packages = []
    for draft in drafts:
        package, found = check(draft)
        problems += found
        if package is not None:
            packages.append(package)
    return packages, problems


def _drafts(path: Path) -> tuple[list[Draft], list[Problem]]:
    """Read whichever form the path has."""
    if not os.path.isdir(path):  # never raises, unlike Path.is_dir
        return [read_single(path)], []
    names = set(names_in(path))
    if MANIFEST in names:
        built = _build_files(path)
        if built is not None:
            return [_one(file) for file in built], []
        return [read_folder(path)], []
    if names & MARKS:
        return read_artifact(path)
    label = path.name or str(path)
    if not names:
        return [], [Problem("is an empty folder", "a package was expected", file=label)]
    if names & set(FILES.values()):
        return [], [Problem(f"has no {MANIFEST}", "a package folder needs one", file=label)]
    fix = f"expected {MANIFEST}, or the files of the published artifact"
    return [], [Problem("is not a package folder", fix, file=label)]


def _one(path: Path) -> Draft:
    return read_single(path) if path.suffix == ".json" else read_folder(path)


def _build_files(path: Path) -> list[Path] | None:
    """The packages that a build folder's manifest lists; None where it is another manifest."""
    data = parse_json(read_text(path / MANIFEST), MANIFEST)
    if not isinstance(data, dict) or data.get("format") != BUILD_FORMAT:
        return None
    return [path / str(row["file"]) for row in build_rows(data)]


def build_rows(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The packages that the manifest of a build lists: each a file of its folder, each once."""
    rows = manifest.get("packages")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise refusal("does not list its packages", "build the folder again", MANIFEST)
    names = [row.get("file") for row in rows]
    if not all(map(is_file_name, names)):
        raise refusal("names something outside its folder", "build the folder again", MANIFEST)
    if len(set(names)) < len(names):
        raise refusal("lists a file twice", "build the folder again", MANIFEST)
    if not rows:
        raise refusal("lists no package", "build the folder again", MANIFEST)
    return rows
