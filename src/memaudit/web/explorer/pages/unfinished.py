"""The page of a run that is not finished: how far it is, and the command that goes on."""

import shlex
from typing import TYPE_CHECKING

from memaudit.core.errors import MemAuditError
from memaudit.experiments.sweep import read_run
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.folders import WRITTEN
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.library.run_rows import rows_written

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site


def unfinished(site: "Site", found: Found, address: str) -> str | None:
    """The page in place of one of a run's pages; None if the run is finished by now."""
    if found.count(WRITTEN) is None:
        return None
    written, rows = rows_written(found.path), found.count("rows") or 0
    if written >= rows:
        return None
    return site.render(
        "run_unfinished.html", address, found.name,
        crumbs=(("Runs", addresses.INDEX + "#runs"),), found=found, written=written, rows=rows,
        command=command(found),
    )  # fmt: skip


def command(found: Found) -> str:
    """What was asked for, to be asked for again."""
    spec = read_run(found.path)["spec"]
    try:
        seeds = str(spec["seeds"])
        words = [
            "memaudit", "run", "--distributions", ",".join(spec["distributions"]),
            "--seeds", f"{seeds}," if seeds.isdecimal() else seeds,
            "--budgets", ",".join(spec["budgets"]), "--writers", ",".join(spec["writers"]),
        ]  # fmt: skip
        if spec.get("seconds") is not None:
            words += ["--seconds", f"{spec['seconds']:g}"]
    except (KeyError, TypeError, ValueError):
        raise MemAuditError(f"{found.place}: its manifest does not say what it runs") from None
    return shlex.join([*words, "--out", found.place])
