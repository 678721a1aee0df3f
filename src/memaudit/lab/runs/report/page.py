"""The run report as one self-contained HTML file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.package.budgets import is_share
from memaudit.kernel.version import VERSION
from memaudit.lab.runs.package_sources import named_source
from memaudit.lab.runs.report.losses import losses
from memaudit.lab.runs.report.package_story import build_story, choose_story
from memaudit.lab.runs.report.ranking import WriterRanking, rank_writers
from memaudit.lab.runs.report.remade_packages import choose_packages, frontier_curves, remake
from memaudit.lab.runs.report.run_grids import FinishedRunData, open_run
from memaudit.show import page_charts
from memaudit.show.page_kit import environment, one_file
from memaudit.show.writer_groups import grouped

TITLE = "What was kept, and what could have been"


def write_report(folder: Path, out: Path, diagnoses: Sequence[object] = ()) -> None:
    """Build the report of a run, with views of diagnoses if any, and write it atomically."""
    write_file(out, build_report(folder, diagnoses=diagnoses))


def build_report(
    folder: Path, *, title: str | None = None, diagnoses: Sequence[object] = ()
) -> str:
    run = open_run(folder)
    ranked = rank_writers(run)
    groups = grouped([place.member for place in ranked.places])
    order = [member for _, members in groups for member in members]
    shown, choice = choose_packages(run), choose_story(run)
    in_full = [(choice.distribution, choice.seed)] if choice else []
    remade = remake(run, list(dict.fromkeys([*shown, *in_full])))
    by_name = {(package.distribution, package.seed): package for package in remade}
    drawn = frontier_curves(run, [by_name[package] for package in shown])
    return one_file(
        environment("memaudit.lab.runs.report", "memaudit.lab.downstream"),
        "page.html",
        title=title or TITLE,
        run=run,
        distributions=[(g.distribution, named_source(g.distribution)) for g in run.grids],
        budgets=list(zip(run.budgets, run.given, map(is_share, run.given), strict=True)),
        standing=ranked,
        groups=groups,
        places={place.member.name: place for place in ranked.places},
        leader=_leader(ranked),
        curves=[(curve, page_charts.plot(curve)) for curve in drawn],
        losses=losses(run, order),
        story=build_story(by_name[in_full[0]], choice, order) if choice else None,
        diagnoses=diagnoses,
        ranking_data=ranking_data(run, ranked),
        versions={"report": VERSION, **run.manifest["versions"]},
    )


def _leader(ranked: WriterRanking) -> Any:
    """The best writer that could be deployed, or None."""
    able = [p for p in ranked.places if p.member.group != "reference" and p.mean is not None]
    return able[0] if able else None


def ranking_data(run: FinishedRunData, ranked: WriterRanking) -> dict[str, Any]:
    return {
        "format": "memaudit-ranking",
        "version": 1,
        "spec_digest": run.manifest["spec_digest"],
        "packages": run.packages,
        "distinct_packages": run.distinct,
        "budgets": run.budgets,
        "ranking": [
            {
                "writer": place.member.name,
                "label": place.member.label,
                "group": place.member.group,
                "n": place.n,
                "mean_ratio": place.mean,
                "ci_low": place.low,
                "ci_high": place.high,
                "zero_optimum": place.zero,
                "uncertified": place.uncertified,
                "failed": place.failed,
            }
            for place in ranked.places
        ],
    }
