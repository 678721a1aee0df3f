"""One thing, one look; no two alike, with colour or without, by day or by night."""

import hashlib
import math
import re
from itertools import combinations, pairwise

import pytest
from matplotlib.markers import MarkerStyle

from memaudit.kernel.losses import KEPT, LOSS_STEPS
from memaudit.lab.downstream.diagnosis_files import Layer, Outcome
from memaudit.lab.sweeps.writers.registry import WRITERS
from memaudit.show import encoding
from memaudit.show.encoding import (
    DASHES,
    HUES,
    KINDS,
    LOSSES,
    MARKERS,
    WRITER_MARKERS,
    kind_look,
    looks,
    loss_look,
)
from memaudit.show.page_kit import style_sheet


def test_every_registered_writer_has_its_look() -> None:
    """The order of the registry is the order of the looks; references are hollow."""
    assert list(WRITERS) == ["opt", *encoding.REFERENCES, *encoding.WRITERS]
    for name, writer in WRITERS.items():
        assert looks([name])[name].hollow == (writer.peeks and name != "opt")


def test_every_outcome_and_layer_has_its_look() -> None:
    assert {*Layer, *Outcome} <= set(LOSSES)


def test_no_two_writers_look_alike() -> None:
    """All differ in their signs, so also in grey; and in colour or dash, so also afar."""
    found = looks(WRITERS)
    for (_, one), (_, other) in combinations(found.items(), 2):
        assert (one.marker, one.hollow) != (other.marker, other.hollow)
        assert (one.colour, one.dash) != (other.colour, other.dash)


def test_neighbours_differ_in_everything() -> None:
    """Writers next to each other in a table share neither colour, marker nor dash."""
    found = list(looks(WRITERS).values())
    for one, other in pairwise(found[1:]):
        assert one.colour != other.colour
        assert one.marker != other.marker
        assert one.dash != other.dash


def test_hollow_means_peeking() -> None:
    """A filled marker is a writer that could be deployed."""
    for name, writer in WRITERS.items():
        if name != "opt":
            assert looks([name])[name].hollow == writer.peeks


def test_a_registered_writer_looks_the_same_in_every_company() -> None:
    alone = looks(["greedy"])["greedy"]
    assert looks(["mem0", "greedy", "letta"])["greedy"] == alone
    assert looks(WRITERS)["greedy"] == alone


def test_the_look_of_a_store_follows_from_its_name() -> None:
    """From the name alone, whoever is listed with it and in whatever order."""
    number, first = (int(hashlib.sha256(name).hexdigest()[:8], 16) for name in (b"own 2", b"own"))
    look = looks(["own 2"])["own 2"]
    assert look.tone == 1 + first % 7
    assert look.marker == WRITER_MARKERS[number % 13]
    assert look.dash == DASHES[number % 4]
    names = ["mem0", "letta", "langmem", "notes", "mem0-2", "letta-2", "langmem-2", "own 2"]
    together = looks(names)
    assert together == looks(reversed(names))
    for name in names:
        alone = looks([name])[name]
        assert (alone.tone, alone.marker) == (together[name].tone, together[name].marker)


def test_stores_of_one_system_have_one_hue() -> None:
    found = looks(["mem0", "Mem0 of 2025", "letta_1", "A-Mem", "custom", "custom-2"])
    tones = [look.tone for look in found.values()]
    assert tones[0] == tones[1] != tones[2]
    assert tones[4] == tones[5]
    assert found["A-Mem"].tone == encoding.SYSTEMS["amem"]


def test_many_stores_differ() -> None:
    """Of one system, every marker is used before a hue changes; all differ as long as they can."""
    found = looks(f"system {i}" for i in range(13))
    assert len({look.marker for look in found.values()}) == 13
    assert len({look.tone for look in found.values()}) == 1
    found = looks(f"system {i}" for i in range(91))
    assert len({(look.tone, look.marker) for look in found.values()}) == 91
    assert len(looks(f"system {i}" for i in range(100))) == 100
    assert len(looks(["", "!", "\udc80"])) == 3


def test_kinds_have_letters_and_losses_have_hatches() -> None:
    """No two kinds share their letters. Losses of one chart share neither hatch nor colour."""
    letters = [look.letters for look in KINDS.values()]
    assert len(set(letters)) == len(letters)
    assert kind_look("odd kind") == kind_look("odd kind")
    assert kind_look("odd kind").letters == "Od"
    assert kind_look("<>").letters == "?"
    for chart in (("kept", *LOSS_STEPS), tuple(Layer)):
        found = [loss_look(name) for name in chart]
        assert len({look.tone for look in found}) == len(chart)
    for chart in (("kept", *LOSS_STEPS), tuple(Layer), tuple(Outcome)):
        signs = {(look.tone, look.hatch) for look in map(loss_look, chart)}
        assert len(signs) == len(chart)
    assert len({loss_look(name).hatch for name in ("kept", *LOSS_STEPS)}) == 5


def test_one_meaning_has_one_look() -> None:
    """Never written is never written, whoever counts it; names may have blanks."""
    assert loss_look("extraction") == loss_look(Outcome.NEVER_WRITTEN) == loss_look(Layer.WRITE)
    assert loss_look("kept") == loss_look("answered") == loss_look("answered right")
    assert set(LOSS_STEPS) | set(Layer) | set(Outcome) <= set(LOSSES)


def test_figures_and_pages_draw_the_same_shapes() -> None:
    for marker, path in MARKERS.items():
        assert MarkerStyle(marker).is_filled() or marker in "_|"
        assert re.fullmatch(r"M[-0-9. hvlaLZ]+Z", path), marker


def test_the_style_sheet_has_every_colour() -> None:
    css = style_sheet()
    for number, hue in HUES.items():
        assert css.count(f"--hue{number}: {hue.line};") == 1
        assert css.count(f"--fill{number}: {hue.dark_fill};") == 1
        assert f".hue{number} {{ color: var(--hue{number}); }}" in css


def channels(colour: str) -> list[float]:
    """Linear red, green and blue."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(one: str, other: str) -> float:
    weights = ((0.2126, 0.7152, 0.0722),)
    dark, light = sorted(times(weights, channels(colour))[0] for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


SEEN = {
    "everybody": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "without red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "without green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
"""What the colour-blind see (Machado, Oliveira and Fernandes 2009, severity 1)."""

CONES = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
OKLAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)


def times(matrix: tuple[tuple[float, ...], ...], vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def distance(one: str, other: str, seen: tuple[tuple[float, ...], ...]) -> float:
    """How different two colours look, in hundredths of OKLab."""
    places = []
    for colour in (one, other):
        cones = times(CONES, [max(0.0, part) for part in times(seen, channels(colour))])
        places.append(times(OKLAB, [part ** (1 / 3) for part in cones]))
    return 100 * math.dist(*places)


@pytest.mark.parametrize("field", ["line", "fill", "dark_line", "dark_fill"])
def test_the_colour_blind_see_different_hues(field: str) -> None:
    """Okabe and Ito's palette with grey has 5.8 by this measure."""
    colours = [getattr(hue, field) for hue in HUES.values()]
    for seen in SEEN.values():
        for one, other in combinations(colours, 2):
            assert distance(one, other, seen) >= 8, (field, one, other)


def test_contrast_by_day_and_by_night() -> None:
    """Lines stand out from the paper, and text from the fills."""
    day, night = re.findall(r"--paper: (#[0-9a-f]{6})", style_sheet())
    for hue in HUES.values():
        assert contrast(hue.line, day) >= 3
        assert contrast(hue.dark_line, night) >= 4.5
        assert contrast(hue.fill, encoding.ON_FILL) >= 4.5
        assert contrast(hue.dark_fill, encoding.DARK_ON_FILL) >= 4.5


def test_notebooks_have_the_colours_of_pages() -> None:
    for step in (KEPT, *LOSS_STEPS.values()):
        assert HUES[LOSSES[step.name].tone].fill == step.colour
