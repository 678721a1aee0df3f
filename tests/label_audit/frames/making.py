"""Packages with sessions and quotes, and frames by hand."""

from fractions import Fraction

from hypothesis import strategies as st

from memaudit.core.package import Package, Source
from memaudit.label_audit.cells import Frame, FrameCell, KeyedCell
from tests.strategies import packages, texts

SESSIONS = ("s1", "s2", None)


@st.composite
def placed_packages(draw: st.DrawFn) -> Package:
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
    """Candidates of kind fact by units of kind fact, in one session; `covered` is a rule's name."""
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
                {"id": f"u{u}", "kind": "fact", "text": f"unit {u}",
                 "sources": [{"id": "e", "session": "s", "text": f"quote {u}"}]}
                for u in range(units)
            ],
            "coverage": [
                {"candidate": f"m{c}", "unit": f"u{u}", "value": 1}
                for c in range(candidates)
                for u in range(units)
                if rules[covered](c, u)
            ],
        }
    )  # fmt: skip


def cell(number: int, **changes: object) -> FrameCell:
    """A cell by hand."""
    fields: dict[str, object] = {
        "id": f"c{number:04}", "package": "p", "candidate": f"m{number}", "unit": "u1",
        "candidate_kind": "fact", "unit_kind": "event", "same_session": True,
        "candidate_text": "Ann moved.", "unit_text": "Ann moved to Rome.", "quote": "I moved!",
    }  # fmt: skip
    return FrameCell(**{**fields, **changes})  # type: ignore[arg-type]


def keyed(*cells: FrameCell) -> Frame:
    """A frame whose key counts up: 1, 1/2, 0, and so on."""
    values = (Fraction(1), Fraction(1, 2), Fraction(0))
    key = {
        one.id: KeyedCell(values[place % 3], "pass:a", Fraction(place + 2, 3))
        for place, one in enumerate(cells)
    }
    return Frame(cells, key)
