"""The cells of a score that somebody should label, with the texts to decide them by.

The file is a file of labels whose coverage is still empty. It has the texts of memories, so the
labels hold for every store and candidate of the same text.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.grounds import is_assumed
from memaudit.core.package import Package
from memaudit.core.text import counted
from memaudit.core.unit_parts import WholeUnit, whole_units
from memaudit.io.atomic import write_file
from memaudit.io.files import refuse_to_write
from memaudit.natural.label_files import csv_text
from memaudit.scoring.candidate_cells import assumed_pairs
from memaudit.scoring.fed_turns import fed_part
from memaudit.scoring.judged_store import measured_store
from memaudit.scoring.pair_filters import PairFilter
from memaudit.scoring.readable import refuse_unreadable

FIELDS = ("memory_id", "unit_id", "coverage", "memory", "unit", "why")
FIELDS_WITH_PARTS = ("memory_id", "unit_id", "coverage", "parts", "memory", "unit", "why")
SHARES_NOTHING = "no unit shares enough words with this memory: 0, unless you change it"


def write_label_template(
    path: Path, package: Package, stores: Sequence[ExportedStore], chosen: PairFilter
) -> str:
    """Write the template; returns what was written, in words."""
    refuse_to_write(path)
    if path.exists():
        raise MemAuditError(f"{path}: already exists, and may hold labels; choose another file")
    if path.suffix.lower() not in (".csv", ".jsonl"):
        raise MemAuditError(f"{path}: a template is a .csv or a .jsonl file")
    rows = list(template_rows(package, stores, chosen))
    if path.suffix.lower() == ".csv":
        write_file(
            path,
            csv_text(tuple(rows[0]) if rows else FIELDS, [tuple(row.values()) for row in rows]),
        )
    else:
        write_file(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    memories = len({row["memory_id"] for row in rows})
    return f"{counted(len(rows), 'cell')} of {counted(memories, 'text')}"


def template_rows(
    package: Package, stores: Sequence[ExportedStore], chosen: PairFilter
) -> Iterator[dict[str, str]]:
    """One row per distinct text and unit that may be covered.

    Where a unit has parts, rows have a field for the parts that are kept, and the unit's text ends
    with their names and words.
    Texts are the memories of the stores, and candidates of the package whose cells are assumed.
    A text that no unit shares words with has one row, so that it counts as labelled.
    """
    package = fed_part(package, stores).package
    units = whole_units(package.asked_units)
    if not units:
        raise MemAuditError(f"{package.name!r} has no unit that a query needs; nothing to label")
    fields = FIELDS_WITH_PARTS if any(unit.has_parts for unit in units) else FIELDS

    def row(name: str, text: str, unit: WholeUnit, **filled: str) -> dict[str, str]:
        known = {"memory_id": name, "unit_id": unit.id, "memory": text, "unit": unit.described}
        return {field: {**known, **filled}.get(field, "") for field in fields}

    texts: dict[str, str] = {}
    for store in stores:
        measured = measured_store(package, store)
        for memory in measured.memories:
            texts.setdefault(memory.text, measured.candidate_id(memory))
    refuse_unreadable(chosen, package, texts, "--filter all")
    written = set(texts)
    guessed: set[tuple[str, str]] = set()
    whole = {unit.id: unit.part_of or unit.id for unit in package.units}
    for id in assumed_pairs(package):
        texts.setdefault(package.candidate[id].text, id)
    for cell in package.coverage:
        if cell.value and is_assumed(cell.provenance):
            guessed.add((package.candidate[cell.candidate].text, whole[cell.unit]))
    likely = chosen.likely(list(texts), [unit.text for unit in units])
    for text, name in texts.items():
        asked = [
            unit for unit in units if (text, unit.text) in likely or (text, unit.id) in guessed
        ]
        asked.sort(key=lambda unit: (-likely.get((text, unit.text), 0.0), unit.id))
        for unit in asked:
            yield row(name, text, unit)
        if text in written and not asked:
            yield row(name, text, units[0], coverage="0", why=SHARES_NOTHING)
