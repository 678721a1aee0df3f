"""A process with little memory that runs commands on hostile files and reports what they did."""

import io
import json
import os
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import InvalidPackage, Problem


def _raise(error: Exception) -> None:
    raise error


MISBEHAVING: dict[str, Callable[..., object]] = {
    "traceback": lambda _: _raise(KeyError("x")),
    "waits": lambda _: time.sleep(600),
    "dies": lambda _: os.abort(),
    "grows": lambda _: [bytes(100 << 20) for _ in range(40)],
    "reads-elsewhere": lambda _: Path("/etc/passwd").read_bytes(),
    "climbs": lambda path: (path.parent / ".." / "escaped").touch(),
    "runs-code": lambda _: os.system("true"),
    "leaves": lambda path: (path.parents[1] / "out" / ".x.new-part").touch(),
    "fine": lambda _: _raise(InvalidPackage([Problem("wrong"), Problem("worse")])),
}
"""By name; `fine` is an honest refusal."""


def _store(path: Path) -> None:
    from memaudit.kernel.io.store_file import read_store, store_text

    store_text(read_store(path)).encode()


READERS: dict[str, Callable[..., object]] = {
    "store": _store,
    **MISBEHAVING,
}


MEMORY = 1536 << 20
"""Bytes of address space: an input of a few megabytes must not ask for more."""

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {
    *("os.mkdir", "os.remove", "os.rmdir", "os.rename", "os.link", "os.symlink"),
    *("os.truncate", "os.chmod", "os.chown", "shutil.rmtree", "shutil.move"),
}
NEVER = {
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "subprocess.Popen"),
    *("socket.connect", "socket.bind", "socket.getaddrinfo", "pickle.find_class"),
    "os.kill",
}
SYSTEM = (
    *map(os.path.realpath, (sys.prefix, sys.base_prefix, *filter(None, sys.path), "/proc/self")),
    "/usr",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/hostname",
    "/dev/null",
)
"""What a program reads for itself; /etc/hostname stands for a tokenizer that a package names."""


class Watch:
    """Notes what a command touches outside the folders it was given."""

    def __init__(self) -> None:
        self.reads: tuple[str, ...] = ()
        self.writes: tuple[str, ...] = ()
        self.seen: list[str] = []
        self.is_on = False
        sys.addaudithook(self._event)

    def start(self, reads: list[str], writes: list[str]) -> None:
        self.writes = tuple(map(os.path.realpath, writes))
        self.reads = (*map(os.path.realpath, reads), *self.writes, *SYSTEM)
        self.seen, self.is_on = [], True

    def stop(self) -> list[str]:
        self.is_on = False
        return self.seen

    def _event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        if event == "socket.bind" and arguments[1] == ("::1", 0):
            return  # urllib3, when it is imported, tries whether there is IPv6
        if event in NEVER:
            self.seen.append(f"{event}{arguments!r:.200}")
        elif event == "open" and isinstance(arguments[0], str | bytes):
            self._check(event, arguments[0], bool(arguments[2] & WRITING))
        elif event in ("os.remove", "os.rmdir") and arguments[-1] >= 0:
            pass  # inside a tree that is being deleted, which was an event of its own
        elif event in CHANGES:
            for path in arguments[: 2 if event == "os.rename" else 1]:
                if isinstance(path, str | bytes | os.PathLike):
                    self._check(event, path, True)

    def _check(self, event: str, path: Any, writes: bool) -> None:
        self.is_on = False  # looking at the path is an event as well
        text = os.path.normpath(os.path.abspath(os.fsdecode(path)))
        folder = os.path.join(os.path.realpath(os.path.dirname(text)), os.path.basename(text))
        roots = self.writes if writes else self.reads
        if not any(folder == root or folder.startswith(f"{root}/") for root in roots):
            self.seen.append(f"{event} {'writes' if writes else 'reads'} {folder[:300]}")
        self.is_on = True


def run_command(arguments: list[str]) -> dict[str, Any]:
    """What `memaudit ARGUMENTS` ends with and prints; the traceback of what it lets escape."""
    from typer.testing import CliRunner

    from memaudit.cli.main import app

    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, arguments)
    escaped = result.exception if not isinstance(result.exception, SystemExit) else None
    trace = "" if escaped is None else "".join(traceback.format_exception(escaped))
    return {"code": result.exit_code, "out": result.stdout, "err": result.stderr, "trace": trace}


def run_function(name: str, paths: list[str]) -> dict[str, Any]:
    """The same for a reader that has no command of its own."""
    import typer

    from memaudit.cli.errors import reported

    said, code, trace = io.StringIO(), 0, ""
    try:
        with redirect_stderr(said), reported():
            READERS[name](*map(Path, paths))
    except typer.Exit as end:
        code = end.exit_code
    except Exception:  # noqa: BLE001 - whatever escapes is what we are looking for
        code, trace = 1, traceback.format_exc()
    return {"code": code, "out": "", "err": said.getvalue(), "trace": trace}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    watch = Watch()
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        job = json.loads(line)
        tempfile.tempdir = job["temporary"]
        answer = []
        for command in job["commands"]:
            watch.start(job["reads"], [*job["writes"], job["temporary"]])
            if command[0].startswith("reader:"):
                one = run_function(command[0].removeprefix("reader:"), command[1:])
            else:
                one = run_command(command)
            answer.append({**one, "touched": watch.stop()})
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        answers.write(json.dumps({"commands": answer, "kilobytes": used}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
