"""Compare text with a golden file; MEMAUDIT_UPDATE_GOLDEN=1 writes the files again."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def check_golden(name: str, text: str) -> None:
    """The text is the golden file's, but for how blanks and lines are broken."""
    path = FOLDER / name
    if os.environ.get("MEMAUDIT_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")
    assert text.split() == path.read_text().split(), f"{path} differs; see tests/golden_files.py"
