"""Ids that are unique, and what a reference to one means."""

from collections.abc import Callable, Iterable

from memaudit.datasets.irregular import Notes
from memaudit.datasets.lenient_json import kind_of

Repair = Callable[[str, "Names"], list[tuple[str, str]]]
"""Splits or corrects a reference: pieces, each with the irregularity it was or an empty text."""


class Names:
    """Hands out unique ids, and remembers which the file uses twice."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._last: dict[str, int] = {}
        self._known: dict[str, str] = {}
        self._repeated: set[str] = set()

    def take(self, id: str, citable: bool = True) -> str:
        """This id, or a fresh one derived from it; a citable id can be referred to."""
        name = id
        while name in self._given:
            self._last[id] = self._last.get(id, 1) + 1
            name = f"{id}#{self._last[id]}"
        self._given.add(name)
        if citable and id in self._known:
            self._repeated.add(id)
        elif citable:
            self._known[id] = name
        return name

    def take_noted(self, id: str | None, otherwise: str, notes: Notes, where: str) -> str:
        """The same, with a note where the id is missing or was seen before."""
        if id is None:
            name = self.take(otherwise, citable=False)
            notes.add("missing id", where, name)
            return name
        name = self.take(id)
        if name != id:
            notes.add("repeated id", where, name, id)
        return name

    def __contains__(self, id: str) -> bool:
        return id in self._known

    def problem(self, reference: str) -> str:
        """Why a reference names no single row, or an empty text."""
        if reference in self._repeated:
            return "ambiguous reference"
        return "" if reference in self._known else "reference to nothing"

    def resolve(self, reference: str) -> str:
        """The id a good reference names."""
        return self._known[reference]


def resolve(
    references: Iterable[object], names: Names, notes: Notes, where: str, id: str,
    repair: Repair = lambda reference, _names: [(reference, "")],
) -> tuple[str, ...]:  # fmt: skip
    """The ids that references name, each once; the rest is noted and dropped, never guessed."""
    found: dict[str, None] = {}
    for reference in references:
        if isinstance(reference, bool) or not isinstance(reference, str | int):
            notes.add("malformed reference", where, id, kind_of(reference))
            continue
        pieces = repair(str(reference), names)
        if len(pieces) > 1:
            notes.add("several references in one", where, id, reference)
        for piece, wrong in pieces:
            if wrong:
                notes.add(wrong, where, id, reference)
            if wrong == "malformed reference":
                continue
            if problem := names.problem(piece):
                notes.add(problem, where, id, piece)
            elif names.resolve(piece) in found:
                notes.add("repeated reference", where, id, piece)
            else:
                found[names.resolve(piece)] = None
    return tuple(found)
