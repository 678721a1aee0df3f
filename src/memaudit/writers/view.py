"""What a deployable writer may see of a package: nothing of units, queries or coverage."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from memaudit.core.package import Package


@dataclass(frozen=True, slots=True)
class VisibleExperience:
    """One step of the stream, as it arrived."""

    id: str
    index: int
    text: str
    session: str | None
    timestamp: str | None
    speaker: str | None


@dataclass(frozen=True, slots=True)
class VisibleCandidate:
    """One thing that could be stored, as its generator offered it."""

    id: str
    experience: str
    kind: str
    text: str
    cost: Fraction
    confidence: Fraction | None


@dataclass(frozen=True)
class View:
    """The visible part of a package. Experiences and their candidates are in order of arrival."""

    experiences: tuple[VisibleExperience, ...]
    candidates: tuple[VisibleCandidate, ...]
    group_cap: int

    @cached_property
    def groups(self) -> tuple[tuple[VisibleCandidate, ...], ...]:
        """The candidates of each experience, in order of arrival."""
        members: dict[str, list[VisibleCandidate]] = {e.id: [] for e in self.experiences}
        for candidate in self.candidates:
            members[candidate.experience].append(candidate)
        return tuple(tuple(group) for group in members.values())


def visible(package: Package) -> View:
    """The view of a package. Free attributes stay behind: anything may hide in them."""
    experiences = sorted(package.experiences, key=lambda experience: experience.index)
    rank = {experience.id: place for place, experience in enumerate(experiences)}
    candidates = sorted(package.candidates, key=lambda c: (rank[c.experience], c.id))
    return View(
        experiences=tuple(
            VisibleExperience(e.id, place, e.text, e.session, e.timestamp, e.speaker)
            for place, e in enumerate(experiences)
        ),
        candidates=tuple(
            VisibleCandidate(c.id, c.experience, c.kind, c.text, c.cost, c.confidence)
            for c in candidates
        ),
        group_cap=package.group_cap,
    )
