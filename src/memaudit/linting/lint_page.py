"""The page of a lint report: what was found in a store, with its evidence, in one HTML file."""

from pathlib import Path
from typing import Any

from memaudit.kernel.exact import exact
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.number_text import percent, short_exact
from memaudit.kernel.version import VERSION
from memaudit.kernel.words.text import counted
from memaudit.linting.lint_file import LintFile, SmallestRow
from memaudit.show.page_kit import environment, one_file

MOST_FINDINGS = 200
"""Of one rule on a page; the JSON beside it has all of them."""


def write_page(data: dict[str, Any], out: Path) -> None:
    write_file(out, build_page(validated(LintFile, data, "the report")))


def build_page(report: LintFile) -> str:
    """One self-contained HTML file."""
    return one_file(
        environment("memaudit.linting"),
        "lint.html",
        title=f"{report.store}, looked over",
        version=VERSION,
        cost=short_exact(exact(report.cost)),
        **lint_view(report),
    )


def lint_view(report: LintFile) -> dict[str, Any]:
    """What lint_findings.html shows."""
    return {
        "report": report,
        "verdict": verdict(report),
        "rules": report.rules,
        "found": {
            rule.rule: [one for one in report.findings if one.rule == rule.rule]
            for rule in report.rules
        },
        "most": MOST_FINDINGS,
        "smallest": [(one, smallest_text(report, one)) for one in report.smallest],
        "short": lambda number: short_exact(exact(number)),
        "percent": percent,
    }


def verdict(report: LintFile) -> str:
    """The first line: the smallest store, or how much was found."""
    if report.smallest:
        return smallest_text(report, report.smallest[0])
    found = [f"{rule.findings:,} {rule.rule}" for rule in report.rules if rule.findings]
    return f"Found: {', '.join(found)}." if found else "Nothing was found."


def smallest_text(report: LintFile, one: SmallestRow) -> str:
    """A smallest store in words."""
    share = exact(one.share)
    what = "all" if share == 1 else f"{float(share):.0%}"
    return (
        f"{len(one.memories):,} of {counted(report.memories, 'memory')} "
        f"({percent(one.cost_share)} of the cost) keep {what} of what it has for "
        f"{counted(report.units, 'unit')}: {one.proven}."
    )
