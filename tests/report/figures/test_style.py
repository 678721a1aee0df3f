"""One writer, one look; no two writers alike, with colour or without."""

import hashlib
from itertools import combinations, pairwise

from memaudit.report.figures.style import COLOURS, DASHES, MARKERS, line_styles
from memaudit.writers.registry import WRITERS


def test_no_two_writers_look_alike() -> None:
    """All differ in marker or dash, so also in grey; and in colour or dash, so also afar."""
    looks = line_styles(list(WRITERS))
    for (_, one), (_, other) in combinations(looks.items(), 2):
        assert (one.marker, one.dash) != (other.marker, other.dash)
        assert (one.colour, one.dash) != (other.colour, other.dash)


def test_neighbours_differ_in_everything() -> None:
    """Writers next to each other in a table share neither colour, marker nor dash."""
    looks = list(line_styles(list(WRITERS)).values())
    for one, other in pairwise(looks[1:]):
        assert one.colour != other.colour
        assert one.marker != other.marker
        assert one.dash != other.dash


def test_hollow_means_peeking() -> None:
    """A filled marker is a writer that could be deployed."""
    for name, writer in WRITERS.items():
        if name != "opt":
            assert line_styles([name])[name].hollow == writer.peeks


def test_a_registered_writer_looks_the_same_in_every_company() -> None:
    alone = line_styles(["greedy"])["greedy"]
    assert line_styles(["mem0", "greedy", "letta"])["greedy"] == alone
    assert line_styles(list(WRITERS))["greedy"] == alone


def test_unknown_writers_get_a_look_from_their_name() -> None:
    """From the name alone, where nobody else has it."""
    number = int(hashlib.sha256(b"mem0").hexdigest()[:8], 16)
    look = line_styles(["mem0"])["mem0"]
    assert look.colour == COLOURS[number % 7]
    assert look.marker == MARKERS[number % 13]
    assert look.dash == DASHES[number % 4]


def test_many_unknown_writers_differ() -> None:
    """All 52 pairs of marker and dash are used before one comes twice."""
    looks = line_styles([f"system {i}" for i in range(52)])
    assert len({(look.marker, look.dash) for look in looks.values()}) == 52
    assert len(line_styles([f"system {i}" for i in range(60)])) == 60
