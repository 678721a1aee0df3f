"""The explorer's server in a process of its own."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from memaudit.lab.explorer.app import explorer_app
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import Site
from memaudit.lab.serving import listen
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


@contextmanager
def in_no_time(folder: Path) -> Iterator[str]:
    """The pages of a server that has hardly any time for each, open to everybody; their origin."""
    app = explorer_app(Site(Library([folder]), seconds=0.01))
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, ws="none"))
    with listen(0) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
