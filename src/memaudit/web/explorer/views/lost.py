"""The units a store lost, the step that lost each, and where they can be looked at."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memaudit.scoring.diagnosis import STEPS
from memaudit.web.explorer.library.score_sheets import LostUnit, Score
from memaudit.web.explorer.views.package_links import Links

STEP_AT = {step: place for place, step in enumerate(STEPS, start=1)}
"""The steps numbered from 1, as waterfalls number them."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A query that needs a lost unit."""

    id: str
    text: str
    address: str | None


@dataclass(frozen=True, slots=True)
class Lost:
    """A unit that is worth less than in OPT; its parts by step add up to `lost`."""

    id: str
    text: str
    kind: str
    lost: float
    kept: float | None
    step: str
    parts: Mapping[str, float]
    address: str | None
    queries: tuple[Asking, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class LostUnits:
    """What is known of a score's lost units. The file may list the largest of each step only:
    `unlisted` says how many are missing, summed over steps."""

    units: tuple[Lost, ...]
    unlisted: int


def lost_units(score: Score, links: Links) -> LostUnits:
    """All of them where the file was made with cells, else the largest of each step."""
    if score.lost_units is not None:
        return LostUnits(tuple(_told(one, links) for one in score.lost_units), 0)
    if score.told is None:
        return LostUnits((), 0)
    parts: dict[str, dict[str, float]] = {}
    for name, loss in score.told.losses.items():
        for unit, part in loss.units:
            parts.setdefault(unit, {})[name] = part
    found = [
        _summed(unit, by_step, links) for unit, by_step in parts.items() if sum(by_step.values())
    ]
    found = [one for one in found if one.lost > 0]
    found.sort(key=lambda one: (-one.lost, one.id))
    unlisted = sum(loss.more_units for loss in score.told.losses.values())
    return LostUnits(tuple(found), unlisted)


def _told(one: LostUnit, links: Links) -> Lost:
    asked = tuple(Asking(query.id, query.text, links.query(query.id)) for query in one.queries)
    return Lost(one.unit, one.text, one.kind, one.lost, one.kept, one.step, one.parts,
                links.unit(one.unit), asked)  # fmt: skip


def _summed(unit: str, parts: Mapping[str, float], links: Links) -> Lost:
    """Of a file without texts: they are the package's, if it is here."""
    known = links.told(unit)
    step = max(STEPS, key=lambda step: parts.get(step, 0.0))
    asked: tuple[Asking, ...] = ()
    if links.opened is not None:
        asked = tuple(
            Asking(query.id, query.text, links.query(query.id))
            for query in links.opened.package.queries
            if unit in query.required
        )
    return Lost(
        unit, known.text if known else "", known.kind if known else "", sum(parts.values()), None,
        step, parts, links.unit(unit), asked,
    )  # fmt: skip
