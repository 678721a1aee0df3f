"""Small frames, and labels by letter: full, partial, none, ? cannot tell, . missing."""

from fractions import Fraction

from hypothesis import strategies as st

from memaudit.kernel.package.labels import Label
from memaudit.kernel.package.package import Package, Source
from memaudit.lab.labels.frame import Frame, FrameCell, KeyedCell, LabelSet
from tests.strategies import packages, texts

LETTERS: dict[str, Label] = {"f": "full", "p": "partial", "n": "none", "?": "cannot_tell"}
VALUES = {"f": Fraction(1), "p": Fraction(1, 2), "n": Fraction(0)}


def plain_cell(
    number: int, package: str = "p", kind: str = "fact", unit: str = "event"
) -> FrameCell:
    return FrameCell(
        f"c{number:03}",
        package,
        f"m{number}",
        f"u{number}",
        kind,
        unit,
        True,
        f"memory {number}",
        f"unit {number}",
        "",
    )


def frame(cells: int, key: str = "", weights: dict[int, Fraction] | None = None) -> Frame:
    """Cells of one package, the package's own labels, and weights other than 1."""
    held = tuple(plain_cell(number) for number in range(cells))
    keyed = {
        one.id: KeyedCell(VALUES[said], "judge", (weights or {}).get(place, Fraction(1)))
        for place, (one, said) in enumerate(zip(held, key, strict=False))
    }
    return Frame(held, keyed)


def labels(annotator: str, said: str) -> LabelSet:
    return LabelSet(
        annotator,
        {f"c{place:03}": LETTERS[one] for place, one in enumerate(said) if one != "."},
    )


SESSIONS = ("s1", "s2", None)


@st.composite
def packages_with_sessions(draw: st.DrawFn) -> Package:
    """Random packages whose experiences and units have sessions, or not; values may be 0."""
    package = draw(packages(responses=False))
    experiences = tuple(
        one.model_copy(update={"session": draw(st.sampled_from(SESSIONS))})
        for one in package.experiences
    )
    units = tuple(
        one.model_copy(update={"sources": tuple(draw(st.lists(_sources(), max_size=2)))})
        for one in package.units
    )
    return package.replace(experiences=experiences, units=units)


@st.composite
def _sources(draw: st.DrawFn) -> Source:
    return Source(
        id=draw(st.sampled_from(("e0", "elsewhere"))),
        session=draw(st.sampled_from(SESSIONS)),
        text=draw(texts),
    )


def grid(covered: str, name: str = "grid", candidates: int = 40, units: int = 30) -> Package:
    rules = {"first": lambda c, u: c < 10 and u < 10, "tenth": lambda c, u: (c * 31 + u) % 10 == 0}
    return Package.model_validate(
        {
            "name": name,
            "experiences": [{"id": "e", "session": "s"}],
            "candidates": [
                {"id": f"m{c}", "experience": "e", "kind": "fact", "cost": 1, "text": f"memory {c}"}
                for c in range(candidates)
            ],
            "units": [
                {
                    "id": f"u{u}",
                    "kind": "fact",
                    "text": f"unit {u}",
                    "sources": [{"id": "e", "session": "s", "text": f"quote {u}"}],
                }
                for u in range(units)
            ],
            "coverage": [
                {"candidate": f"m{c}", "unit": f"u{u}", "value": 1}
                for c in range(candidates)
                for u in range(units)
                if rules[covered](c, u)
            ],
        }
    )


def cell(number: int, **changes: object) -> FrameCell:
    fields: dict[str, object] = {
        "id": f"c{number:04}",
        "package": "p",
        "candidate": f"m{number}",
        "unit": "u1",
        "candidate_kind": "fact",
        "unit_kind": "event",
        "same_session": True,
        "candidate_text": "Ann moved.",
        "unit_text": "Ann moved to Rome.",
        "quote": "I moved!",
    }
    return FrameCell(**{**fields, **changes})  # type: ignore[arg-type]


def keyed_frame(*cells: FrameCell) -> Frame:
    """A frame whose key counts up: 1, 1/2, 0, and so on."""
    values = (Fraction(1), Fraction(1, 2), Fraction(0))
    key = {
        one.id: KeyedCell(values[place % 3], "pass:a", Fraction(place + 2, 3))
        for place, one in enumerate(cells)
    }
    return Frame(cells, key)
