"""Stores cut at a default limit: a system's list call stops there without a word."""

from collections.abc import Mapping

from memaudit.adapters.ledger import Ledger

COMMON = (10, 20, 50, 100)
"""Where list calls and their pages usually stop."""


def check_limit(ledger: Ledger, count: int, limits: Mapping[int, str] | None = None) -> None:
    """Warn when the last list read is exactly as long as a default limit."""
    known = (limits or {}).get(count)
    if known or count in COMMON:
        which = f"the default limit of {known}" if known else "where list calls often stop"
        ledger.warn(
            f"maybe truncated: exactly {count} rows, {which}; export again with a larger limit"
        )


def check_total(ledger: Ledger, total: object) -> None:
    """Warn when the export says that there are more rows than it holds."""
    if isinstance(total, int) and not isinstance(total, bool) and total > ledger.read:
        ledger.warn(f"truncated: holds {ledger.read} of {total} rows; export every page")
