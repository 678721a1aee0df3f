"""The explorer's server in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lab.labels.annotate.small_frames import Served


@contextmanager
def exploring(*arguments: Path | str) -> Iterator[Served]:
    """`memaudit serve` on some folders."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memaudit.cli.main", "serve", *map(str, arguments), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        first, address = process.stdout.readline(), process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.communicate()
        yield Served(process, address, first.strip())
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
