"""Changes to a finished reproduction, with everything fixed up that a forger could fix up."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memaudit.lab.reproduce.folder import file_sha256
from memaudit.workspace.journal import read_journal, to_line

Change = Callable[[Any], object]


def edit_json(path: Path, change: Change) -> None:
    """Change a JSON file in place, laid out as before."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data, indent=1) + "\n")


def edit_manifest(folder: Path, change: Change) -> None:
    """Change the manifest."""
    edit_json(folder / "manifest.json", change)


def rehash(folder: Path, name: str) -> None:
    """Make the manifest and the Croissant metadata vouch for a file as it is now."""
    own = file_sha256(folder / name)

    def describe(metadata: dict[str, Any]) -> None:
        for file in metadata["distribution"]:
            if file["@id"] == name:
                file["sha256"] = own

    def vouch(manifest: dict[str, Any]) -> None:
        manifest["documents"]["croissant.json"] = file_sha256(folder / "croissant.json")
        for files in (*manifest["parts"].values(), manifest["documents"]):
            if name in files:
                files[name] = own

    if name != "croissant.json":
        edit_json(folder / "croissant.json", describe)
    edit_manifest(folder, vouch)


def edit_rows(folder: Path, name: str, change: Change, only: int | None = None) -> None:
    """Change one row of a file, or all of them, with new checksums and a new file hash."""
    rows = list(read_journal(folder / name))
    for row in rows if only is None else [rows[only]]:
        change(row)
    (folder / name).write_text("".join(map(to_line, rows)))
    rehash(folder, name)
