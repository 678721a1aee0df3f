"""Stores cut at a default limit: a system's list call stops there without a word."""

from collections.abc import Mapping

from memaudit.adapters.ledger import Ledger


def check_limit(ledger: Ledger, count: int, limits: Mapping[int, str]) -> None:
    """Warn when the last list read is exactly as long as a default limit."""
    if count in limits:
        ledger.warn(f"maybe truncated: exactly {count} rows, the default limit of {limits[count]}; "
                    "export again with a larger limit")  # fmt: skip


def check_total(ledger: Ledger, total: object) -> None:
    """Warn when the export says that there are more rows than it holds."""
    if isinstance(total, int) and not isinstance(total, bool) and total > ledger.read:
        ledger.warn(f"truncated: holds {ledger.read} of {total} rows; export every page")
