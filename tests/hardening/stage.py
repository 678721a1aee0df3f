"""A process that has everything imported and forks one command after another, to be killed.

Orders come as lines of JSON on standard input: `command`, `output` (where it prints to), and what
kills it: `seconds` of time, or the number of a `call` that is never made. The answer is a line:
the exit status, and how many calls were made.
"""

import importlib
import json
import os
import signal
import sys
import time
from types import FrameType
from typing import Any

CALLS = frozenset(
    {
        *("open", "write", "flush", "fsync", "replace", "rename", "unlink", "remove"),
        *("rmdir", "mkdir", "close", "flock", "truncate", "ftruncate"),
    }
)
"""Names of functions written in C around which a file system changes."""

WARM = (
    *("memaudit.stores.registry", "memaudit.lab.labels.frame_drawing"),
    *("memaudit.lab.commands.audit", "memaudit.cli.build"),
    *("memaudit.lab.commands.diagnose", "memaudit.cli.import_store"),
    *("memaudit.cli.package", "memaudit.lab.commands.run"),
    *("memaudit.lab.sweeps.runs.summary", "memaudit.building.passes.build"),
    "memaudit.lab.explorer.bundle",
)


def count_calls(fatal: int, report: int) -> None:
    """Count such calls of this process, and die before the one with this number (0: none)."""
    made = 0

    def watch(frame: FrameType, event: str, called: Any) -> None:  # noqa: ARG001
        nonlocal made
        if event == "c_call" and called.__name__ in CALLS:
            made += 1
            if made == fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            if not fatal:
                os.pwrite(report, b"%12d" % made, 0)

    sys.setprofile(watch)


def run_child(order: dict[str, Any], report: int) -> None:
    """Run a command here and now; never returns."""
    from memaudit.cli.main import app

    out = os.open(order["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    if order.get("call") is not None:
        count_calls(order["call"], report)
    code = 1
    try:
        app(order["command"], prog_name="memaudit")
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.setprofile(None)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def warm() -> None:
    """Import and compile what commands need, once for all children."""
    for name in WARM:
        importlib.import_module(name)
    from memaudit.lab.explorer.site import read_templates
    from memaudit.lab.sweeps.runs.spec import RunSpec
    from memaudit.lab.sweeps.runs.sweep import SweepChunk, resolve, rows_of

    read_templates()
    spec = RunSpec(("base",), (0,), ("2",), ("opt", "gvt"))
    rows_of(spec, resolve(spec), SweepChunk(range(1), 0))


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warm()
    report = os.memfd_create("calls")
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        os.pwrite(report, b" " * 12, 0)
        child = os.fork()
        if child == 0:
            run_child(order, report)
        if "seconds" in order:
            time.sleep(order["seconds"])
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        calls = int(os.pread(report, 12, 0).strip() or b"0")
        print(json.dumps([os.waitstatus_to_exitcode(status), calls]), file=answers, flush=True)


if __name__ == "__main__":
    main()
