"""The questions of the own natural set, asked again in full."""

import tempfile
from pathlib import Path
from typing import Any

from memaudit.downstream.run import MEMORIES, SPEC
from memaudit.io.strict_json import read_object
from memaudit.reproduce.folder import DOWNSTREAM, ROWS, SUMMARY
from memaudit.reproduce.settings import Settings
from memaudit.reproduce.tables import make_downstream
from memaudit.reproduce.verify.report import Report
from memaudit.reproduce.verify.rows import read_text


def check_downstream(folder: Path, settings: Settings, report: Report) -> None:
    """Rows and memories are the same texts, the rest the same but for versions, which are told."""
    with tempfile.TemporaryDirectory() as temporary:
        again = Path(temporary, DOWNSTREAM)
        make_downstream(again, settings.packages)
        for name in (ROWS, MEMORIES, SPEC, SUMMARY):
            path = f"{DOWNSTREAM}/{name}"
            read = _read if name in (SPEC, SUMMARY) else read_text
            with report.reading(path):
                if read(folder / path) != read(again / name):
                    report.problem(path, "comes out otherwise when it is computed again")


def _read(path: Path) -> dict[str, Any]:
    data = read_object(path, "make it again")
    spec = data.get("spec")
    if isinstance(spec, dict):
        spec.pop("versions", None)
    return data
