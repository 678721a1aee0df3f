"""What a judge cannot read has no score: the scripts of a package and of a store.

A judge says by the attribute `reads` which scripts it can read (names of `words/scripts.py`).
Without it, or with None, it reads every one. What a judge cannot read it would call not covered,
and that is not a zero.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Protocol

from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import NotJudged
from memaudit.kernel.words.scripts import SCRIPTS, script_shares

ENOUGH = Fraction(1, 5)
"""The share of a text that matters. A name or the word user in another script does not."""


class ScriptAware(Protocol):
    """A judge, or a filter of pairs."""

    @property
    def name(self) -> str: ...


def scripts_read(reader: ScriptAware) -> frozenset[str] | None:
    """The scripts that a judge or a filter can read; None for every one."""
    reads: frozenset[str] | None = getattr(reader, "reads", None)
    return reads


def refuse_unreadable(
    reader: ScriptAware, package: Package, memories: Iterable[str] = (), other: str = ""
) -> None:
    """Raise if a judge cannot read the units or the memories, or compare the two.

    `other` is what to use instead.
    """
    known = scripts_read(reader)
    if known is None:
        return
    units, written = script_shares(unit.text for unit in package.units), script_shares(memories)
    for what, shares in ((f"the package {package.name!r}", units), ("the store", written)):
        if foreign := _unreadable(shares, known):
            instead = other or _instead(foreign)
            raise NotJudged(
                f"{what} is written in {foreign}, which {reader.name} cannot read; use {instead}"
            )
    # Both may be readable and still not comparable: a store in Russian about a conversation in
    # English has no word in common with it, whatever it remembers.
    shared = sum((min(share, written.get(name, Fraction(0))) for name, share in units.items()), 0)
    if units and written and shared < ENOUGH:
        raise NotJudged(
            f"the store is written in {next(iter(written))} and the package {package.name!r} in "
            f"{next(iter(units))}, and {reader.name} compares words of one script; use "
            f"{other or MODELS_AND_LABELS}"
        )


def foremost_script(units: Iterable[str]) -> str:
    """The script that most of some texts is written in."""
    return next(iter(script_shares(units)), "")


MODELS_AND_LABELS = "model:NAME or labels:FILE"


def _unreadable(shares: Mapping[str, Fraction], known: frozenset[str]) -> str | None:
    """The foremost script that is not known, if there is enough of all that are not."""
    # All foreign scripts count together: a tenth in each of two is a fifth that is not read.
    foreign = {script: share for script, share in shares.items() if script not in known}
    return next(iter(foreign)) if sum(foreign.values()) >= ENOUGH else None


def _instead(script: str) -> str:
    lexical = "lexical, " if script in SCRIPTS else ""
    return lexical + MODELS_AND_LABELS
