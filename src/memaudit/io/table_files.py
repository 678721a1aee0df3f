"""One JSONL file of a folder, held against what its manifest says."""

from pathlib import Path
from typing import Any

from memaudit.core.errors import InvalidPackage, Problem
from memaudit.io.files import decode, read_bytes, sha256
from memaudit.io.strict_json import Row, parse_lines


def read_table_file(
    path: Path, count: Any = None, expected_hash: Any = None
) -> tuple[list[Row], list[Problem], bool]:
    """The rows, the problems, and whether every row could be read."""
    file = path.name
    try:
        data = read_bytes(path)
        rows, problems = parse_lines(decode(data, file), file)
    except InvalidPackage as error:
        return [], list(error.problems), False
    complete, found = not problems, len(rows) + len(problems)
    if count is not None and count != found:
        message = f"has {found} rows but the manifest counts {str(count)[:20]}"
        problems.append(Problem(message, "rows were lost or added", file=file))
    if expected_hash is not None and expected_hash != sha256(data):
        message = f"has SHA-256 {sha256(data)[:12]} but the manifest says {str(expected_hash)[:12]}"
        problems.append(Problem(message, "the file changed after it was written", file=file))
    return rows, problems, complete
