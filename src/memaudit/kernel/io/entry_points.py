"""What packages offer by entry points: formats of stores and of conversations, and so on.

Ours enter by the same door as those of others (`pyproject.toml`), so an outside package needs no
line here. Nothing is looked up before it is asked for: looking takes a while.
"""

from collections.abc import Iterator, MutableMapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.text import one_line, shortened

BUILTIN = "builtin"
LONGEST = 200


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Registered(MutableMapping[str, T]):
    """By their names, the members of all collections that entry points of a group name."""

    def __init__(self, group: str) -> None:
        self.group = group

    @cached_property
    def _members(self) -> dict[str, T]:
        # None of ours: the program was copied without being installed, or updated over an old one.
        points = list(entry_points(group=self.group))
        if not any(_is_ours(point) for point in points):
            raise MemAuditError(
                f"memaudit is not completely installed: it lists no entry point {self.group}; "
                "install it again"
            )
        members: dict[str, T] = {}
        owners: dict[str, EntryPoint] = {}
        # Ours come first, in the order of our list; which package repeats a name is then clear.
        for point in sorted(points, key=lambda point: (not _is_ours(point), point.name)):
            for member in self._loaded(point):
                if member.name in members:
                    raise MemAuditError(
                        f"{_described(point)}: the name {member.name!r} is taken by "
                        f"{_described(owners[member.name])}; uninstall one of the packages"
                    )
                members[member.name], owners[member.name] = member, point
        return members

    def _loaded(self, point: EntryPoint) -> list[T]:
        try:
            members = list(point.load())
            for member in members:
                if not isinstance(member.name, str):
                    raise TypeError(f"{type(member).__name__} has no name")
        except Exception as error:  # whatever the module of an outside package raises
            if _is_ours(point):
                raise
            fault = shortened(one_line(f"{type(error).__name__}: {error}"), LONGEST)
            raise MemAuditError(
                f"{_described(point)} cannot be loaded: {fault} (update or uninstall the package)"
            ) from None
        return members

    def __getitem__(self, name: str) -> T:
        return self._members[name]

    def __setitem__(self, name: str, member: T) -> None:
        self._members[name] = member

    def __delitem__(self, name: str) -> None:
        del self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


def _is_ours(point: EntryPoint) -> bool:
    return point.name == BUILTIN and point.module.partition(".")[0] == "memaudit"


def _described(point: EntryPoint) -> str:
    package = f" of the package {point.dist.name}" if point.dist else ""
    return f"the entry point {point.group} {point.name!r} ({point.value}){package}"
