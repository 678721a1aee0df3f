"""`memaudit solve`: the best store for each budget, with a certificate."""

import json
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.options import BUDGETS, parse_budgets
from memaudit.cli.settings import Settings, in_force
from memaudit.cli.terminal import safe
from memaudit.kernel.errors import MemAuditError
from memaudit.workspace.overwrite import may_write

if TYPE_CHECKING:
    from memaudit.kernel.package.optimum import Optimum
    from memaudit.kernel.package.package import Package


@contextmanager
def watched() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets, in addition to raising KeyboardInterrupt.

    Solvers stop even if the exception is lost, for example in a callback of the compiler.
    """
    from memaudit.kernel.solvers.solve import STOP

    pressed = threading.Event()

    def press(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        pressed.set()
        STOP.set()
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield pressed  # only the main thread may watch signals
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
        STOP.clear()


Job = tuple["Package", Sequence[Fraction]]
"""A package and its budgets."""


def solve(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A package: .json file or folder.")],
    budget: Annotated[
        str | None,
        typer.Option(metavar="B[,B...]", help="Budgets. Default: those the package declares."),
    ] = None,
    solver: Annotated[
        str, typer.Option(metavar="NAME", help="auto, fast, reference, brute or highs.")
    ] = "auto",
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the certificates to this file."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the best store for each budget, with a certificate or a bound."""
    from memaudit.kernel.io.packages import read_packages
    from memaudit.kernel.solvers.registry import named_solver

    budgets = None if budget is None else parse_budgets(budget)
    keys = in_force()
    if certificate is not None and not certificate.absolute().parent.is_dir():
        raise MemAuditError(f"cannot write {certificate}: its folder does not exist")
    named_solver(solver)
    jobs = [(package, budgets or declared_budgets(package)) for package in read_packages(path)]
    wanted = sum(len(amounts) for _, amounts in jobs)
    if certificate is not None:
        may_write(certificate, "certificate")
    optima = solve_jobs(jobs, keys, solver)
    if as_json:
        typer.echo(_json(optima))
    else:
        show(optima)
    if len(optima) < wanted:
        typer.echo(f"interrupted: {wanted - len(optima)} of {wanted} not solved", err=True)
    if certificate is not None:
        save(optima, certificate)


def _json(optima: Sequence["Optimum"]) -> str:
    try:
        return json.dumps([optimum.to_json() for optimum in optima], indent=2)
    except ValueError:  # Python does not write numbers of more than 4300 digits
        raise MemAuditError("a value has too many digits for JSON; the table rounds it") from None


def declared_budgets(package: "Package") -> tuple[Fraction, ...]:
    if not package.budgets:
        raise MemAuditError(f"package {package.name!r} declares no budgets; {BUDGETS}")
    return package.budgets


def solve_jobs(jobs: Sequence[Job], keys: Settings, solver: str) -> list["Optimum"]:
    """Solve one after the other. Ctrl-C stops the current one and starts no other."""
    from memaudit.cli.terminal import progress
    from memaudit.kernel.number_text import short_exact
    from memaudit.kernel.solvers.solve import SolveProgress, iter_optima

    optima: list[Optimum] = []
    wanted = sum(len(amounts) for _, amounts in jobs)
    with watched() as pressed, progress("solving", wanted, long=True) as done:

        def tell(now: SolveProgress) -> None:
            bound = "" if now.bound is None else f", at most {short_exact(now.bound)}"
            done(None, f"{short_exact(now.value)}{bound}, {now.nodes:,} nodes")

        for package, amounts in jobs:
            try:
                for optimum in iter_optima(
                    package,
                    amounts,
                    keys.score.group_cap,
                    solver,
                    seconds=keys.solver.seconds,
                    threads=keys.solver.threads,
                    progress=tell,
                ):
                    optima.append(optimum)
                    done(len(optima))
                    if pressed.is_set():
                        return optima
            except KeyboardInterrupt:
                if not optima:
                    raise
                return optima
    return optima


def show(optima: Sequence["Optimum"]) -> None:
    """Print the table, and the notes that do not fit into it."""
    from memaudit.cli.terminal import OPTIMUM_COLUMNS, columns_table, console, notes_of

    console().print(columns_table(OPTIMUM_COLUMNS, optima))
    for note in notes_of(optima):
        typer.echo(safe(note))


def save(optima: Sequence["Optimum"], path: Path) -> None:
    """Write the certificates, and name the results that have none."""
    from memaudit.kernel.exact import plain
    from memaudit.kernel.io.certificates import write_certificates

    for optimum in optima:
        if not optimum.certified:
            what = f"no certificate for {optimum.package!r} at budget {plain(optimum.budget)}"
            typer.echo(safe(f"{what}: {optimum.note}"), err=True)
    proven = [o.certificate for o in optima if o.certified and o.certificate is not None]
    if proven:
        write_certificates(proven, path)
