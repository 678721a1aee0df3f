"""The cells of stores that somebody should label before the stores can be scored by labels."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memaudit.judges.lexical import PairFilter
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.provenance import is_assumed
from memaudit.kernel.package.unit_parts import WholeUnit, whole_units
from memaudit.kernel.score.judge import refuse_unreadable
from memaudit.kernel.score.judging import assumed_pairs
from memaudit.kernel.score.priced_store import price_store
from memaudit.kernel.score.store_match import fed_part
from memaudit.kernel.words.text import counted
from memaudit.lab.labels.frame import Frame, FrameCell
from memaudit.lab.labels.frame_drawing import quote_of
from memaudit.lab.labels.frame_files import write_frame
from memaudit.lab.labels.sheets import guideline_text, sheet_texts

MEMORY = "memory"
"""The candidate kind of cells of stores."""

SHARES_NOTHING = "no unit shares enough words with this memory: none, unless you change it"


@dataclass(slots=True)
class StoreCells:
    """Cells, and those that count as none unless somebody says otherwise, with the reason."""

    cells: list[FrameCell] = field(default_factory=list)
    filled: dict[str, str] = field(default_factory=dict)


def write_store_cells(
    folder: Path, package: Package, stores: Sequence[ExportedStore], chosen: PairFilter
) -> str:
    """Write the cells as a frame with its sheets; returns what was written, in words."""
    made = store_cells(package, stores, chosen)
    sheets = sheet_texts(made.cells, guideline_text(folder), made.filled)
    written = write_frame(Frame(tuple(made.cells)), folder, sheets=sheets)
    texts = len({cell.candidate_text for cell in made.cells})
    what = f"{counted(len(made.cells), 'cell')} of {counted(texts, 'text')}"
    return f"wrote {what} in {folder}" if written else f"already exists: {what} in {folder}"


def store_cells(
    package: Package, stores: Sequence[ExportedStore], chosen: PairFilter
) -> StoreCells:
    """One cell per distinct text and unit that may be covered.

    Texts are the memories of the stores, and candidates of the package whose cells are assumed.
    A text that no unit shares words with has one cell, so that it counts as labelled.
    """
    package = fed_part(package, stores).package
    units = whole_units(package.asked_units)
    if not units:
        raise MemAuditError(f"{package.name!r} has no unit that a query needs; nothing to label")
    texts: dict[str, tuple[str, str]] = {}
    for store in stores:
        measured = price_store(package, store)
        for memory in measured.memories:
            texts.setdefault(memory.text, (measured.candidate_id(memory), MEMORY))
    # A filter by words cuts cells of texts it cannot read, unseen.
    refuse_unreadable(chosen, package, texts, "--filter all")
    written = set(texts)
    guessed: set[tuple[str, str]] = set()
    whole = {unit.id: unit.part_of or unit.id for unit in package.units}
    for id in assumed_pairs(package):
        candidate = package.candidate[id]
        texts.setdefault(candidate.text, (id, candidate.kind))
    for cell in package.coverage:
        if cell.value and is_assumed(cell.provenance):
            guessed.add((package.candidate[cell.candidate].text, whole[cell.unit]))
    likely = chosen.likely(list(texts), [unit.text for unit in units])
    made = StoreCells()

    def add(name: str, kind: str, text: str, unit: WholeUnit) -> str:
        id = f"c{len(made.cells) + 1:04}"
        made.cells.append(
            FrameCell(
                id=id,
                package=package.name,
                candidate=name,
                unit=unit.id,
                candidate_kind=kind,
                unit_kind=unit.core.kind,
                same_session=None,
                candidate_text=text,
                unit_text=unit.text,
                quote=quote_of(unit.core),
                parts=unit.parts,
            )
        )
        return id

    for text, (name, kind) in texts.items():
        asked = [
            unit for unit in units if (text, unit.text) in likely or (text, unit.id) in guessed
        ]
        # The likeliest first: they set the reader on what the memory is about.
        asked.sort(key=lambda unit: (-likely.get((text, unit.text), 0.0), unit.id))
        for unit in asked:
            add(name, kind, text, unit)
        # Without any label a memory would count as not labelled, and the store as not judged.
        if text in written and not asked:
            made.filled[add(name, kind, text, units[0])] = SHARES_NOTHING
    return made
