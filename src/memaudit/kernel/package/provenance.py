"""What a cell rests on, as its provenance says."""

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction


class Ground(Enum):
    """From the weakest to the strongest."""

    ASSUMED = "assumed"
    """A rule or the offline judge gave it: no person or language model compared the texts."""
    DECLARED = "declared"
    """The package defines it, as controlled and published packages do."""
    EXACT = "exact"
    """True under the definition that judges use: the candidate states the unit word for word."""
    JUDGED = "judged"
    """A person or a model compared the two texts."""


STATEMENT = "exact:statement"
"""The candidate contains the unit's whole text."""

UNJUDGED = "assumed:not judged"
"""A cell that a judge was not asked about: its value is 0, its upper bound is not."""

# From the longer prefix to the shorter one where both fit: `exact:inclusion` before `exact:`.
_BY_PREFIX = {
    "assumed:": Ground.ASSUMED,
    "heuristic:": Ground.ASSUMED,
    "estimated:": Ground.ASSUMED,
    "dataset:": Ground.ASSUMED,
    # A turn word for word, without who said it and when, often does not state its unit.
    "exact:inclusion": Ground.ASSUMED,
    "exact:quote": Ground.ASSUMED,
    "exact:pointer": Ground.ASSUMED,
    "labels:cited-turn": Ground.ASSUMED,
    "exact:": Ground.EXACT,
    "judged:": Ground.JUDGED,
    "pass:": Ground.JUDGED,
    "labels:": Ground.JUDGED,
    "calls:": Ground.JUDGED,
    "model:": Ground.JUDGED,
}
"""The first prefix that fits decides; any other provenance, or none, is declared."""

ESTIMATE_ABOVE = Fraction(1, 10)
"""A result of which a larger share rests on assumed cells is called an estimate."""


def ground(provenance: str | None) -> Ground:
    """What a cell of that provenance rests on."""
    for prefix, kind in _BY_PREFIX.items():
        if (provenance or "").startswith(prefix):
            return kind
    return Ground.DECLARED


def is_assumed(provenance: str | None) -> bool:
    return ground(provenance) is Ground.ASSUMED


def is_exact(provenance: str | None) -> bool:
    """Whether a cell follows from the texts alone."""
    return ground(provenance) is Ground.EXACT


def strength(provenance: str | None) -> int:
    """Larger where a cell rests on more."""
    return list(Ground).index(ground(provenance))


def is_estimate(shares: Iterable[Fraction]) -> bool:
    """Whether a result with these shares of assumed value is an estimate."""
    return any(share > ESTIMATE_ABOVE for share in shares)


def assumed_text(share: Fraction) -> str:
    """A share of assumed value in words; empty where all of it is known."""
    if not share:
        return ""
    mark = ", an ESTIMATE" if is_estimate([share]) else ""
    return f"{float(share):.1%} rests on assumed cells{mark}"
