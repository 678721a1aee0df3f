"""How many uncovered cells each stratum gives to a frame."""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import TypeVar

from memaudit.core.errors import MemAuditError

Name = TypeVar("Name")


def allocated(
    sizes: Mapping[Name, int], rate: Fraction, most: int | None = None
) -> dict[Name, int]:
    """The rate times a stratum's size, rounded up: so at least one of each, unless the rate is 0.

    Where that makes more than `most`, every stratum gives one, and the rest is shared out in
    proportion to what is left of each, by largest remainders; ties go to the earlier stratum.
    """
    wanted = {name: ceil(rate * size) for name, size in sizes.items()}
    if most is None or sum(wanted.values()) <= most:
        return wanted
    filled = [name for name, number in wanted.items() if number]
    if len(filled) > most:
        raise MemAuditError(
            f"there is room for {max(most, 0):,} uncovered cells, but they fall into "
            f"{len(filled):,} strata (allow more cells, or choose fewer kinds)"
        )
    spare = most - len(filled)
    left = {name: sizes[name] - 1 for name in filled}
    total = sum(left.values())
    shares = {name: Fraction(spare * left[name], total) for name in filled}
    given = {name: int(share) for name, share in shares.items()}
    order = sorted(filled, key=lambda name: given[name] - shares[name])
    for name in order[: spare - sum(given.values())]:
        given[name] += 1
    return {name: 1 + given[name] if name in given else 0 for name in sizes}
