"""Controls: memories of the board on the sheets of an added system.

They have labels already. What its readers say about them shows whether they label as the board's
readers do. `controls.jsonl` in the system's folder has conversation, memory_id, reader, unit_id and
coverage.
"""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from memaudit.board.board_files import CONTROLS, errors_in, replace_rows
from memaudit.board.board_folder import BoardFolder, BoardSystem
from memaudit.judges.label_files import CELL_COLUMNS, cell_rows
from memaudit.kernel.exact import plain
from memaudit.kernel.package.labels import NONE
from memaudit.kernel.stats.agreement_coefficients import kappa_of_pairs
from memaudit.kernel.words.text import counted

USABLE, GOOD = 0.6, 0.8
"""Kappa below which answers are refused, and below which labels are marked."""
MOST = 10
"""Controls on a sheet, if the board has as many memories that keep something."""

READERS: tuple[Literal["a"], Literal["b"]] = ("a", "b")
"""Who answers memory by memory, and who statement by statement."""

Said = Mapping[tuple[str, str, str], Mapping[str, Fraction]]
"""Coverage by unit, by conversation, id of the memory, and reader."""


@dataclass(frozen=True, slots=True)
class ControlAgreement:
    """How far readers agree with the board's labels on controls."""

    controls: int
    kappa: float | None
    """None where all values are equal."""

    @property
    def text(self) -> str:
        kappa = "undefined" if self.kappa is None else f"{self.kappa:.2f}"
        return f"kappa {kappa} with the board's labels on {counted(self.controls, 'control')}"

    def is_at_least(self, kappa: float) -> bool:
        return self.kappa is None or self.kappa >= kappa


def choose_controls(board: BoardFolder, conversation: str) -> list[str]:
    """Texts of the board that keep something, the same ones for every reader."""
    ids = board.labelled.get(conversation, {})
    useful = sorted(text for text, id in ids.items() if (conversation, id) in board.cells)
    # Drawn by the name of the conversation: every reader, and every system, gets the same ones.
    return random.Random(conversation).sample(useful, min(MOST, len(useful)))


def control_agreement(board: BoardFolder, said: Said) -> ControlAgreement:
    """Over all units of the conversations of the controls."""
    pairs = Counter(
        (cells.get(unit, NONE), board.cells.get((conversation, memory), {}).get(unit, NONE))
        for (conversation, memory, _), cells in said.items()
        for unit in board.units[conversation]
    )
    kappa = kappa_of_pairs(pairs)
    return ControlAgreement(
        controls=len({about[:2] for about in said}),
        kappa=None if kappa is None else float(kappa),
    )


def read_controls(board: BoardFolder, system: BoardSystem) -> Said:
    """What the readers of a system's own labels said about controls; empty without such a file."""
    said: dict[tuple[str, str, str], dict[str, Fraction]] = {}
    path = system.folder / CONTROLS
    with errors_in(path):
        for row in cell_rows(path, CELL_COLUMNS | {"reader"}) if path.is_file() else ():
            conversation, memory = row.text("conversation"), row.text("memory_id")
            reader, unit = row.text("reader"), row.text("unit_id")
            if (
                conversation not in board.units
                or memory not in board.labelled.get(conversation, {}).values()
            ):
                raise row.wrong(f"the board has no labels of {memory!r} of {conversation!r}")
            if unit not in board.units[conversation]:
                raise row.wrong(f"{conversation} has no unit {unit!r}")
            if reader not in READERS:
                raise row.wrong(f"has reader {reader!r}; expected {' or '.join(READERS)}")
            cells = said.setdefault((conversation, memory, reader), {})
            if unit in cells:
                raise row.wrong(f"says again what reader {reader} says of {memory!r} and {unit!r}")
            cells[unit] = row.share("coverage")
    return said


def write_controls(folder: Path, board: BoardFolder, said: Said) -> None:
    """Put them into a system's folder, in place of earlier ones about the same memories."""
    rows = [
        {
            "conversation": conversation,
            "memory_id": memory,
            "reader": reader,
            "unit_id": unit,
            "coverage": plain(cells[unit]),
        }
        for (conversation, memory, reader), own in said.items()
        # A memory that keeps nothing needs a row too, or its answer would seem to be missing.
        for cells in [own or {next(iter(board.units[conversation])): NONE}]
        for unit in sorted(cells)
    ]
    replace_rows(folder / CONTROLS, {about[:2] for about in said}, rows)
