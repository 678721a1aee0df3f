"""Cells a minute, worked by hand."""

from memaudit.web.annotate.labelling import RECENT, cells_per_minute


def at(*seconds: float) -> list[str]:
    """Times after noon."""
    return [f"2026-05-01T{12 + int(s // 3600):02}:{int(s // 60) % 60:02}:{s % 60:06.3f}+00:00"
            for s in seconds]  # fmt: skip


def test_unknown_at_first() -> None:
    """One decision has no gap; two at the same moment have no length."""
    assert cells_per_minute([]) is None
    assert cells_per_minute(at(5)) is None
    assert cells_per_minute(at(5, 5)) is None


def test_the_mean_gap() -> None:
    """Gaps of 4, 8 and 3 seconds: 3 in 15 seconds, 12 a minute."""
    assert cells_per_minute(at(0, 4, 12, 15)) == 12


def test_breaks_do_not_count() -> None:
    """Ten minutes away leave gaps of 4 and 8: 10 a minute. So does a clock set back."""
    assert cells_per_minute(at(0, 4, 604, 612)) == 10
    assert cells_per_minute(at(100, 104, 50, 58)) == 10


def test_only_the_last_count() -> None:
    """A slow beginning is forgotten: 40 gaps of 2 seconds, 30 a minute."""
    slow = [100.0 * number for number in range(10)]
    fast = [1000 + 2.0 * number for number in range(RECENT + 1)]
    assert cells_per_minute(at(*slow, *fast)) == 30
