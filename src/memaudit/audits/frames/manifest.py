"""`frame.json`: how a frame was drawn, from which packages, and the hashes of its files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from memaudit.audits.frames.cell import DrawnFrom
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.io.files import read_bytes, read_text, sha256
from memaudit.io.strict_json import parse_json

if TYPE_CHECKING:
    from memaudit.audits.frames.drawing import Drawing

FORMAT, VERSION = "memaudit-frame", 1


def manifest_text(files: Mapping[str, str], cells: int, drawing: "Drawing | None") -> str:
    """The manifest of files about to be written."""
    data: dict[str, JsonValue] = {"format": FORMAT, "version": VERSION, "cells": cells}
    if drawing is not None:
        data |= drawing_data(drawing)
    data["files"] = {name: sha256(text.encode()) for name, text in sorted(files.items())}
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def drawing_data(drawing: "Drawing") -> dict[str, JsonValue]:
    """How a frame was drawn, as plain data."""
    design = drawing.design
    return {
        "seed": design.seed,
        "zero_rate": plain(design.zero_rate),
        "candidate_kinds": None if design.kinds is None else [*sorted(design.kinds)],
        "skip_exact": design.skip_exact,
        "max_cells": design.max_cells,
        "judged_only": design.judged_only,
        "packages": [{"name": name, "digest": digest} for name, digest in drawing.packages],
        "strata": [
            {"stratum": one.name, "covered": one.covered, "uncovered": one.uncovered,
             "drawn": one.drawn}
            for one in drawing.strata
        ],
        "left_out": dict(drawing.left_out),
    }  # fmt: skip


def check_hash(manifest: Path, file: Path) -> None:
    """Refuse a file of a frame that changed after the frame was drawn."""
    if not manifest.exists() or not file.exists():
        return
    data = parse_json(read_text(manifest), manifest.name)
    hashes = data.get("files") if isinstance(data, dict) else None
    if not isinstance(hashes, dict) or data.get("format") != FORMAT:
        raise MemAuditError(f"{manifest}: is no manifest of a frame")
    if data.get("version") != VERSION:
        raise MemAuditError(f"{manifest}: has a version this program does not read")
    expected = hashes.get(file.name)
    if expected is not None and expected != sha256(read_bytes(file)):
        raise MemAuditError(
            f"{file}: changed after the frame was drawn; restore it, or draw the frame again"
        )


def drawn_from(manifest: Path) -> DrawnFrom | None:
    """What a frame was drawn from; None where there is no manifest that tells."""
    if not manifest.exists():
        return None
    data = parse_json(read_text(manifest), manifest.name)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return None  # beside a lone file of cells, somebody else's
    packages = data.get("packages")
    if not isinstance(packages, list):
        return None
    names = (one.get("name") for one in packages if isinstance(one, dict))
    return DrawnFrom(frozenset(map(str, names)), data.get("judged_only") is True)
