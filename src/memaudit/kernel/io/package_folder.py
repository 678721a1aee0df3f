"""A package as a folder of JSONL tables and a manifest with their counts and hashes."""

from pathlib import Path
from typing import Any

from memaudit.kernel.errors import InvalidPackage, Problem
from memaudit.kernel.io.atomic import write_folder
from memaudit.kernel.io.files import decode, read_bytes, read_text, sha256
from memaudit.kernel.io.package_check import PackageDraft, header_data, open_header, table_data
from memaudit.kernel.io.strict_json import (
    JsonRow,
    json_lines,
    json_text,
    kind_of,
    parse_json,
    parse_lines,
)
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import TABLES, Package

MANIFEST = "manifest.json"
FILES = {table: f"{table}.jsonl" for table in TABLES}


def read_package_folder(folder: Path) -> PackageDraft:
    """The draft of a package folder."""
    manifest = parse_json(read_text(folder / MANIFEST), MANIFEST)
    if not isinstance(manifest, dict):
        problem = Problem(f"is not a manifest: it holds {kind_of(manifest)}", file=MANIFEST)
        raise InvalidPackage([problem], MANIFEST)
    draft, is_package = open_header(manifest, MANIFEST, {"counts", "sha256"})
    if not is_package:
        raise InvalidPackage(draft.problems, MANIFEST)
    # A manifest written by hand may have neither counts nor hashes; what it has must be right.
    counts = _mapping(manifest, "counts", set(TABLES), draft)
    hashes = _mapping(manifest, "sha256", set(FILES.values()), draft)
    for table, file in FILES.items():
        draft.tables[table], problems = read_table_file(
            folder / file, counts.get(table), hashes.get(file)
        )
        draft.problems += problems
    return draft


def _mapping(
    manifest: dict[str, Any], name: str, known: set[str], draft: PackageDraft
) -> dict[str, Any]:
    """A part of the manifest that has one entry per table or file."""
    part = manifest.get(name, {})
    if not isinstance(part, dict):
        message = f"has {kind_of(part)} in the field {name!r}"
        draft.problems.append(Problem(message, "an object was expected", file=MANIFEST))
        return {}
    draft.problems += [
        Problem(f"names the unknown entry {key!r} in {name!r}", file=MANIFEST)
        for key in part
        if key not in known
    ]
    return part


def read_table_file(
    path: Path, count: Any = None, expected_hash: Any = None
) -> tuple[list[JsonRow], list[Problem]]:
    """The rows, and the problems."""
    file = path.name
    try:
        data = read_bytes(path)
        rows, problems = parse_lines(decode(data, file), file)
    except InvalidPackage as error:
        return [], list(error.problems)
    total = len(rows) + len(problems)
    if count is not None and count != total:
        message = f"has {total} rows but the manifest counts {str(count)[:20]}"
        problems.append(Problem(message, "rows were lost or added", file=file))
    # Both checks: a count tells that rows are missing, a hash that one was changed.
    if expected_hash is not None and expected_hash != sha256(data):
        message = f"has SHA-256 {sha256(data)[:12]} but the manifest says {str(expected_hash)[:12]}"
        problems.append(Problem(message, "the file changed after it was written", file=file))
    return rows, problems


def write_package_folder(package: Package, folder: Path) -> None:
    """A folder of tables and its manifest."""
    tables = table_data(package)
    files = {FILES[table]: json_lines(rows) for table, rows in tables.items()}
    manifest = {
        **header_data(package),
        "digest": digest(package),
        "counts": {table: len(rows) for table, rows in tables.items()},
        "sha256": {file: sha256(text.encode()) for file, text in files.items()},
    }
    files[MANIFEST] = json_text(manifest, indent=2) + "\n"
    write_folder(folder, files, files.keys())
