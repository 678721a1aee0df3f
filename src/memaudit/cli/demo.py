"""`memaudit demo`: a short benchmark, a verified certificate, and a report."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.core.package import Package

EXPLANATION = """
Each writer reads the same sessions and may keep a few memories. Its ratio is the value of what it
kept, divided by the value of the best store within the same budget. Writers that see "the package"
are references: they know what later questions need, which no product does. The others see only
what a memory system sees.

Next: open {report}
      {program} solve {package} --budget 60
      {program} run --suite controlled --out out/controlled
      {program} serve {out}"""


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder for rows, report and certificate.")
    ] = Path("out/demo"),
) -> None:
    """Rank the writers on a short suite, verify a certificate, and write an HTML report."""
    from memaudit.cli.run import run_sweep, show_ranking
    from memaudit.core.budgets import split_budgets
    from memaudit.core.seeds import parse_seeds
    from memaudit.experiments.engines.registry import named_engine
    from memaudit.experiments.spec import RunSpec, named_suite
    from memaudit.experiments.sweep import read_run
    from memaudit.generators.registry import named_distribution
    from memaudit.report.run_report.page import write_report

    suite = named_suite("demo")
    spec = RunSpec(
        suite.distributions, parse_seeds(suite.seeds), split_budgets(suite.budgets), suite.writers
    )
    run = out / "run"
    summary = run_sweep(spec, run, named_engine("processes"))
    typer.echo(
        f"{spec.packages} packages, {len(spec.budgets)} budgets, {len(spec.writers)} writers: "
        f"{spec.rows} rows, every optimum certified"
        if not any(row["uncertified"] for row in summary["rows"])
        else f"{spec.rows} rows"
    )
    show_ranking(summary)
    budget = max(map(int, read_run(run)["budgets"].values()))
    package = named_distribution(spec.distributions[0]).package(spec.seeds[0])
    check = _certified(package, budget, out)
    write_report(run, out / "report.html")
    names = {"report": out / "report.html", "package": out / "package.json", "out": out}
    typer.echo(
        EXPLANATION.format(program=_program(), **{name: safe(at) for name, at in names.items()})
    )
    if not check["valid"]:
        raise typer.Exit(FAILED)


def _program() -> str:
    """The command to type: `memaudit`, or its path if the shell would not find it."""
    path = Path(sys.argv[0])
    if shutil.which("memaudit") or path.name != "memaudit":
        return "memaudit"
    return safe(os.path.relpath(path))


def _certified(package: "Package", budget: int, out: Path) -> dict[str, Any]:
    """Solve one package, write it and its certificate, and check what is on disk."""
    from memaudit.cli.verify import checked, line_of
    from memaudit.core.digest import digest
    from memaudit.io.certificates import read_certificates, write_certificates
    from memaudit.io.packages import read_package, write_package
    from memaudit.solvers.solve import solve

    optimum = solve(package, budget)
    if optimum.certificate is None:
        raise MemAuditError(f"{package.name} was not solved to optimality: {optimum.note}")
    write_package(package, out / "package.json")
    write_certificates([optimum.certificate], out / "certificate.json")
    reread = read_package(out / "package.json")
    (certificate,) = read_certificates(out / "certificate.json")
    check = checked(certificate, {digest(reread): reread})
    typer.echo(safe(line_of(check)))
    return check
