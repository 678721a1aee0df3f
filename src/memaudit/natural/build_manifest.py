"""The manifest of a build folder, read back."""

from pathlib import Path
from typing import Any

from memaudit.io.files import read_text
from memaudit.io.strict_json import parse_json
from memaudit.natural.manifest import FORMAT, NAME


def build_manifest(path: Path) -> dict[str, Any] | None:
    """The manifest of a build folder; None where the path is something else."""
    if not (path / NAME).is_file():
        return None
    data = parse_json(read_text(path / NAME), NAME)
    return data if isinstance(data, dict) and data.get("format") == FORMAT else None
