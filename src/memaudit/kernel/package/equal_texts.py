"""Same text, once: candidates with the same text are one piece of content and one candidate.

Two copies of a memory that covers half of a unit would otherwise add up to all of it. Case, spacing
and punctuation at the end of a sentence aside; an empty text equals no other. The one candidate has
the least cost of its copies and, cell by cell, their larger value. It stays in the group of its
copies if they share one, else it is in a group of its own. All this can only raise an optimum.

Parts follow: the one candidate has the parts of all its copies, and is a part wherever a copy was.
If a copy neither has nor is a part, the one candidate has none: what could be kept beside that
copy still can.
A candidate that has or is a part must be alone in its group, so it moves to one of its own.

A package says by `equal_texts_once` that no two of its candidates have the same text.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import Candidate, Coverage, Experience
from memaudit.kernel.package.provenance import strength
from memaudit.kernel.words.text import content_key


@dataclass(frozen=True, slots=True)
class DistinctTexts:
    """The tables of a package without copies; `copies` are those left out, by id."""

    experiences: tuple[Experience, ...]
    candidates: tuple[Candidate, ...]
    coverage: tuple[Coverage, ...]
    stands_for: Mapping[str, str] = field(default_factory=dict)
    """By the id of a copy, the id of the candidate that stands for it."""
    copies: Mapping[str, Candidate] = field(default_factory=dict)


def distinct_texts(
    experiences: Sequence[Experience],
    candidates: Sequence[Candidate],
    coverage: Sequence[Coverage],
) -> DistinctTexts:
    """The tables with every text once; of copies of equal cost the first stands for all."""
    by_text: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if key := content_key(candidate.text):
            by_text.setdefault(key, []).append(candidate)
    groups = [same for same in by_text.values() if len(same) > 1]
    if not groups:
        return DistinctTexts(tuple(experiences), tuple(candidates), tuple(coverage))
    chosen = {id(same): min(same, key=lambda copy: copy.cost) for same in groups}
    stands_for = {
        copy.id: chosen[id(same)].id
        for same in groups
        for copy in same
        if copy is not chosen[id(same)]
    }
    left = [candidate for candidate in candidates if candidate.id not in stands_for]
    parts = _merged_parts(candidates, stands_for)
    involved = {id for whole in parts for id in (whole, *parts[whole])}
    room = Counter(candidate.experience for candidate in left)
    moved: dict[str, tuple[str, str]] = {}  # the first copy's experience and the new one
    for same in groups:
        kept = chosen[id(same)]
        shared = len({copy.experience for copy in same}) == 1
        # Only where others are in its group: a candidate that is alone there has one of its own.
        if room[kept.experience] > 1 and (not shared or kept.id in involved):
            moved[kept.id] = same[0].experience, f"same text: {kept.id}"
    return DistinctTexts(
        _with_own_groups(experiences, moved),
        tuple(
            _changed(
                candidate,
                experience=moved.get(candidate.id, ("", candidate.experience))[1],
                parts=parts.get(candidate.id, ()),
            )
            for candidate in left
        ),
        _larger_cells(coverage, stands_for),
        stands_for,
        {candidate.id: candidate for candidate in candidates if candidate.id in stands_for},
    )


def _merged_parts(
    candidates: Sequence[Candidate], stands_for: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """By candidate, the parts that it has once copies are left out."""
    direct: dict[str, list[str]] = {}
    inner_ids = {part for candidate in candidates for part in candidate.parts}
    # Copies that neither have nor are parts could be kept beside anything. The candidate that
    # stands for them must allow what they did, or merging would lower an optimum.
    free = {
        stands_for.get(candidate.id, candidate.id)
        for candidate in candidates
        if not candidate.parts and candidate.id not in inner_ids
    }
    for candidate in candidates:
        for part in candidate.parts:
            whole, inner = (stands_for.get(id, id) for id in (candidate.id, part))
            if inner != whole and whole not in free:
                direct.setdefault(whole, []).append(inner)
    merged: dict[str, tuple[str, ...]] = {}
    inside: set[str] = set()
    for whole in direct:
        if whole in inside:
            continue
        # A part may have the text of another whole. What that contains is then part of the larger
        # one only: a package has no parts of parts.
        reached = dict.fromkeys(direct[whole])
        waiting = list(reached)
        while waiting:
            more = [id for id in direct.get(waiting.pop(), ()) if id not in reached and id != whole]
            reached |= dict.fromkeys(more)
            waiting += more
        for inner in reached:
            merged.pop(inner, None)
        merged[whole] = tuple(reached)
        inside.update(reached)
    return merged


def _with_own_groups(
    experiences: Sequence[Experience], moved: Mapping[str, tuple[str, str]]
) -> tuple[Experience, ...]:
    """The stream with the new groups, each after the experience of its first copy."""
    if not moved:
        return tuple(experiences)
    taken = {experience.id for experience in experiences}
    after: dict[str, list[str]] = {}
    for first, new in moved.values():
        if new in taken:
            raise MemAuditError(f"an experience is called {new!r}; rename it")
        after.setdefault(first, []).append(new)
    stream: list[Experience] = []
    for experience in sorted(experiences, key=lambda known: known.index):
        stream.append(experience)
        stream += (
            experience.model_copy(update={"id": new, "text": "", "attributes": {}})
            for new in after.get(experience.id, ())
        )
    return tuple(_changed(experience, index=index) for index, experience in enumerate(stream))


Row = TypeVar("Row", bound=BaseModel)


def _changed(row: Row, **fields: object) -> Row:
    """The row with these fields; itself where it has them already, as most rows do."""
    same = all(getattr(row, name) == value for name, value in fields.items())
    return row if same else row.model_copy(update=fields)


def _larger_cells(
    coverage: Sequence[Coverage], stands_for: Mapping[str, str]
) -> tuple[Coverage, ...]:
    """Every cell once: the largest value, and of equal ones that which rests on most."""
    best: dict[tuple[str, str], Coverage] = {}
    for cell in coverage:
        at = stands_for.get(cell.candidate, cell.candidate), cell.unit
        known = best.get(at)
        if known is None:
            best[at] = _changed(cell, candidate=at[0])
            continue
        # Value and upper bound may come from different copies: the text covers what either covers.
        larger = max(known, cell, key=lambda row: (row.value, strength(row.provenance)))
        most = max(known.most, cell.most)
        best[at] = larger.model_copy(
            update={"candidate": at[0], "upper": most if most > larger.value else None}
        )
    return tuple(best.values())
