"""A frame on disk: cells, their key, `frame.json`, and label files."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import JsonValue

from memaudit.judges.label_files import csv_text
from memaudit.kernel.errors import InvalidPackage, MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.atomic import write_file, write_folder
from memaudit.kernel.io.files import names_in, read_bytes, read_text, sha256
from memaudit.kernel.io.strict_json import parse_json
from memaudit.kernel.package.labels import parse_label
from memaudit.lab.labels.cell_tables import (
    ANNOTATOR,
    CELL_ID,
    LABEL,
    NOTES,
    PARTS,
    cell_data,
    cells_csv,
    cells_from,
    kept_parts,
    key_csv,
    key_from,
    optional,
    required,
    table_rows,
    writable,
)
from memaudit.lab.labels.frame import (
    Frame,
    FrameCell,
    LabelDecision,
    LabelSet,
    collect_label_sets,
)
from memaudit.lab.labels.frame_drawing import Drawing
from memaudit.lab.labels.sheets import read_pairs

FORMAT, VERSION = "memaudit-frame", 1
CELLS, CELL_LINES, PUBLISHED = "cells.csv", "cells.jsonl", "annotation_cells.csv"
KEY, MANIFEST = "key.csv", "frame.json"
ANSWER_COLUMNS = ("cell_id", "annotator_id", "label", "notes")


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Unreadable files raise InvalidPackage, but these files are not packages."""
    try:
        yield
    except InvalidPackage as error:
        raise MemAuditError(str(error)) from None


@_plain_errors()
def read_frame(path: Path, ids_only: bool = False) -> Frame:
    """The frame of a folder, or of a file of cells with the key beside it if there is one.

    A folder's files must be unchanged; its key may be missing, as it should be where people label.
    With `ids_only`, which is enough to compare labels, cells need only ids.
    """
    file = path
    if os.path.isdir(path):  # never raises, unlike Path.is_dir
        names = [name for name in (CELLS, CELL_LINES, PUBLISHED) if (path / name).exists()]
        if not names:
            raise MemAuditError(f"{path}: is not a frame: it has no {CELLS}")
        file = path / names[0]
        # A key of another frame would weigh and compare the wrong cells, silently.
        for name in (file.name, KEY):
            _check_hash(path / MANIFEST, path / name)
    rows = table_rows(file)
    cells = cells_from(rows, ids_only)
    key = file.with_name(KEY)
    # Published files have the value beside the texts; ours keep it in a file that people do not
    # get.
    keyed = key_from(table_rows(key) if os.path.lexists(key) else rows, cells)
    return Frame(cells, keyed)


def _check_hash(manifest: Path, file: Path) -> None:
    """Reject a file of a frame that changed after the frame was drawn."""
    if not manifest.exists() or not file.exists():
        return
    data = parse_json(read_text(manifest), manifest.name)
    hashes = data.get("files") if isinstance(data, dict) else None
    if not isinstance(hashes, dict) or data.get("format") != FORMAT:
        raise MemAuditError(f"{manifest}: is not the manifest of a frame")
    if data.get("version") != VERSION:
        raise MemAuditError(f"{manifest}: has a version that this program does not read")
    expected = hashes.get(file.name)
    if expected is not None and expected != sha256(read_bytes(file)):
        raise MemAuditError(
            f"{file}: changed after the frame was drawn; restore it, or draw the frame again"
        )


def write_frame(
    frame: Frame,
    folder: Path,
    drawing: Drawing | None = None,
    sheets: Mapping[str, str] | None = None,
) -> bool:
    """Write a frame's folder in one step; False if the very same frame already exists.

    Another frame is never overwritten: labels made for it would be meaningless.
    """
    files = {
        CELLS: cells_csv(frame.cells),
        CELL_LINES: cell_lines(frame.cells),
        **(sheets or {}),
    }
    if frame.key:
        files[KEY] = key_csv(frame.cells, frame.key)
    files = {name: writable(text) for name, text in files.items()}
    files[MANIFEST] = _manifest_text(files, len(frame.cells), drawing)
    if _is_written(folder, files):
        return False
    write_folder(folder, files, ())
    return True


def cell_lines(cells: Sequence[FrameCell]) -> str:
    """Cells as JSON lines."""
    return "".join(json.dumps(cell_data(cell), ensure_ascii=False) + "\n" for cell in cells)


def _manifest_text(files: Mapping[str, str], cells: int, drawing: Drawing | None) -> str:
    data: dict[str, JsonValue] = {"format": FORMAT, "version": VERSION, "cells": cells}
    if drawing is not None:
        data |= drawing_data(drawing)
    data["files"] = {name: sha256(text.encode()) for name, text in sorted(files.items())}
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def drawing_data(drawing: Drawing) -> dict[str, JsonValue]:
    """How a frame was drawn, as plain data."""
    design = drawing.design
    return {
        "seed": design.seed,
        "zero_rate": plain(design.zero_rate),
        "candidate_kinds": None if design.kinds is None else [*sorted(design.kinds)],
        "skip_exact": design.skip_exact,
        "packages": [{"name": name, "digest": digest} for name, digest in drawing.packages],
        "strata": [
            {
                "stratum": stratum.name,
                "covered": stratum.covered,
                "uncovered": stratum.uncovered,
                "drawn": stratum.drawn,
            }
            for stratum in drawing.strata
        ],
        "left_out": dict(drawing.left_out),
    }


def _is_written(folder: Path, files: Mapping[str, str]) -> bool:
    """Whether a folder holds exactly these files; anything else in its place is an error."""
    if not folder.exists():
        return False
    if not folder.is_dir():
        raise MemAuditError(f"cannot write {folder}: it is a file, a folder was expected")
    existing = names_in(folder)
    # Bytes, not names: drawing again with the same settings is not an error, another draw is. Files
    # of the user beside it, such as labels, do no harm.
    if set(files) <= set(existing) and all(
        read_bytes(folder / name) == text.encode() for name, text in files.items()
    ):
        return True
    if MANIFEST in existing or CELLS in existing:
        raise MemAuditError(f"{folder}: already holds another frame; choose a new folder")
    if existing:
        raise MemAuditError(f"{folder}: holds {existing[0]!r} and no frame; choose a new folder")
    return False


@_plain_errors()
def read_label_sets(path: Path, frame: Frame | None = None) -> list[LabelSet]:
    """The labels of a CSV, JSONL or Markdown file, one set per annotator.

    With a frame given, a label of a cell that is not in it is an error. Lines of Markdown are about
    the cells of a frame, which must all be answered.
    """
    known = None if frame is None else {cell.id: cell for cell in frame.cells}
    label_sets = collect_label_sets(_decisions(path, known), known)
    if not label_sets:
        raise MemAuditError(f"{path.name}: has no labels")
    return label_sets


def _decisions(path: Path, known: Mapping[str, FrameCell] | None) -> Iterator[LabelDecision]:
    # A line `c0001: partial` means something only beside the cells it is about.
    if path.suffix.lower() in (".md", ".txt") and known is not None:
        yield from read_pairs(path, known)
        return
    for row in table_rows(path):
        id, annotator = required(row, CELL_ID), optional(row, ANNOTATOR) or path.stem
        if LABEL[0] not in row.data and not row.has(PARTS):
            required(row, LABEL)
        try:
            label = parse_label(row.data.get(LABEL[0]))
        except ValueError as error:
            raise row.wrong(f"{error} for the cell {id!r}") from None
        place = f"{row.file}:{row.line}"
        note = optional(row, NOTES) or ""
        yield LabelDecision(annotator, id, label, note, place, kept_parts(row))


def write_labels(label_set: LabelSet, path: Path) -> None:
    """Write one annotator's labels as CSV, in the order of cell ids."""
    if path.suffix.lower() != ".csv":
        raise MemAuditError(f"{path}: labels are written to a .csv file")
    columns = (*ANSWER_COLUMNS, PARTS) if label_set.kept else ANSWER_COLUMNS
    rows = [
        (
            id,
            label_set.annotator,
            label_set.labels[id],
            label_set.notes.get(id, ""),
            ";".join(sorted(label_set.kept.get(id, ()))),
        )[: len(columns)]
        for id in sorted(label_set.labels)
    ]
    write_file(path, writable(csv_text(columns, rows)))
