"""`memaudit package`: packages on disk, and the datasets and seeds they are made from."""

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from memaudit.cli.errors import FAILED, report
from memaudit.cli.package_sources import inspect, subset
from memaudit.cli.terminal import safe, safe_markup
from memaudit.kernel.errors import InvalidPackage, MemAuditError, Problem
from memaudit.kernel.exact import plain
from memaudit.kernel.package.package import Package
from memaudit.workspace.overwrite import may_write

package = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check, show, convert and describe packages.",
)


LISTS = ("units", "queries", "candidates")

Source = Annotated[Path, typer.Argument(metavar="SRC", help="A package: .json file or folder.")]
Target = Annotated[Path, typer.Argument(metavar="DST", help="A .json file or a folder to write.")]


def _facts(package: Package) -> dict[str, Any]:
    from memaudit.kernel.package.digest import digest
    from memaudit.kernel.package.package import TABLES

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


@package.command()
def validate(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Packages to check.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check packages and list every problem with its file, line and id."""
    from memaudit.kernel.io.packages import examine

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


@package.command()
def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SRC", help="A package: .json file or folder; or natural, short or long."
        ),
    ],
    target: Target,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The package of this name, if there are several."),
    ] = None,
) -> None:
    """Rewrite a package as one .json file or as a folder."""
    from memaudit.building.named_packages import SHIPPED, shipped_set
    from memaudit.kernel.io.packages import read_packages, write_package

    shipped = str(source) in SHIPPED
    packages = list(shipped_set(str(source))) if shipped else read_packages(source)
    if name is not None:
        packages = [package for package in packages if package.name == name]
        if not packages:
            raise MemAuditError(f"{source} has no package named {name!r}")
    if len(packages) > 1:
        raise MemAuditError(
            f"{source} has {len(packages)} packages, but {target} can hold only one; "
            "choose one with --name"
        )
    may_write(target, "package")
    write_package(packages[0], target)
    typer.echo(safe(f"wrote 1 package to {target}"))


@package.command()
def recost(
    source: Source,
    target: Target,
    rule: Annotated[
        str, typer.Option(metavar="RULE", help="words, unicode_words, bytes or tokens:NAME.")
    ],
) -> None:
    """Measure the cost of every candidate by another rule, and declare that rule."""
    from memaudit.kernel.io.packages import read_package, write_package

    if os.path.realpath(source) == os.path.realpath(target):
        raise MemAuditError(f"{target}: is the source itself; write to another path")
    may_write(target, "package")
    package = read_package(source).recost(rule)
    write_package(package, target)
    typer.echo(safe(f"wrote {package.name} with cost rule {rule} to {target}"))


@package.command()
def schema(
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file. Default: print it.")
    ] = None,
) -> None:
    """Print the JSON Schema of a one-file package."""
    from memaudit.kernel.io.atomic import write_file
    from memaudit.kernel.io.packages import schema_text

    if out is None:
        typer.echo(schema_text(), nl=False)
    else:
        may_write(out, "JSON Schema")
        write_file(out, schema_text())


@package.command()
def show(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A package: .json file or folder.")],
    tables: Annotated[
        list[str] | None,
        typer.Option(
            "--list", metavar="TABLE", help="List all units, queries or candidates; repeatable."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Summarise a package, or list its units, queries and candidates with their texts."""
    from memaudit.cli.package_tables import columns_of, summary
    from memaudit.cli.terminal import columns_table, console
    from memaudit.kernel.io.packages import read_packages

    for unknown in sorted({*(tables or ())} - {*LISTS}):
        raise MemAuditError(f"--list {unknown}: choose {', '.join(LISTS)}")
    chosen = [table for table in LISTS if table in (tables or ())]
    packages = read_packages(path)
    if as_json:
        data = []
        for package in packages:
            columns = columns_of(package)
            lists = {
                table: [
                    {column.key: column.value(row) for column in columns[table]}
                    for row in getattr(package, table)
                ]
                for table in chosen
            }
            data.append(_facts(package) | lists)
        typer.echo(json.dumps(data, indent=2, default=plain))
        return
    screen = console()
    for package in packages:
        screen.print(
            f"{safe_markup(package.name)}  digest {_facts(package)['digest'][:16]}  "
            f"cost rule {safe_markup(package.cost_rule)}  group cap {package.group_cap}"
        )
        for table in chosen:
            rows = getattr(package, table)
            screen.print(f"{len(rows):,} {table}")
            shown = [column for column in columns_of(package)[table] if column.short]
            screen.print(columns_table(shown, rows))
        if not chosen:
            screen.print(summary(package))
    if not chosen:
        screen.print("--list units, queries or candidates lists all rows with their texts")


@package.command()
def card(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A folder of packages, or a build."),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write. Default: DIR-card.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Its title. Default: the folder's name.")
    ] = None,
    licence: Annotated[
        str, typer.Option(metavar="TEXT", help="Its licence, as a name or an address.")
    ] = "not stated",
) -> None:
    """Write a card, Croissant metadata and provenance for packages.

    They say what there is, how it was made, what it rests on, and every hash.
    """
    from memaudit.building.data_card import write_data_card
    from memaudit.cli.terminal import publication_day
    from memaudit.kernel.io.files import beside

    target = out or beside(folder, "-card")
    made = write_data_card(
        folder, target, title or folder.resolve().name, licence, publication_day()
    )
    typer.echo(safe(f"{made.about}: {', '.join(sorted(made.texts))} in {target}"))


package.command()(inspect)
package.command()(subset)
