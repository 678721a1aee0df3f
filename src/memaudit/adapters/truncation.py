"""Stores cut at a default limit: a system's list call stops there without a word."""

from collections.abc import Mapping

from memaudit.adapters.ledger import Ledger

COMMON = (10, 20, 50, 100)
"""Where list calls and their pages usually stop."""


def check_limit(ledger: Ledger, count: int, limits: Mapping[int, str] | None = None) -> None:
    """Warn when a list is exactly as long as a default limit; of pages, only the last is asked."""
    known = (limits or {}).get(count)
    if known or count in COMMON:
        which = f"the default limit of {known}" if known else "where list calls often stop"
        ledger.warn(
            f"maybe truncated: exactly {count} rows, {which}; export again with a larger limit"
        )


def check_total(ledger: Ledger, total: object, held: int) -> bool:
    """Warn when the export says that there are more rows than it holds.

    True where it says how many there are: then no length needs to be guessed at.
    """
    if not isinstance(total, int) or isinstance(total, bool):
        return False
    if total > held:
        ledger.warn(f"truncated: holds {held} of {total} rows; export every page")
    return True
