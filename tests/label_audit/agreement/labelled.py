"""Small frames, and labels by letter: full, partial, none, ? cannot tell, . missing."""

from fractions import Fraction

from memaudit.label_audit.cells import Frame, FrameCell, KeyedCell, Label, LabelSet

WORDS: dict[str, Label] = {"f": "full", "p": "partial", "n": "none", "?": "cannot_tell"}
VALUES = {"f": Fraction(1), "p": Fraction(1, 2), "n": Fraction(0)}


def cell(number: int, package: str = "p", kind: str = "fact", unit: str = "event") -> FrameCell:
    """A cell of the same session."""
    return FrameCell(
        f"c{number:03}", package, f"m{number}", f"u{number}", kind, unit, True,
        f"memory {number}", f"unit {number}", "",
    )  # fmt: skip


def frame(cells: int, key: str = "", weights: dict[int, Fraction] | None = None) -> Frame:
    """Cells of one package, the package's own labels, and weights other than 1."""
    held = tuple(cell(number) for number in range(cells))
    keyed = {
        one.id: KeyedCell(VALUES[said], "judge", (weights or {}).get(place, Fraction(1)))
        for place, (one, said) in enumerate(zip(held, key, strict=False))
    }
    return Frame(held, keyed)


def labels(annotator: str, said: str) -> LabelSet:
    """Someone's labels of the first cells."""
    return LabelSet(
        annotator,
        {f"c{place:03}": WORDS[one] for place, one in enumerate(said) if one != "."},
    )
