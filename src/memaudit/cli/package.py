"""Commands about packages on disk: validate, show, convert, recost, schema."""

import json
import os
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Column, Table

from memaudit.cli.errors import FAILED, report
from memaudit.cli.terminal import safe, safe_markup
from memaudit.core.errors import InvalidPackage, MemAuditError, Problem
from memaudit.core.exact import plain
from memaudit.core.number_text import short_exact, significant
from memaudit.core.package import Package
from memaudit.io.overwrite import may_write


def summary(package: Package) -> Table:
    table = Table("what", Column("kind", overflow="fold"), "count", "total", "range")
    table.add_row("experiences", "", str(len(package.experiences)), "", "")
    for kind in sorted({candidate.kind for candidate in package.candidates}):
        costs = [candidate.cost for candidate in package.candidates if candidate.kind == kind]
        table.add_row("candidates (cost)", safe_markup(kind), *_numbers(costs))
    for kind in sorted({unit.kind for unit in package.units}):
        weights = [package.weights[unit.id] for unit in package.units if unit.kind == kind]
        table.add_row("units (weight)", safe_markup(kind), *_numbers(weights))
    table.add_row("queries", "", str(len(package.queries)), "", "")
    table.add_row("coverage", "", *_numbers([cell.value for cell in package.coverage]))
    return table


def _numbers(numbers: Iterable[Fraction]) -> tuple[str, str, str]:
    """Count, total and range."""
    ordered = sorted(numbers)
    if not ordered:
        return "0", "", ""
    return (
        str(len(ordered)),
        significant(sum(ordered, Fraction(0)), 6),
        f"{significant(ordered[0], 6)} - {significant(ordered[-1], 6)}",
    )


def rows_of(package: Package, table: str) -> list[dict[str, Any]]:
    """The units, queries or candidates of a package, each with what it is connected to."""
    if table == "queries":
        return [
            {
                "id": row.id,
                "kind": row.kind,
                "importance": row.importance,
                "requires": row.required,
                "text": row.text,
                "answer": row.answer,
            }
            for row in package.queries
        ]
    covers, covered_by = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for cell in package.coverage:
        if cell.value:
            covers[cell.candidate].append(cell.unit)
            covered_by[cell.unit].append(cell.candidate)
    if table == "units":
        return [
            {
                "id": row.id,
                "kind": row.kind,
                "weight": package.weights[row.id],
                "covered_by": covered_by[row.id],
                "text": row.text,
            }
            for row in package.units
        ]
    return [
        {
            "id": row.id,
            "experience": row.experience,
            "kind": row.kind,
            "cost": row.cost,
            "covers": covers[row.id],
            "text": row.text,
        }
        for row in package.candidates
    ]


COLUMNS = {
    "units": ("id", "kind", "weight", "text"),
    "queries": ("id", "importance", "requires", "text"),
    "candidates": ("id", "kind", "cost", "covers", "text"),
}
"""What is readable on a terminal. JSON has everything."""


def listing(table: str, rows: Iterable[dict[str, Any]]) -> Table:
    """All rows. Long texts are wrapped, and the answer of a query is below its question."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in COLUMNS[table]:
        number = name in ("weight", "importance", "cost", "covers")
        made.add_column(name, justify="right" if number else "left", overflow="fold")
    for row in rows:
        made.add_row(*(_cell(row, name) for name in COLUMNS[table]))
    return made


def _cell(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if isinstance(value, Fraction):
        return short_exact(value)
    if name == "covers":
        return str(len(value))
    if name == "requires":
        value = ", ".join(value)
    if name == "text" and row.get("answer"):
        return f"{safe_markup(value)}\n→ {safe_markup(row['answer'])}"
    return safe_markup(value)


Source = Annotated[Path, typer.Argument(metavar="SRC", help="A package: .json file or folder.")]
Target = Annotated[Path, typer.Argument(metavar="DST", help="A .json file or a folder to write.")]


def _facts(package: Package) -> dict[str, Any]:
    from memaudit.core.digest import digest
    from memaudit.core.package import TABLES

    return {
        "name": package.name,
        "digest": digest(package),
        "counts": {table: len(getattr(package, table)) for table in TABLES},
        "cost_rule": package.cost_rule,
        "group_cap": package.group_cap,
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.line or None,
        "id": problem.id or None,
        "message": problem.message,
        "fix": problem.fix or None,
    }


def validate(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Packages to check.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check packages and list every problem with its file, line and id."""
    from memaudit.io.packages import examine

    results = []
    for path in paths:
        packages, problems = examine(path)
        facts = [_facts(package) for package in packages]
        results.append(
            {"path": str(path), "packages": facts, "problems": [_problem(p) for p in problems]}
        )
        if as_json:
            continue
        for fact in facts if not problems else []:
            counts = ", ".join(f"{count} {table}" for table, count in fact["counts"].items())
            line = (
                f"OK {fact['name']} {fact['digest'][:16]} {counts}, cost rule {fact['cost_rule']}"
            )
            typer.echo(safe(line))
        if problems:
            report(InvalidPackage(problems, str(path)))
    if as_json:
        typer.echo(json.dumps(results, indent=2))
    if any(result["problems"] for result in results):
        raise typer.Exit(FAILED)


def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SRC", help="A package: .json file or folder; or natural, short or long."
        ),
    ],
    target: Target,
    to: Annotated[
        str,
        typer.Option(metavar="FORM", help="auto (from the suffix of DST) or artifact."),
    ] = "auto",
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Convert only the package of this name. Default: all."),
    ] = None,
) -> None:
    """Rewrite packages as one .json file, a folder, or the published layout."""
    from memaudit.io.packages import read_packages, write_package
    from memaudit.io.published_folder import write_artifact
    from memaudit.natural.named_packages import SHIPPED, shipped_set

    shipped = str(source) in SHIPPED
    packages = list(shipped_set(str(source))) if shipped else read_packages(source)
    if name is not None:
        packages = [package for package in packages if package.name == name]
        if not packages:
            raise MemAuditError(f"{source} has no package named {name!r}")
    if to == "artifact":
        write_artifact(packages, target)
    elif to != "auto":
        raise MemAuditError(f"unknown form {to!r}; choose auto or artifact")
    elif len(packages) > 1:
        raise MemAuditError(
            f"{source} has {len(packages)} packages, but {target} can hold only one; "
            "choose one with --name, or write them all with --to artifact"
        )
    else:
        may_write(target, "package")
        write_package(packages[0], target)
    typer.echo(safe(f"wrote {len(packages)} package{'s'[: len(packages) != 1]} to {target}"))


def recost(
    source: Source,
    target: Target,
    rule: Annotated[
        str, typer.Option(metavar="RULE", help="words, unicode_words, bytes or tokens:NAME.")
    ],
) -> None:
    """Measure the cost of every candidate by another rule, and declare that rule."""
    from memaudit.io.packages import read_package, write_package

    if os.path.realpath(source) == os.path.realpath(target):
        raise MemAuditError(f"{target}: is the source itself; write to another path")
    may_write(target, "package")
    package = read_package(source).recost(rule)
    write_package(package, target)
    typer.echo(safe(f"wrote {package.name} with cost rule {rule} to {target}"))


def schema(
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file. Default: print it.")
    ] = None,
) -> None:
    """Print the JSON Schema of a one-file package."""
    from memaudit.io.atomic import write_file
    from memaudit.io.packages import schema_text

    if out is None:
        typer.echo(schema_text(), nl=False)
    else:
        may_write(out, "JSON Schema")
        write_file(out, schema_text())


def show(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A package: .json file or folder.")],
    units: Annotated[bool, typer.Option("--units", help="List all units.")] = False,
    queries: Annotated[bool, typer.Option("--queries", help="List all queries.")] = False,
    candidates: Annotated[bool, typer.Option("--candidates", help="List all candidates.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Summarise a package, or list its units, queries and candidates with their texts."""
    from memaudit.cli.terminal import console
    from memaudit.io.packages import read_packages

    asked = {"units": units, "queries": queries, "candidates": candidates}
    tables = [table for table, wanted in asked.items() if wanted]
    packages = read_packages(path)
    if as_json:
        data = [
            _facts(package) | {table: rows_of(package, table) for table in tables}
            for package in packages
        ]
        typer.echo(json.dumps(data, indent=2, default=plain))
        return
    screen = console()
    for package in packages:
        screen.print(
            f"{safe_markup(package.name)}  digest {_facts(package)['digest'][:16]}  "
            f"cost rule {safe_markup(package.cost_rule)}  group cap {package.group_cap}"
        )
        for table in tables:
            rows = rows_of(package, table)
            screen.print(f"{len(rows):,} {table}")
            screen.print(listing(table, rows))
        if not tables:
            screen.print(summary(package))
    if not tables:
        screen.print("--units, --queries and --candidates list all rows with their texts")
