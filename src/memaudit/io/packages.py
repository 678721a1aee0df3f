"""Packages on disk in every form: read, checked and written by path."""

import os
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from memaudit.core.errors import InvalidPackage, MemAuditError, Problem
from memaudit.core.package import Package
from memaudit.io.files import is_file_name, names_in, read_text, refusal
from memaudit.io.package_check import check_package
from memaudit.io.package_draft import FORMAT, VERSION, WEIGHT_ON_DISK, PackageDraft
from memaudit.io.package_file import read_package_file, write_package_file
from memaudit.io.package_folder import FILES, MANIFEST, read_package_folder, write_package_folder
from memaudit.io.published_folder import MARKS, read_artifact
from memaudit.io.strict_json import json_text, parse_json

BUILD_FORMAT = "memaudit-build"
"""The format of the manifest beside the packages of one build."""


def problems_at(path: Path) -> list[Problem]:
    """Every problem of the packages at a path; empty when there is none."""
    return examine(path)[1]


def examine(path: Path) -> tuple[list[Package], list[Problem]]:
    """The packages at a path, and every problem found on the way."""
    try:
        drafts, problems = _drafts(path)
    except InvalidPackage as error:
        return [], list(error.problems)
    packages = []
    for draft in drafts:
        package, found = check_package(draft)
        problems += found
        if package is not None:
            packages.append(package)
    return packages, problems


def _drafts(path: Path) -> tuple[list[PackageDraft], list[Problem]]:
    """Read whichever form the path has."""
    if not os.path.isdir(path):  # never raises, unlike Path.is_dir
        return [read_package_file(path)], []
    names = set(names_in(path))
    if MANIFEST in names:
        built = _build_files(path)
        if built is not None:
            return [
                read_package_file(file) if file.suffix == ".json" else read_package_folder(file)
                for file in built
            ], []
        return [read_package_folder(path)], []
    if names & MARKS:
        return read_artifact(path)
    label = path.name or str(path)
    if not names:
        return [], [Problem("is an empty folder", "a package was expected", file=label)]
    if names & set(FILES.values()):
        return [], [Problem(f"has no {MANIFEST}", "a package folder needs one", file=label)]
    fix = f"expected {MANIFEST}, or the files of the published artifact"
    return [], [Problem("is not a package folder", fix, file=label)]


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


PathLike = str | os.PathLike[str]


def read_packages(path: PathLike) -> list[Package]:
    """Every package at a path; the published layout holds many."""
    packages, problems = examine(Path(path))
    if problems:
        raise InvalidPackage(problems, str(path))
    if not packages:
        raise MemAuditError(f"{path} holds no package")
    return packages


def read_package(path: PathLike) -> Package:
    """The one package at a path."""
    packages = read_packages(path)
    if len(packages) > 1:
        names = ", ".join(repr(package.name) for package in packages[:3])
        raise MemAuditError(
            f"{path} holds {len(packages)} packages ({names}, ...) where one was expected; "
            "convert the one you want, or read them all"
        )
    return packages[0]


def write_package(package: Package, path: PathLike) -> None:
    """One JSON file where the path ends in .json, else a folder of tables."""
    if Path(path).suffix.lower() == ".json":
        write_package_file(package, Path(path))
    else:
        write_package_folder(package, Path(path))


def example_package() -> Package:
    """One traveller's messages, hand-made: a changed diet, a move, a deletion, an open question."""
    with as_file(files("memaudit").joinpath("examples", "travel.json")) as path:
        return read_package(path)


def package_schema() -> dict[str, Any]:
    """What a .json package looks like; rows of a package folder are its table items."""
    schema = Package.model_json_schema(mode="validation")
    number = schema["$defs"]["Candidate"]["properties"]["cost"]["anyOf"]
    schema["$defs"]["EvidenceUnit"]["properties"][WEIGHT_ON_DISK] = {
        "anyOf": number,
        "description": "the weight the queries give; checked against them where present",
    }
    schema["properties"] = {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "digest": {
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
            "description": "SHA-256 of the canonical content; checked where present",
        },
        **schema["properties"],
    }
    schema["required"] = ["format", "version", *schema["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def schema_text() -> str:
    """The schema as the file checked in."""
    return json_text(package_schema(), indent=2) + "\n"
