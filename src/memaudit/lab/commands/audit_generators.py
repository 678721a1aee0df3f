"""`memaudit audit generators`: what each candidate generator of packages can reach."""

import json
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from memaudit.cli.options import Budgets, chosen_engine, distinct_budgets
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import console, progress, safe_markup
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.number_text import short_exact, with_interval

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from memaudit.building.named_packages import NamedPlace
    from memaudit.lab.labels.generation_loss import GeneratorRow


def generators(
    packages: Annotated[
        str,
        typer.Argument(
            metavar="PACKAGES",
            help="A file, a folder, a build, or a shipped set: natural, short or long.",
        ),
    ],
    other: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="PACKAGES",
            help="Packages of the same conversations and units, with candidates of another "
            "generator.",
        ),
    ] = None,
    by_kind: Annotated[
        bool,
        typer.Option("--by-kind", help="Compare kinds of candidates instead of generators."),
    ] = False,
    budget: Budgets = "30,60,100",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare candidate generators: OPT of each alone, and of all together.

    The difference is generation loss: what no candidate of a generator says in a form that fits.
    """
    from memaudit.lab.runs.package_sources import named_places

    budgets = distinct_budgets(budget)
    places = list(named_places(packages))
    others: dict[str, NamedPlace] | None = None
    if other is not None:
        others = {place.read().name: place for place in named_places(other)}
    rows: list[GeneratorRow] = []
    run = chosen_engine().map
    with progress("packages", len(places)) as done:
        for number, found in enumerate(
            run(partial(_rows, budgets, in_force().solver.seconds, others, by_kind), places),
            start=1,
        ):
            rows += found
            done(number)
    data = _means(rows)
    if as_json:
        typer.echo(json.dumps({"packages": len(places), "rows": data}, indent=1))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("generator", overflow="fold")
    for name in ("budget", "packages", "candidates", "OPT", "share of OPT of all"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in data:
        optimum, share = (
            with_interval(row[name]["mean"], row[name]["ci_low"], row[name]["ci_high"])
            for name in ("optimum", "share")
        )
        table.add_row(
            safe_markup(row["generator"]),
            row["budget"],
            str(row["packages"]),
            f"{row['candidates']:.1f}",
            optimum.replace("[", r"\["),
            share.replace("[", r"\["),
        )
    console().print(table)


def _rows(
    budgets: "tuple[Fraction, ...]",
    seconds: float | None,
    others: "dict[str, NamedPlace] | None",
    by_kind: bool,
    place: "NamedPlace",
) -> "list[GeneratorRow]":
    from memaudit.lab.labels.generation_loss import generator_rows, joined

    package = place.read()
    if others is not None:
        if package.name not in others:
            raise MemAuditError(f"--with has no package called {package.name!r}")
        package = joined(package, others[package.name].read())
    return generator_rows(package, budgets, seconds, by_kind)


def _means(rows: "Sequence[GeneratorRow]") -> list[dict[str, Any]]:
    """Means over packages, with intervals where there are several."""
    import numpy as np

    from memaudit.kernel.stats.bootstrap import mean_intervals, resample_counts
    from memaudit.lab.labels.generation_loss import UNION

    budgets = {short_exact(row.budget): row.budget for row in rows}
    groups: dict[tuple[Fraction, str], list[GeneratorRow]] = {}
    for row in rows:
        groups.setdefault((row.budget, row.generator), []).append(row)
    data: list[dict[str, Any]] = []
    for (budget, name), own in groups.items():
        numbers = np.array(
            [
                [np.nan if value is None else float(value) for value in (row.optimum, row.share)]
                for row in own
            ]
        )
        optimum, share = (
            mean.if_several for mean in mean_intervals(numbers, resample_counts(len(own)))
        )
        data.append(
            {
                "generator": name,
                "budget": short_exact(budget),
                "packages": len(own),
                "candidates": sum(row.candidates for row in own) / len(own),
                "optimum": optimum.to_json(),
                "share": share.to_json(),
            }
        )
    return sorted(data, key=lambda row: (budgets[row["budget"]], row["generator"] == UNION))
