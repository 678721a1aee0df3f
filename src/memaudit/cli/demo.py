"""`memaudit demo`: a short benchmark, a verified certificate, a report, and scored stores."""

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

WRITERS = """\
Each writer reads the same sessions and may keep a few memories. Its ratio is the value of what it
kept, divided by the value of the best store within the same budget. Writers that see "the package"
are references: they know what later questions need, which no product does. The others see only
what a memory system sees."""

NEXT = """
Next: open {report} and {page}
      {program} solve {package} --budget 60
      {program} score {packages} {store} --judge labels:{labels} --label-memories {memories}
      {program} run --packages natural --out out/natural
      {program} serve {out}"""

STORES = """
Now stores, as memory systems export them. Three were written by hand for {number} conversations in
the shapes of Mem0, Letta and A-Mem, so they say nothing about these systems. Every memory was
labelled twice, blind. A store's score is what it keeps within the budget, over the best store that
can be made of everything that anybody wrote; the rest of 100% is where the value was lost."""

TITLE = "Stores written by hand in the shapes of Mem0, Letta and A-Mem: no measure of these systems"
BUDGET = "60"


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder for rows, report and certificate.")
    ] = Path("out/demo"),
) -> None:
    """Rank writers, verify a certificate, write a report, and score three stores."""
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
    typer.echo(WRITERS)
    names = {
        "report": out / "report.html", "package": out / "package.json", "out": out,
        **_score_stores(out / "stores"),
    }  # fmt: skip
    typer.echo(NEXT.format(program=_program(), **{name: safe(at) for name, at in names.items()}))
    if not check["valid"]:
        raise typer.Exit(FAILED)


def _score_stores(folder: Path) -> dict[str, Path]:
    """Score the shipped stores on the natural set; returns where the files are."""
    from memaudit.cli.leaderboard import show_board
    from memaudit.cli.score_packages import ManyScoring, score_all
    from memaudit.core.budgets import asked_budgets
    from memaudit.experiments.engines.registry import named_engine
    from memaudit.io.atomic import write_bytes
    from memaudit.io.files import read_bytes
    from memaudit.io.packages import write_package
    from memaudit.io.run_folder import make_own_folder
    from memaudit.natural.build_folder import file_name
    from memaudit.natural.named_packages import NATURAL, named_places
    from memaudit.natural.named_stores import LABELS, MEMORIES, natural_stores, store_files
    from memaudit.report.leaderboard import board
    from memaudit.report.leaderboard_page import write_page
    from memaudit.scoring.label_judges import LabelJudge
    from memaudit.scoring.result import Scoring
    from memaudit.scoring.score_files import entries_of

    stores = natural_stores()[:3]
    places = named_places(NATURAL)
    typer.echo(STORES.format(number=len(places)))
    with store_files() as files:
        judge = LabelJudge(files.labels, files.memories)
        make_own_folder(folder)
        for name in (LABELS, MEMORIES, *(f"{store.name}.json" for store in stores)):
            write_bytes(folder / name, read_bytes(files.folder / name))
    packages = folder / "packages"
    make_own_folder(packages)
    for place in places:
        package = place.read()
        write_package(package, packages / file_name(package.name, "json"))
    scoring = Scoring(asked_budgets(BUDGET), {store.name: judge for store in stores})
    how = ManyScoring(stores, scoring, None, False, False)
    scored = [one.data for one in score_all(how, places, named_engine("processes").map)]
    means = board(entries_of([(data["package"], data) for data in scored if data is not None]))
    show_board(means)
    write_page(means, folder / "leaderboard.html", TITLE)
    return {
        "page": folder / "leaderboard.html", "packages": packages,
        "store": folder / f"{stores[0].name}.json", "labels": folder / LABELS,
        "memories": folder / MEMORIES,
    }  # fmt: skip


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
