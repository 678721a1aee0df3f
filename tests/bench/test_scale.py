"""The scale section on tiny sizes, and its exponents by hand."""

import pytest

from bench.scale import ScaleLine, exponents, scale_lines, slope


@pytest.mark.slow
def test_tiny_sizes_are_solved_in_processes_of_their_own() -> None:
    lines = scale_lines(30.0, 1, (60, 240))
    assert [line.note for line in lines] == ["", ""]
    assert all(line.certified and line.value == line.bound > 0 for line in lines)
    small, large = lines
    assert 50 <= small.candidates <= 70
    assert 210 <= large.candidates <= 270
    assert 0 < small.cells < large.cells
    assert (small.budget, large.budget) == (30, 120)
    assert 0 < small.json_bytes < large.json_bytes
    assert 0 < small.base_bytes <= small.peak_bytes
    assert small.seconds > 0
    assert small.check_seconds > 0


def test_child_that_dies_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.scale.sys.executable", "false")
    (line,) = scale_lines(1.0, 1, (60,))
    assert (line.certified, line.note) == (False, "crashed (exit code 1)")


def test_slope_of_a_power() -> None:
    # y = 3 * x ** 2 exactly.
    assert slope([(1, 3), (2, 12), (10, 300)]) == pytest.approx(2.0)
    # Logarithms to base 2: (0, 0), (1, 2), (2, 2). Mean (1, 4/3); slope (4/3 + 2/3) / 2 = 1.
    assert slope([(1, 1), (2, 4), (4, 4)]) == pytest.approx(1.0)
    assert slope([(5, 1)]) is None
    assert slope([(5, 1), (6, 0)]) is None


def test_exponents_count_certified_sizes_only() -> None:
    lines = [
        ScaleLine(100, seconds=1.0, base_bytes=50, peak_bytes=60, certified=True),
        ScaleLine(200, seconds=2.0, base_bytes=50, peak_bytes=90, certified=True),
        ScaleLine(400, seconds=60.0, base_bytes=50, peak_bytes=900),
    ]
    growth = exponents(lines)
    assert (growth.time, growth.memory) == pytest.approx((1.0, 2.0))
    assert exponents(lines[2:]).time is None
