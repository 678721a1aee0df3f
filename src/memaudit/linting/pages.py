"""The pages of lint, of a first look and of two stores compared, each one self-contained file."""

from pathlib import Path
from typing import Any

from memaudit.kernel.exact import exact
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.number_text import percent, short_exact
from memaudit.kernel.version import VERSION
from memaudit.kernel.words.text import counted
from memaudit.linting.lint_file import LintFile, SmallestRow
from memaudit.linting.quick import FirstLook
from memaudit.linting.secrets import masked
from memaudit.show.page_kit import environment, one_file

MOST_FINDINGS = 200
"""Of one rule on a page; the JSON beside it has all of them."""

MOST_UNITS = 100
"""Of a first look, where no score is shown."""

MOST_ROWS = 500
"""Memories in one list of a comparison."""


def _page(template: str, title: str, **context: Any) -> str:
    context = {"version": VERSION, "short": _short, **context}
    return one_file(environment("memaudit.linting"), template, title=title, **context)


def _short(number: str | int | float) -> str:
    return short_exact(exact(number))


def write_lint_page(data: dict[str, Any], out: Path) -> None:
    """The page of a lint report in its JSON form."""
    report = validated(LintFile, data, "the report")
    view = lint_view(report) | {"cost": _short(report.cost)}
    write_file(out, _page("lint.html", f"{report.store}, looked over", **view))


def lint_view(report: LintFile) -> dict[str, Any]:
    """What lint_findings.html shows."""
    return {
        "report": report,
        "verdict": verdict(report),
        "rules": report.rules,
        "found": {
            rule.rule: [finding for finding in report.findings if finding.rule == rule.rule]
            for rule in report.rules
        },
        "most": MOST_FINDINGS,
        "smallest": [(store, smallest_text(report, store)) for store in report.smallest],
        "short": _short,
        "percent": percent,
    }


def verdict(report: LintFile) -> str:
    """The first line: the smallest store, or how much was found."""
    if report.smallest:
        return smallest_text(report, report.smallest[0])
    counts = [f"{rule.findings:,} {rule.rule}" for rule in report.rules if rule.findings]
    return f"Found: {', '.join(counts)}." if counts else "Nothing was found."


def smallest_text(report: LintFile, store: SmallestRow) -> str:
    """A smallest store in words."""
    share = exact(store.share)
    what = "all" if share == 1 else f"{float(share):.0%}"
    return (
        f"{len(store.memories):,} of {counted(report.memories, 'memory')} "
        f"({percent(store.cost_share)} of the cost) keep {what} of what it has for "
        f"{counted(report.units, 'unit')}: {store.proven}."
    )


def write_quick_page(
    look: FirstLook,
    in_short: str,
    scores: dict[str, Any] | None,
    report: dict[str, Any] | None,
    out: Path,
) -> None:
    """What was understood, all of it `in_short`, what is kept within a budget, and what lint found;
    the units where there is no score."""
    view = {} if report is None else lint_view(validated(LintFile, report, "the report"))
    name = look.store.name if look.store is not None else look.package.name if look.package else ""
    rows = [] if scores is None else scores["scores"]
    units = look.package.units[:MOST_UNITS] if look.package is not None and not rows else ()
    page = _page(
        "quick.html",
        f"{name}, a first look",
        in_short=in_short,
        lines=look.lines,
        steps=look.next_steps,
        rows=rows,
        estimate=look.rough,
        has_lint=bool(view),
        units=[{"id": unit.id, "kind": unit.kind, "text": masked(unit.text)} for unit in units],
        **view,
    )
    write_file(out, page)


def write_diff_page(data: dict[str, Any], out: Path) -> None:
    """The page of two stores compared; `data` is what diff_data made."""
    title = f"{data['stores'][0]} and {data['stores'][1]}"
    write_file(out, _page("diff.html", title, data=data, most=MOST_ROWS))
