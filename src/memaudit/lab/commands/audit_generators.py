"""`memaudit audit generators`: OPT of the candidates of each generator, and of all together.

Generators are compared on the same units, so what one loses against the union is what it failed to
write in any form that fits.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.options import Budgets, chosen_engine, distinct_budgets
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import console, progress, safe_markup
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.number_text import short_exact, with_interval
from memaudit.kernel.package.package import Candidate, Package
from memaudit.kernel.solvers.solve import PackageSolver
from memaudit.lab.commands.tables import plain_table

if TYPE_CHECKING:
    from memaudit.lab.sweeps.runs.spec import DrawnPlace


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
    from memaudit.lab.sweeps.runs.spec import named_places

    budgets = distinct_budgets(budget)
    places = list(named_places(packages))
    others: dict[str, DrawnPlace] | None = None
    if other is not None:
        others = {place.read().name: place for place in named_places(other)}
    rows: list[GeneratorRow] = []
    run = chosen_engine().map
    with progress("packages", len(places)) as done:
        for number, of_package in enumerate(
            run(partial(_rows, budgets, in_force().solver.seconds, others, by_kind), places),
            start=1,
        ):
            rows += of_package
            done(number)
    data = _means(rows)
    if as_json:
        typer.echo(json.dumps({"packages": len(places), "rows": data}, indent=1))
        return
    table = plain_table(
        "generator", "budget", "packages", "candidates", "OPT", "share of OPT of all"
    )
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
    budgets: tuple[Fraction, ...],
    seconds: float | None,
    others: "dict[str, DrawnPlace] | None",
    by_kind: bool,
    place: "DrawnPlace",
) -> "list[GeneratorRow]":
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

    budgets = {short_exact(row.budget): row.budget for row in rows}
    groups: dict[tuple[Fraction, str], list[GeneratorRow]] = {}
    for row in rows:
        groups.setdefault((row.budget, row.generator), []).append(row)
    data: list[dict[str, Any]] = []
    for (budget, name), own in groups.items():
        # Uncertified optima are NaN: left out of a mean, and out of its number of packages.
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


UNION = "all together"
NO_GENERATOR = "unnamed"


@dataclass(frozen=True, slots=True)
class GeneratorRow:
    """One generator on one package at one budget. A value is None where it is not certified."""

    package: str
    generator: str
    budget: Fraction
    candidates: int
    optimum: Fraction | None
    share: Fraction | None
    """Of OPT of all candidates; None where that is 0 or not certified."""


def generator_of(candidate: Candidate) -> str:
    return candidate.generator or NO_GENERATOR


def generator_rows(
    package: Package,
    budgets: Sequence[Fraction],
    seconds: float | None = None,
    by_kind: bool = False,
) -> "list[GeneratorRow]":
    """Every generator of a package alone, then all of them; or every kind of candidate."""
    own: dict[str, set[str]] = {}
    for candidate in package.candidates:
        name = candidate.kind if by_kind else generator_of(candidate)
        own.setdefault(name, set()).add(candidate.id)
    everything = PackageSolver(package)
    # Alone: candidates of others are taken away, so that nothing they cover helps.
    alone = {name: PackageSolver(_only(package, ids)) for name, ids in sorted(own.items())}
    rows: list[GeneratorRow] = []
    for budget in budgets:
        best = everything.solve(budget, seconds=seconds)
        whole = best.value if best.certified else None
        for name, solver in alone.items():
            best_alone = solver.solve(budget, seconds=seconds)
            value = best_alone.value if best_alone.certified else None
            share = value / whole if value is not None and whole else None
            rows.append(GeneratorRow(package.name, name, budget, len(own[name]), value, share))
        share = Fraction(1) if whole else None
        rows.append(
            GeneratorRow(package.name, UNION, budget, len(package.candidates), whole, share)
        )
    return rows


def _only(package: Package, ids: set[str]) -> Package:
    """The package with some of its candidates; a whole without all of its parts goes too."""
    kept = [
        candidate
        for candidate in package.candidates
        if candidate.id in ids and ids.issuperset(candidate.parts)
    ]
    left = {candidate.id for candidate in kept}
    return package.replace(
        candidates=tuple(kept),
        coverage=tuple(row for row in package.coverage if row.candidate in left),
    )


def joined(first: Package, second: Package) -> Package:
    """Two packages of the same units, with the candidates of both, each named by its generator.

    Ids of the second's candidates get the name of its generator in front.
    """
    units = {unit.id: unit.text for unit in first.units}
    if units != {unit.id: unit.text for unit in second.units}:
        raise MemAuditError(
            f"{first.name!r} and {second.name!r} have other units; generators can be compared on "
            "the same units only"
        )
    if first.cost_rule != second.cost_rule:
        raise MemAuditError(
            f"{first.name!r} measures costs by {first.cost_rule}, {second.name!r} by "
            f"{second.cost_rule}; recost one of them"
        )
    streams = [[(row.id, row.text) for row in side.experiences] for side in (first, second)]
    if streams[0] != streams[1]:
        raise MemAuditError(f"{first.name!r} and {second.name!r} are about other conversations")
    new = {candidate.id: f"second: {candidate.id}" for candidate in second.candidates}
    candidates = [
        candidate.model_copy(
            update={
                "id": new[candidate.id],
                "parts": tuple(new[part] for part in candidate.parts),
                "generator": f"second: {generator_of(candidate)}",
            }
        )
        for candidate in second.candidates
    ]
    # Coverage of the second package is on its own candidates, under their new ids.
    cells = [row.model_copy(update={"candidate": new[row.candidate]}) for row in second.coverage]
    return first.replace(
        candidates=(*first.candidates, *candidates), coverage=(*first.coverage, *cells)
    )
