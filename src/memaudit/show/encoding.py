"""One look for everything that is drawn: writers and stores, kinds of memory, losses.

A thing has the same colour and the same sign in every figure and on every page. The sign alone
tells it apart: a writer has a marker, a kind of memory two letters, a loss a hatch. Figures, the
style sheet, the templates and the scripts of the explorer all take their looks from here.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memaudit.kernel.losses import KEPT, LOSS_STEPS
from memaudit.kernel.package.package import (
    ABSTENTION,
    CURRENT,
    DELETION,
    STALE,
    SUPERSESSION,
    TEMPORAL,
)

INK = "#1d2024"
ON_FILL, DARK_ON_FILL = "#24282d", "#f5f5f2"
"""Text on a fill."""


@dataclass(frozen=True, slots=True)
class Hue:
    """A colour for lines and signs, and one for areas with text on them; both also for the dark."""

    line: str
    fill: str
    dark_line: str
    dark_fill: str


BLUE, VERMILION, GREEN, PURPLE, AMBER, SKY, GREY = range(1, 8)
HUES = {
    BLUE: Hue("#2c5fc9", "#7b9af2", "#4a8cff", "#2d4a96"),
    VERMILION: Hue("#a8330a", "#e37d5b", "#d9642f", "#572205"),
    GREEN: Hue("#2fa37d", "#8fc7a6", "#62f0a0", "#18795c"),
    PURPLE: Hue("#7b1f97", "#aa8dad", "#b873c4", "#4c1565"),
    AMBER: Hue("#a87d00", "#f2d66c", "#eda91c", "#63530b"),
    SKY: Hue("#2398cf", "#64caf9", "#8fe3fa", "#16719b"),
    GREY: Hue("#5c5c5c", "#e1e1e1", "#ababab", "#484848"),
}
"""By number. They differ for the colour-blind too, and lines stand out from the paper."""


def _polygon(corners: int, radius: float, turn: float = 0.0, inner: float = 1.0) -> str:
    """A regular polygon, or a star if every second corner is nearer to the middle."""
    points = [
        (
            radius * (inner if place % 2 else 1) * math.sin(2 * math.pi * place / corners + turn),
            -radius * (inner if place % 2 else 1) * math.cos(2 * math.pi * place / corners + turn),
        )
        for place in range(corners)
    ]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "Z"


MARKERS = {
    "o": "M-4.4 0a4.4 4.4 0 1 0 8.8 0a4.4 4.4 0 1 0-8.8 0Z",
    "s": "M-4-4h8v8h-8Z",
    "^": "M0-5 5 4h-10Z",
    "D": _polygon(4, 5.4),
    "v": "M0 5-5-4h10Z",
    "P": "M-1.7-5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3Z",
    "X": "M0-2 2.4-4.4 4.4-2.4 2 0l2.4 2.4-2 2L0 2l-2.4 2.4-2-2L-2 0l-2.4-2.4 2-2Z",
    "<": "M-5 0 4-5v10Z",
    "p": _polygon(5, 5.2),
    ">": "M5 0-4-5v10Z",
    "*": _polygon(10, 6.0, inner=0.45),
    "h": _polygon(6, 5.0),
    "d": "M0-6 3.4 0 0 6-3.4 0Z",
    "_": "M-5-1.3h10v2.6h-10Z",
    "|": "M-1.3-6h2.6v12h-2.6Z",
}
"""Matplotlib's markers, and the same shapes as SVG paths around (0, 0)."""

WRITER_MARKERS = tuple(MARKERS)[:13]
Dash = tuple[float, tuple[float, ...]]
DASHES: tuple[Dash, ...] = ((0, ()), (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.6, 1.2, 1.6)))


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a writer or a store. A hollow one sees the hidden side of a package. The tone is
    the number of a hue; 0 is ink."""

    tone: int
    marker: str
    dash: Dash = DASHES[0]
    hollow: bool = False

    @property
    def colour(self) -> str:
        return HUES[self.tone].line if self.tone else INK

    @property
    def inside(self) -> str:
        """The colour inside the marker."""
        return "#ffffff" if self.hollow else self.colour

    @property
    def path(self) -> str:
        """The marker for SVG."""
        return MARKERS[self.marker]


OPT_LOOK = Look(0, "_")
BEST_SUBSET_LOOK = Look(0, "|")
"""The best subset of a store, a bound on what it keeps."""


def nth_look(place: int, hollow: bool = False) -> Look:
    """The n-th look. Hues, markers and dashes repeat with periods that share no factor."""
    return Look(
        1 + place % len(HUES),
        WRITER_MARKERS[place % len(WRITER_MARKERS)],
        DASHES[place % len(DASHES)],
        hollow,
    )


REFERENCES = {
    "gvt": "GVT",
    "gvt_geometric": "GVT, geometric grid",
    "greedy": "Offline greedy",
    "density_only": "Density only",
    "fact_only": "Fact only",
    "summary_only": "Summary only",
    "no_tombstone_opt": "No-tombstone OPT",
    "no_tombstone_gvt": "No-tombstone GVT",
    "generic_opt": "Generic-candidate OPT",
}
WRITERS = {
    "random_feasible": "Random feasible",
    "recency_raw": "Recency raw",
    "reservoir_raw": "Reservoir raw",
    "estimated_gvt": "Estimated GVT",
    "estimated_greedy": "Estimated greedy",
    "memgpt_style": "MemGPT-style tiers (proxy)",
    "mem0_style": "Mem0-style extraction (proxy)",
}
"""Labels of registered writers, in the order that gives each its look; references see the hidden
side."""

_WRITER_LOOKS = {
    "opt": OPT_LOOK,
    **{
        name: nth_look(place, hollow=name in REFERENCES)
        for place, name in enumerate((*REFERENCES, *WRITERS))
    },
}


SYSTEMS = {
    "mem0": BLUE,
    "letta": VERMILION,
    "langmem": GREEN,
    "amem": PURPLE,
    "zep": AMBER,
    "graphiti": SKY,
}
"""Hues of systems: every store whose name begins with one has its hue."""


def looks(names: Iterable[str]) -> dict[str, Look]:
    """The looks of everything shown together. A registered writer has its own.

    The look of a store follows from its name: the hue from its first word, the marker from all of
    it. Only if another one here has both, it gets the next marker that is free.
    """
    known = list(dict.fromkeys(names))
    found = {name: _WRITER_LOOKS[name] for name in known if name in _WRITER_LOOKS}
    signs = {(look.tone, look.marker) for look in found.values()}
    lines = {(look.marker, look.dash) for look in found.values()}
    # By name, so that the order in which files are given decides nothing.
    for name in sorted(set(known) - set(found)):
        options = list(_store_signs(name))
        tone, marker = next((sign for sign in options if sign not in signs), options[0])
        start = _number(name) % len(DASHES)
        dashes = (*DASHES[start:], *DASHES[:start])
        dash = next((dash for dash in dashes if (marker, dash) not in lines), dashes[0])
        found[name] = Look(tone, marker, dash)
        signs.add((tone, marker))
        lines.add((marker, dash))
    return {name: found[name] for name in known}


def _store_signs(name: str) -> Iterator[tuple[int, str]]:
    """The hue and the marker of a store, then others: with another marker, with another hue."""
    plain, first = re.sub(r"[^a-z0-9]", "", name.lower()), re.split(r"[^A-Za-z0-9]", name)[0]
    hue = next((hue for system, hue in SYSTEMS.items() if plain.startswith(system)), None)
    tone, number = hue or 1 + _number(first) % len(HUES), _number(name)
    for further in range(len(HUES)):
        for more in range(len(WRITER_MARKERS)):
            marker = WRITER_MARKERS[(number + more) % len(WRITER_MARKERS)]
            yield 1 + (tone - 1 + further) % len(HUES), marker


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:4], "big")


HATCHES = {
    "": "",
    "////": "M-2 2 2-2M0 8 8 0M6 10 10 6",
    "....": "M1.5 2h1.6M5.5 6h1.6",
    "xxxx": "M-2 2 2-2M0 8 8 0M6 10 10 6M-2 6 2 10M0 0 8 8M6-2 10 2",
    "\\\\\\\\": "M-2 6 2 10M0 0 8 8M6-2 10 2",
    "----": "M0 4h8",
    "++++": "M0 4h8M4 0v8",
    "oooo": "M2 4a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
}
"""Matplotlib's hatches, and the same as paths in a square of 8 by 8 for SVG."""

HATCH_NUMBER = {hatch: number for number, hatch in enumerate(HATCHES)}


@dataclass(frozen=True, slots=True)
class AreaLook:
    """The look of an area: the number of a hue, and a hatch or letters as its sign."""

    tone: int
    hatch: str = ""
    letters: str = ""

    @property
    def colour(self) -> str:
        return HUES[self.tone].fill

    @property
    def line(self) -> str:
        """The stronger colour, for signs without an area."""
        return HUES[self.tone].line

    @property
    def number(self) -> int:
        """The number of its hatch, 0 if it has none."""
        return HATCH_NUMBER[self.hatch]


KINDS = {
    "fact": AreaLook(BLUE, letters="Fa"),
    "raw": AreaLook(GREY, letters="Ra"),
    "summary": AreaLook(AMBER, letters="Su"),
    "session": AreaLook(SKY, letters="Se"),
    "event": AreaLook(GREEN, letters="Ev"),
    "preference": AreaLook(PURPLE, letters="Pr"),
    "rule": AreaLook(VERMILION, letters="Ru"),
    "edge": AreaLook(AMBER, letters="Ed"),
    "tombstone": AreaLook(VERMILION, letters="To"),
    "compound_update": AreaLook(PURPLE, letters="Cu"),
    "skill": AreaLook(GREEN, letters="Sk"),
    "plan": AreaLook(SKY, letters="Pl"),
    "note": AreaLook(SKY, letters="No"),
    "memory": AreaLook(GREY, letters="Me"),
    CURRENT: AreaLook(BLUE, letters="Cr"),
    STALE: AreaLook(GREY, letters="St"),
    SUPERSESSION: AreaLook(VERMILION, letters="Sp"),
    DELETION: AreaLook(PURPLE, letters="De"),
    TEMPORAL: AreaLook(GREEN, letters="Te"),
    ABSTENTION: AreaLook(AMBER, letters="Ab"),
}
"""Kinds of memories and of evidence units."""

STATE_MARKERS = {
    STALE: "v",
    CURRENT: "o",
    SUPERSESSION: "s",
    DELETION: "^",
    TEMPORAL: "D",
    ABSTENTION: "P",
}
"""Markers of kinds of units, where areas are too small for letters."""


def kind_look(kind: str) -> AreaLook:
    """The look of a kind. That of an unknown one follows from its name."""
    if kind in KINDS:
        return KINDS[kind]
    letters = "".join(letter for letter in kind if letter.isalnum())[:2].capitalize() or "?"
    return AreaLook(1 + _number(kind) % len(HUES), letters=letters)


# The kernel knows losses by colour; hues by number also have their colours for the dark.
_HUE_OF = {hue.fill: number for number, hue in HUES.items()}
_STEPS = {
    step.name: AreaLook(_HUE_OF[step.colour], step.hatch) for step in (KEPT, *LOSS_STEPS.values())
}
LOSSES: Mapping[str, AreaLook] = {
    # What a store loses of OPT.
    **_STEPS,
    # Who lost an answer (the layers of a diagnosis).
    "answered": _STEPS["kept"],
    "write": _STEPS["extraction"],
    "retrieval": AreaLook(SKY, "----"),
    "reader": AreaLook(BLUE, "++++"),
    "unsupported": AreaLook(AMBER, "...."),
    "uncertain": AreaLook(GREY),
    # What became of a question (its outcomes).
    "answered_right": _STEPS["kept"],
    "evidence_never_written": _STEPS["extraction"],
    "written_but_pruned": _STEPS["selection"],
    "kept_not_retrieved": AreaLook(SKY, "----"),
    "retrieved_but_abstained": AreaLook(BLUE),
    "retrieved_but_wrong": AreaLook(BLUE, "++++"),
    "stale_answer": AreaLook(BLUE, "oooo"),
    "answered_without_support": AreaLook(AMBER, "...."),
}
"""What is kept and every loss. Losses with one meaning have one look, whatever measures them."""


def loss_look(name: str) -> AreaLook:
    """The look of a loss by its name, with blanks or underscores."""
    return LOSSES.get(name.replace(" ", "_"), AreaLook(GREY))


COMPARED = {
    "opt": ("★", "--ink"),
    "both": ("=", f"--hue{GREEN}"),
    "missed": ("−", f"--hue{VERMILION}"),  # noqa: RUF001 - a minus sign
    "instead": ("+", f"--hue{PURPLE}"),
}
"""What became of a memory in two stores: a sign, and the name of its colour."""


def style_sheet() -> str:
    """The hues as CSS variables for day and night, and the classes that use them."""
    return "".join(f"{rule}\n" for rule in _rules())


def _rules() -> Iterator[str]:
    day = [f"--hue{n}: {hue.line}; --fill{n}: {hue.fill};" for n, hue in HUES.items()]
    night = [f"--hue{n}: {hue.dark_line}; --fill{n}: {hue.dark_fill};" for n, hue in HUES.items()]
    yield f":root {{ --hue0: var(--ink); --on-fill: {ON_FILL}; {' '.join(day)} }}"
    yield "@media (prefers-color-scheme: dark) {"
    yield f"  :root {{ --on-fill: {DARK_ON_FILL}; {' '.join(night)} }}"
    yield "}"
    for number in (0, *HUES):
        yield f".hue{number} {{ color: var(--hue{number}); }}"
    for number in HUES:
        fill = f"var(--fill{number})"
        yield f".fill{number} {{ fill: {fill}; background: {fill}; color: var(--on-fill); }}"
    for name, (sign, colour) in COMPARED.items():
        yield f'.compared-{name}::before {{ content: "{sign}"; color: var({colour}); }}'


def script() -> str:
    """What the explorer's scripts need: signs and colours of memories in two stores."""
    return f'"use strict";\nexplorer.compared = {json.dumps(COMPARED)};\n'
