"""Packages on disk, whatever their form: one file, a folder, a build or the published layout."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Protocol

from memaudit.kernel.errors import InvalidPackage, MemAuditError, Problem
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import is_file_name, names_in, read_text, refusal
from memaudit.kernel.io.package_check import (
    FORMAT,
    VERSION,
    WEIGHT_ON_DISK,
    PackageDraft,
    check_package,
    header_data,
    open_header,
    table_data,
)
from memaudit.kernel.io.package_folder import (
    FILES,
    MANIFEST,
    read_package_folder,
    write_package_folder,
)
from memaudit.kernel.io.published_folder import MARKS, read_artifact
from memaudit.kernel.io.strict_json import JsonRow, NotJson, json_text, kind_of, parse_json
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import TABLES, Package

BUILD_FORMAT = "memaudit-build"
"""The format of the manifest beside the packages of one build."""


def problems_at(path: Path) -> list[Problem]:
    """Every problem of the packages at a path; empty when there is none."""
    return examine(path)[1]


def examine(path: Path) -> tuple[list[Package], list[Problem]]:
    """The packages at a path, and every problem found on the way."""
    packages, problems = _examined(path, lines=False)
    # To find the line of every row takes as long as to read them: only where lines are needed.
    return _examined(path, lines=True) if problems else (packages, problems)


def _examined(path: Path, lines: bool) -> tuple[list[Package], list[Problem]]:
    try:
        drafts, problems = _drafts(path, lines)
    except InvalidPackage as error:
        return [], list(error.problems)
    packages = []
    for draft in drafts:
        package, more = check_package(draft)
        problems += more
        if package is not None:
            packages.append(package)
    return packages, problems


def _drafts(path: Path, lines: bool) -> tuple[list[PackageDraft], list[Problem]]:
    """Read whichever form the path has."""
    if not os.path.isdir(path):  # never raises, unlike Path.is_dir
        return [read_package_file(path, lines)], []
    names = set(names_in(path))
    if MANIFEST in names:
        built = _build_rows(path)
        if built is not None:
            files = [path / str(row["file"]) for row in built]
            return [
                read_package_file(file, lines)
                if file.suffix == ".json"
                else read_package_folder(file)
                for file in files
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


def _build_rows(path: Path) -> list[dict[str, Any]] | None:
    """The packages that a build folder's manifest lists; None where it is another manifest."""
    data = parse_json(read_text(path / MANIFEST), MANIFEST)
    if not isinstance(data, dict) or data.get("format") != BUILD_FORMAT:
        return None
    return build_rows(data)


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


class PlaceOfPackage(Protocol):
    """Where a package is, so that another process can read it."""

    def read(self) -> Package: ...


@dataclass(frozen=True, slots=True)
class PackagePlace:
    """A file or folder with a package.

    `number` is its place among several that can only be read together, `digest` what it has to be.
    """

    path: Path
    number: int | None = None
    digest: str | None = None

    def read(self) -> Package:
        if self.number is not None:
            return _all_at(self.path)[self.number]
        package = read_package(self.path)
        if self.digest is not None and digest(package) != self.digest:
            raise MemAuditError(
                f"{self.path}: is not the package that the manifest names; run the build again"
            )
        return package


def _all_at(path: Path) -> tuple[Package, ...]:
    """The packages of a folder that holds many, read once as long as its files do not change."""
    # A run asks for the packages of such a folder one by one, and each time all have to be read.
    stamps = [(name, (path / name).stat()) for name in names_in(path)]
    return _read_all(path, tuple((name, at.st_mtime_ns, at.st_size) for name, at in stamps))


@lru_cache(maxsize=1)
def _read_all(path: Path, stamps: object) -> tuple[Package, ...]:  # noqa: ARG001 - only a key
    return tuple(read_packages(path))


def package_places(path: Path, of_build: bool = False) -> list[PackagePlace]:
    """The places of all packages at a path: a package, a build, the published layout, or a folder
    of package files. `of_build`: they have to be those of the manifest."""
    names = set(names_in(path)) if os.path.isdir(path) else set()
    if names & MARKS and MANIFEST not in names:
        return [PackagePlace(path, number) for number in range(len(_all_at(path)))]
    rows = _build_rows(path) if MANIFEST in names else None
    if rows is None and MANIFEST not in names:
        files = sorted(name for name in names if name.lower().endswith(".json"))
        if files:  # a plain folder of packages
            return [PackagePlace(path / name) for name in files]
    if rows is None:
        return [PackagePlace(path)]
    return [
        PackagePlace(path / row["file"], None, str(row.get("digest")) if of_build else None)
        for row in rows
    ]


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


_TOKEN = re.compile(r'"(?:[^"\\]+|\\.?)*(?:"|\Z)(?P<names>\s*:)?|[][{},]|[^][{},":\s]+', re.DOTALL)


def _places(text: str) -> Iterator[tuple[str, int, int, str]]:
    """Key, number, line and text of every row, and of every other value of a package (number -1).

    The parser of the standard library does not tell where a value stood.
    """
    depth, key, number, start, line, counted = 0, "", -1, -1, 1, 0
    for token in _TOKEN.finditer(text):
        sign, ends = token[0], token[0] in (",", "]", "}")
        if depth == 1 and token["names"]:
            key, number = sign.split('"')[1], -1
        elif depth == 1 and sign == "[":
            number = 0
        elif depth == (1 if number < 0 else 2):
            if ends and start >= 0:
                line += text.count("\n", counted, start)
                yield key, number, line, text[start : token.start()]
                number, counted, start = number + (number >= 0), start, -1
            elif not ends and start < 0:
                start = token.start()
        depth += (sign in ("[", "{")) - (sign in ("]", "}"))


def _parsed(text: str, file: str) -> Any:
    """The document; a row that is JSON but not allowed in a package is reported at its own line."""
    try:
        return parse_json(text, file)
    except NotJson:
        raise
    except InvalidPackage as error:
        refusals: list[Problem] = []
        for _, _, line, value in _places(text):
            try:
                parse_json(value, file, line)
            except InvalidPackage as refused:
                refusals += refused.problems
        raise InvalidPackage(refusals or error.problems, file) from None


def read_package_file(path: Path, lines: bool) -> PackageDraft:
    """The draft of a one-file package, with the line of every row if asked for."""
    text, file = read_text(path), path.name
    document = _parsed(text, file)
    if not isinstance(document, dict):
        problem = Problem(f"is not a package: it holds {kind_of(document)}", file=file)
        raise InvalidPackage([problem], file)
    draft, is_package = open_header(document, file, set(TABLES))
    if not is_package:
        raise InvalidPackage(draft.problems, file)
    places = {(table, row): line for table, row, line, _ in _places(text)} if lines else {}
    for table in TABLES:
        _read_table(draft, table, document.get(table), places)
    return draft


def _read_table(
    draft: PackageDraft, table: str, rows: Any, places: Mapping[tuple[str, int], int]
) -> None:
    """Put a table's rows into the draft."""
    file = draft.header.file
    if rows is None and table in ("queries", "coverage"):
        return
    if not isinstance(rows, list):
        state = "is missing" if rows is None else f"is {kind_of(rows)}"
        draft.problems.append(
            Problem(f"the table {table!r} {state}", "a list was expected", file=file)
        )
        return
    for number, data in enumerate(rows):
        line = places.get((table, number), 0)
        if isinstance(data, dict):
            draft.tables[table].append(JsonRow(data, file, line))
        else:
            message = f"{table}[{number}] is {kind_of(data)}"
            draft.problems.append(Problem(message, "an object was expected", file=file, line=line))


def write_package_file(package: Package, path: Path) -> None:
    """One JSON file with one row per line."""
    parts = {name: json_text(value) for name, value in header_data(package).items()}
    parts["digest"] = json_text(digest(package))
    for table, rows in table_data(package).items():
        body = ",\n    ".join(json_text(row) for row in rows)
        parts[table] = f"[\n    {body}\n  ]" if rows else "[]"
    body = ",\n".join(f"  {json_text(name)}: {text}" for name, text in parts.items())
    write_file(path, f"{{\n{body}\n}}\n")
