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
from memaudit.core.package import EvidenceUnit, Package
from memaudit.core.text import counted
from memaudit.io.atomic import write_file
from memaudit.natural.label_files import csv_text
from memaudit.scoring.candidate_cells import assumed_pairs
from memaudit.scoring.fed_turns import fed_part
from memaudit.scoring.judged_store import measured_store
from memaudit.scoring.pair_filters import PairFilter
from memaudit.scoring.readable import refuse_unreadable

FIELDS = ("memory_id", "unit_id", "coverage", "memory", "unit", "why")
SHARES_NOTHING = "no unit shares enough words with this memory: 0, unless you change it"


def write_label_template(
    path: Path, package: Package, stores: Sequence[ExportedStore], chosen: PairFilter
) -> str:
    """Write the template; returns what was written, in words."""
    if path.exists():
        raise MemAuditError(f"{path}: already exists, and may hold labels; choose another file")
    if path.suffix.lower() not in (".csv", ".jsonl"):
        raise MemAuditError(f"{path}: a template is a .csv or a .jsonl file")
    rows = list(template_rows(package, stores, chosen))
    if path.suffix.lower() == ".csv":
        write_file(path, csv_text(FIELDS, [tuple(row.values()) for row in rows]))
    else:
        write_file(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    memories = len({row["memory_id"] for row in rows})
    return f"{counted(len(rows), 'cell')} of {counted(memories, 'text')}"


def template_rows(
    package: Package, stores: Sequence[ExportedStore], chosen: PairFilter
) -> Iterator[dict[str, str]]:
    """One row per distinct text and unit that may be covered.

    Texts are the memories of the stores, and candidates of the package whose cells are assumed.
    A text that no unit shares words with has one row, so that it counts as labelled.
    """
    package = fed_part(package, stores).package
    units = [unit for unit in package.units if package.weights[unit.id]]
    if not units:
        raise MemAuditError(f"{package.name!r} has no unit that a query needs; nothing to label")
    texts: dict[str, str] = {}
    for store in stores:
        measured = measured_store(package, store)
        for memory in measured.memories:
            texts.setdefault(memory.text, measured.candidate_id(memory))
    refuse_unreadable(chosen, package, texts, "--filter all")
    written = set(texts)
    guessed: set[tuple[str, str]] = set()
    for id in assumed_pairs(package):
        texts.setdefault(package.candidate[id].text, id)
    for cell in package.coverage:
        if cell.value and is_assumed(cell.provenance):
            guessed.add((package.candidate[cell.candidate].text, cell.unit))
    likely = chosen.likely(list(texts), [unit.text for unit in units])
    for text, name in texts.items():
        asked = [
            unit for unit in units if (text, unit.text) in likely or (text, unit.id) in guessed
        ]
        asked.sort(key=lambda unit: (-likely.get((text, unit.text), 0.0), unit.id))
        for unit in asked:
            yield _row(name, text, unit)
        if text in written and not asked:
            yield {**_row(name, text, units[0]), "coverage": "0", "why": SHARES_NOTHING}


def _row(name: str, text: str, unit: EvidenceUnit) -> dict[str, str]:
    return dict(zip(FIELDS, (name, unit.id, "", text, unit.text, ""), strict=True))
