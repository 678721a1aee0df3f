"""Shares that no diagnosis writes, and counts that count nothing."""

from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.report.leaderboard import board
from memaudit.report.leaderboard_entries import read_scores
from tests.report.leaderboard.scores import row, write


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1e999999999", "'1e999999999' is not a share"),
        ("1e-999999999", "is not a share"),
        ("1_0/20", "is not a share"),
        ("\u0661/2", "is not a share"),
        ("0.5", "is not a share"),
        ("-1/2", "is not a share"),
        ("1/0", "divides by zero"),
        ("3/2", "less than or equal to 1"),
        ("9" * 5000, "expected a share as text"),
        (0.5, "expected a share as text"),
    ],
)
def test_shares(tmp_path: Path, text: object, said: str) -> None:
    """One line, at once: the number is never written out."""
    one = row("s", "1/2")
    one["diagnosis"]["kept"] = text
    write(tmp_path, "p", one)
    with pytest.raises(MemAuditError, match=rf"^p\.json: scores\.0\.diagnosis.*kept: .*{said}"):
        read_scores(tmp_path)


def test_long_shares_are_rounded_in_means(tmp_path: Path) -> None:
    """By hand: 1/3 and 2/3 have the mean 1/2; so have shares of odd denominators, nearly."""
    large = 10**900 + 1
    write(tmp_path, "a", row("s", "1/3"), row("t", f"{large // 3}/{large}"))
    write(tmp_path, "b", row("s", "2/3"), row("t", f"{2 * large // 3}/{large + 2}"))
    write(tmp_path, "c", row("s", "1/2"), row("t", f"{large // 2}/{large + 6}"))
    ((_, standings),) = board(read_scores(tmp_path)).budgets
    shares = {row.store: row.shares for row in standings}
    assert shares["s"] is not None
    assert shares["t"] is not None
    assert shares["s"]["kept"] == Fraction(1, 2)
    assert sum(shares["t"].values()) == 1
    assert 0 < abs(shares["t"]["kept"] - Fraction(1, 2)) < Fraction(1, 10**50)
    assert len(str(shares["t"]["kept"])) < 200


def test_counts(tmp_path: Path) -> None:
    one = row("s", "1/2")
    one["memories"] = 10**400
    write(tmp_path, "p", one)
    with pytest.raises(MemAuditError, match=r"scores\.0\.memories: input should be less than"):
        read_scores(tmp_path)


def test_too_many_pairs(tmp_path: Path) -> None:
    """500 stores would be 124,750 comparisons."""
    write(tmp_path, "p", *(row(f"s{number}", "1/2") for number in range(500)))
    with pytest.raises(MemAuditError, match="more than 100,000 pairs of stores"):
        board(read_scores(tmp_path))


def test_files_of_early_versions(tmp_path: Path) -> None:
    """They gave one number per kind of unit, which a leaderboard does not need."""
    write(tmp_path, "p", {**row("s", "1/2"), "unit_kinds": {"current": 1.5}})
    assert board(read_scores(tmp_path)).stores
