"""Which parts of a reproduction are done: known from the hashes of their files, never assumed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from memaudit.core.errors import MemAuditError
from memaudit.experiments.artifact.layout import (
    FORMAT,
    MANIFEST,
    PROGRESS,
    VERSION,
    files_in,
    hashes_in,
)
from memaudit.io.atomic import write_file
from memaudit.io.strict_json import read_object


class Ledger:
    """The parts of one folder. `date` is the day it was begun, kept when a run goes on."""

    def __init__(self, folder: Path, identity: Mapping[str, JsonValue], date: str) -> None:
        self.folder, self.identity = folder, dict(identity)
        self.date, self.parts = date, dict[str, dict[str, Any]]()
        before = _read(folder)
        if before is None:
            _refuse_foreign(folder)
        else:
            self._go_on(before)
        self._save()
        (folder / MANIFEST).unlink(missing_ok=True)  # it vouches for finished folders only

    def _go_on(self, before: dict[str, Any]) -> None:
        for name, now in self.identity.items():
            if before.get("identity", {}).get(name) != now:
                raise MemAuditError(
                    f"{self.folder} holds a reproduction whose {name} differs; "
                    "choose another folder"
                )
        self.date, self.parts = str(before["times"]["date"]), dict(before["parts"])

    def verified(self, part: str) -> bool:
        """Whether a part is done and its folder holds the very files it was done with."""
        done = self.parts.get(part)
        return done is not None and done["files"] == hashes_in(self.folder, part)

    def is_broken(self, part: str) -> bool:
        """Whether a part was done once and its files are no longer what they were."""
        return part in self.parts and not self.verified(part)

    def record(self, part: str, seconds: float) -> None:
        """Put down a part as done."""
        files = hashes_in(self.folder, part)
        self.parts[part] = {"files": files, "seconds": round(seconds, 1)}
        self._save()

    def forget(self, part: str) -> None:
        """A part is to be done again."""
        if self.parts.pop(part, None) is not None:
            self._save()

    @property
    def seconds(self) -> dict[str, float]:
        """How long each part took."""
        return {name: part["seconds"] for name, part in sorted(self.parts.items())}

    @property
    def files(self) -> dict[str, dict[str, str]]:
        """The files of each part, with their hashes."""
        return {name: part["files"] for name, part in sorted(self.parts.items())}

    def _save(self) -> None:
        data = {
            "format": FORMAT, "version": VERSION, "identity": self.identity,
            "times": {"date": self.date}, "parts": self.parts,
        }  # fmt: skip
        write_file(self.folder / PROGRESS, json.dumps(data, indent=1) + "\n")

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest: from here on it vouches for every file."""
        write_file(self.folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")
        (self.folder / PROGRESS).unlink()


def _read(folder: Path) -> dict[str, Any] | None:
    for name in (PROGRESS, MANIFEST):
        path = folder / name
        if not path.exists():
            continue
        data = read_object(path, "choose another folder")
        if data.get("format") != FORMAT:
            raise MemAuditError(f"{path} is not of a reproduction; choose another folder")
        if name == MANIFEST:
            return _progress_of(data)
        return data
    return None


def _progress_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a finished folder says about its parts, in the form of one in progress."""
    try:
        seconds = manifest["times"]["seconds"]
        parts = {
            name: {"files": files, "seconds": seconds[name]}
            for name, files in manifest["parts"].items()
        }
        return {"identity": manifest["identity"], "times": manifest["times"], "parts": parts}
    except (KeyError, TypeError):
        raise MemAuditError(f"{MANIFEST} lacks fields; choose another folder") from None


def _refuse_foreign(folder: Path) -> None:
    found = next(files_in(folder), None)
    if found is not None:
        raise MemAuditError(f"{folder} holds {found}, which is not of a reproduction; choose "
                            "another folder")  # fmt: skip
