"""Figures drawn again: the same program and libraries give the same bytes."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from memaudit.reproduce.folder import FIGURES, files_in
from memaudit.reproduce.settings import source_digest, versions
from memaudit.reproduce.verify.report import Report
from memaudit.reproduce.verify.stated import Stated

Pen = Callable[[Path, Path], object]
"""Draws the figures of a reproduction into a folder."""


def check_figures(folder: Path, stated: Stated, pen: Pen | None, report: Report) -> None:
    """Compare all files; of other libraries or another program they are known by hash only."""
    there = set(stated.parts.get(FIGURES, ()))
    if pen is None:
        report.unverified |= dict.fromkeys(there, "by hash only: it was not drawn again")
        return
    other = _others(stated)
    with tempfile.TemporaryDirectory() as temporary:
        again = Path(temporary)
        pen(folder, again)
        expected = {f"{FIGURES}/{name}": again / name for name in files_in(again)}
        for name in sorted(there | expected.keys()):
            same = name in there and name in expected
            if same and (folder / name).read_bytes() == expected[name].read_bytes():
                report.checked["figures"] += 1
            elif not other:
                report.problem(name, "is not what is drawn from the runs")
            elif name in there:
                report.unverified[name] = f"by hash only: {other}"


def _others(stated: Stated) -> str:
    """What may have drawn a figure otherwise, or an empty text."""
    here = versions()
    for name in sorted(stated.versions.keys() | here.keys()):
        said = stated.versions.get(name, "unknown")
        if said != here.get(name):
            return f"{name} was {said}, here it is {here.get(name, 'unknown')}"
    if stated.identity.source != source_digest():
        return "another program drew it"
    return ""
