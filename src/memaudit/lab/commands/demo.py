"""`memaudit demo`: a short benchmark, a verified certificate, a report, and scored stores."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.terminal import safe
from memaudit.kernel.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.kernel.package.package import Package

WRITERS = """\
Each writer reads the same sessions and may keep a few memories. Its ratio is the value of what it
kept, divided by the value of the best store within the same budget. Writers that see "the package"
are references: they know what later questions need, which no product does. The others see only
what a memory system sees."""

NEXT = """
Next: open {report} and {page}
      {program} solve {package} --budget 60
      {program} score {store_package} {first} {second} --budget 120,400 \\
          --judge labels:{labels} --set judge.memories={memories}
      {program} board
      {program} run --packages natural --out out/natural
      {program} serve {out}"""

STORES = """
Now what real memory systems wrote: {stores} about one conversation, {conversation}. A language
model answered in place of the model behind them, and every memory was labelled twice, blind. A
store's score is what it keeps within the budget, over the best store that can be made of everything
that anybody wrote; the rest of 100% is where the value was lost."""

BOARD = """
All systems and conversations of the board that ships with MemAudit:"""

CONVERSATION, SYSTEMS = "bakery-flour", ("mem0", "letta")
BUDGET = "250"


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder for rows, report and certificate.")
    ] = Path("out/demo"),
) -> None:
    """Rank writers, verify a certificate, write a report, and score two stores."""
    from memaudit.kernel.package.budgets import split_budgets
    from memaudit.lab.commands.run import run_sweep, show_ranking
    from memaudit.lab.sweeps.generators.registry import named_distribution
    from memaudit.lab.sweeps.runs.report.page import write_report
    from memaudit.lab.sweeps.runs.spec import RunSpec, named_suite, parse_seeds
    from memaudit.lab.sweeps.runs.sweep import read_run
    from memaudit.workspace.engines import named_engine

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
        "report": out / "report.html",
        "package": out / "package.json",
        "out": out,
        **_score_stores(out / "stores"),
    }
    typer.echo(NEXT.format(program=_program(), **{name: safe(at) for name, at in names.items()}))
    if not check["valid"]:
        raise typer.Exit(FAILED)


def _score_stores(folder: Path) -> dict[str, Path]:
    """Score two captured stores and show the board; returns where the files are."""
    from memaudit.board.board_folder import read_board, shipped_board
    from memaudit.board.board_of_systems import board_of_systems
    from memaudit.board.board_page import write_board_page
    from memaudit.cli.board import show_board
    from memaudit.cli.score_tables import print_package
    from memaudit.judges.label_judges import LabelJudge
    from memaudit.kernel.io.atomic import write_bytes, write_file
    from memaudit.kernel.io.files import read_bytes
    from memaudit.kernel.io.packages import write_package
    from memaudit.kernel.package.budgets import asked_budgets
    from memaudit.kernel.score.package_scores import score_package
    from memaudit.kernel.score.result import Scoring
    from memaudit.workspace.run_folder import make_own_folder

    make_own_folder(folder)
    with shipped_board() as shipped:
        read = read_board(shipped)
        runs = {store.name: store for store in read.first_runs(CONVERSATION)}
        stores = [runs[name] for name in SYSTEMS]
        (package,) = (one for one in read.packages if one.name == CONVERSATION)
        for name in (read.plan.labels, read.plan.memories):
            write_bytes(folder / name, read_bytes(shipped / name))
        for store in stores:
            write_file(folder / f"{store.name}.json", f"{store.model_dump_json(indent=1)}\n")
        write_package(package, folder / "package.json")
        judge = LabelJudge(shipped / read.plan.labels, shipped / read.plan.memories)
        scoring = Scoring(asked_budgets(BUDGET), {store.name: judge for store in stores})
        systems = " and ".join(store.origin.system for store in stores)
        typer.echo(STORES.format(stores=systems, conversation=CONVERSATION))
        print_package(score_package(package, stores, scoring), False, False, [], False)
        board = board_of_systems(read)
    typer.echo(BOARD)
    show_board(board, full=False)
    write_board_page(board, folder / "board.html")
    return {
        "page": folder / "board.html",
        "store_package": folder / "package.json",
        "first": folder / f"{SYSTEMS[0]}.json",
        "second": folder / f"{SYSTEMS[1]}.json",
        "labels": folder / read.plan.labels,
        "memories": folder / read.plan.memories,
    }


def _program() -> str:
    """The command to type: `memaudit`, or its path if the shell would not find it."""
    path = Path(sys.argv[0])
    if shutil.which("memaudit") or path.name != "memaudit":
        return "memaudit"
    return safe(os.path.relpath(path))


def _certified(package: "Package", budget: int, out: Path) -> dict[str, Any]:
    """Solve one package, write it and its certificate, and check what is on disk."""
    from memaudit.cli.verify import checked, line_of
    from memaudit.kernel.io.certificates import read_certificates, write_certificates
    from memaudit.kernel.io.packages import read_package, write_package
    from memaudit.kernel.package.digest import digest
    from memaudit.kernel.solvers.solve import solve

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
