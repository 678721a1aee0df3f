"""The writers of a run as pages show them: deployable ones, proxies, and references."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from memaudit.show.encoding import Look, looks

Group = Literal["deployable", "proxy", "reference"]
GROUPS: tuple[Group, ...] = ("deployable", "proxy", "reference")
GROUP_TITLES: Mapping[Group, str] = {
    "deployable": "Deployable writers",
    "proxy": "Proxies: stand-ins for families of systems",
    "reference": "Package-oracle references",
}
GROUP_NOTES: Mapping[Group, str] = {
    "deployable": "see the stream and the candidates, nothing more",
    "proxy": "deployable too; they imitate how a family of systems decides, and are not it",
    "reference": "look at the hidden units and weights, so no product could run them",
}
OPT = "opt"


@dataclass(frozen=True, slots=True)
class Member:
    """One writer or store, and how it is drawn."""

    name: str
    label: str
    about: str
    group: Group
    look: Look


class Described(Protocol):
    """A writer as the registry knows it."""

    @property
    def label(self) -> str: ...

    @property
    def about(self) -> str: ...


def members_by_name(
    peeks: Mapping[str, bool], writers: Mapping[str, Described]
) -> dict[str, Member]:
    """The writers of a run, in its order. One that is no longer registered is shown by its name."""
    members: dict[str, Member] = {}
    look = looks(peeks)
    for name, sees_all in peeks.items():
        known = writers.get(name)
        label = known.label if known else name
        group: Group = "proxy" if "(proxy)" in label else "deployable"
        if sees_all:
            group = "reference"
        about = known.about if known else "a writer this version does not know"
        own = look[name] if known else replace(look[name], hollow=sees_all)
        members[name] = Member(name, label, about, group, own)
    return members


def grouped(members: Sequence[Member]) -> list[tuple[Group, list[Member]]]:
    """The writers by group, in the order given, without empty groups."""
    groups = [(group, [member for member in members if member.group == group]) for group in GROUPS]
    return [(group, own) for group, own in groups if own]
