"""One page of a first look: what was understood, the score, and what lint found."""

from pathlib import Path
from typing import Any

from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.version import VERSION
from memaudit.linting.lint_file import LintFile
from memaudit.linting.lint_page import lint_view
from memaudit.linting.quick import FirstLook
from memaudit.linting.secrets import masked
from memaudit.show.page_kit import environment, one_file

MOST_UNITS = 100


def write_page(
    look: FirstLook, scores: dict[str, Any] | None, report: dict[str, Any] | None, out: Path
) -> None:
    view = {} if report is None else lint_view(validated(LintFile, report, "the report"))
    name = look.store.name if look.store is not None else look.package.name if look.package else ""
    rows = [] if scores is None else scores["scores"]
    page = one_file(
        environment("memaudit.linting"),
        "quick.html",
        title=f"{name}, a first look",
        lines=look.lines,
        steps=look.next_steps,
        rows=rows,
        estimate=look.rough,
        has_lint=bool(view),
        units=[]
        if rows or look.package is None
        else [
            {"id": unit.id, "kind": unit.kind, "text": masked(unit.text)}
            for unit in look.package.units[:MOST_UNITS]
        ],
        **({"version": VERSION} | view),
    )
    write_file(out, page)
