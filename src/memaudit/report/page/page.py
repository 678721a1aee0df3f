"""The page itself: numbers gathered, handed to the templates, written in one step."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from memaudit.experiments.spec import is_fraction
from memaudit.generators.registry import named_distribution
from memaudit.io.atomic import write_file
from memaudit.report.one_file import one_file
from memaudit.report.page import charts, numbers
from memaudit.report.page.cast import GROUP_NOTES, GROUP_TITLES, OPT, grouped
from memaudit.report.page.choice import choose
from memaudit.report.page.curves import choose_packages, curves
from memaudit.report.page.losses import losses
from memaudit.report.page.packages import remake
from memaudit.report.page.run import Run, open_run
from memaudit.report.page.standing import Standing, standing
from memaudit.report.page.story import MOST_LETTERS, tell
from memaudit.report.page.visible import shortened, visible_text
from memaudit.stats.intervals import FLIPS, LEVEL, RESAMPLES

TITLE = "What was kept, and what could have been"


def write_report(folder: Path, out: Path, diagnoses: Sequence[object] = ()) -> None:
    """Build the report of a run and write it, all or nothing; with views of diagnoses, if any."""
    write_file(out, build_report(folder, diagnoses=diagnoses))


def build_report(
    folder: Path, *, title: str | None = None, diagnoses: Sequence[object] = ()
) -> str:
    """The report of a finished run, as one HTML file that needs nothing else."""
    run = open_run(folder)
    ranked = standing(run)
    groups = grouped([place.member for place in ranked.places])
    order = [member for _, members in groups for member in members]
    shown, choice = choose_packages(run), choose(run)
    told = [(choice.distribution, choice.seed)] if choice else []
    remade = remake(run, [*shown, *(one for one in told if one not in shown)])
    by_name = {(one.distribution, one.seed): one for one in remade}
    drawn = curves(run, [by_name[package] for package in shown])
    return one_file(
        environment(),
        "page.html",
        title=title or TITLE,
        run=run,
        distributions=[(g.distribution, named_distribution(g.distribution)) for g in run.grids],
        budgets=list(zip(run.budgets, run.given, map(is_fraction, run.given), strict=True)),
        standing=ranked,
        groups=groups,
        places={place.member.name: place for place in ranked.places},
        leader=_leader(ranked),
        curves=[(curve, charts.plot(curve)) for curve in drawn],
        losses=losses(run, order),
        story=tell(by_name[told[0]], choice, order) if choice else None,
        diagnoses=diagnoses,
        ranking_data=ranking_data(run, ranked),
        versions={"report": version("memaudit"), **run.manifest["versions"]},
    )


def environment(*in_front: str) -> Environment:
    """Templates that escape everything, nothing in them is declared safe; other packages' first."""
    jinja = Environment(
        loader=ChoiceLoader([PackageLoader(one) for one in (*in_front, "memaudit.report.page")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    for show in (
        numbers.ratio, numbers.difference, numbers.amount, numbers.change, numbers.p_value,
        numbers.precise, numbers.share, numbers.percent, shortened,
    ):  # fmt: skip
        jinja.filters[show.__name__] = show
    jinja.globals.update(
        OPT=OPT, LEVEL=LEVEL, RESAMPLES=RESAMPLES, FLIPS=FLIPS, GROUP_TITLES=GROUP_TITLES,
        GROUP_NOTES=GROUP_NOTES, MOST_LETTERS=MOST_LETTERS, charts=charts,
    )  # fmt: skip
    return jinja


def _shown(value: object) -> object:
    """Every text of an expression passes here; what a macro made has passed already."""
    return (
        visible_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value
    )


def _leader(ranked: Standing) -> Any:
    """The best writer that could be deployed, or None."""
    able = [p for p in ranked.places if p.member.group != "reference" and p.mean is not None]
    return able[0] if able else None


def ranking_data(run: Run, ranked: Standing) -> dict[str, Any]:
    """The ranking for programs."""
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
