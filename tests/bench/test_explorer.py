"""The explorer section: what is printed of it."""

import io

from rich.console import Console

from bench.explorer import ExplorerLine
from bench.run import Report
from bench.show import show


def test_lines_say_how_and_whether_in_time() -> None:
    lines = [
        ExplorerLine("1,000 packages", 0.412, 281_900, "Chromium 150", 0.5),
        ExplorerLine("2,565 candidates", 1.2, 560_000, "", 9.0),
    ]
    out = io.StringIO()
    show(Report(60.0, explorer=lines), Console(file=out, width=200))
    assert out.getvalue().splitlines() == [
        "explorer, 1,000 packages: 282 kB opened in Chromium 150 in 0.41 s at a load of 0.5, "
        "target below 1 s: reached",
        "explorer, 2,565 candidates: 560 kB fetched without a browser in 1.20 s at a load of 9.0, "
        "target below 1 s: not reached",
    ]
    assert Report(60.0, explorer=lines).failures == []
