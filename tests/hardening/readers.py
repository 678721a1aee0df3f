"""Readers that no light command stands for: called as they are."""

from collections.abc import Callable
from pathlib import Path

from tests.hardening.misbehaving import MISBEHAVING


def _store(path: Path) -> None:
    from memaudit.adapters.store import read_store, store_text

    store_text(read_store(path)).encode()


def _run(folder: Path) -> None:
    from memaudit.experiments.sweep import ROWS, read_run
    from memaudit.io.journal import read_journal

    read_run(folder)
    list(read_journal(folder / ROWS))


def _subset(path: Path) -> None:
    from memaudit.datasets.subset import read_subset

    read_subset(path)


def _labels(cells: Path, *files: Path) -> None:
    from memaudit.label_audit.frame_files import read_frame, read_label_sets

    frame = read_frame(cells)
    for file in files:
        read_label_sets(file, frame)


READERS: dict[str, Callable[..., object]] = {
    "labels": _labels, "run": _run, "store": _store, "subset": _subset, **MISBEHAVING,
}  # fmt: skip
