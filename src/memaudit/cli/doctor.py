"""`memaudit doctor`: what is installed, what is missing, and whether the solvers work."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.text import safe
from memaudit.core.text import counted

if TYPE_CHECKING:
    from memaudit.cli.checkup import Checkup, SolverTest


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print versions, extras, browser, fonts and caches, and test every solver.

    Exit code 1 if a solver fails its test; what is optional may be missing.
    """
    from memaudit.cli.cache import DEFAULT_CACHE
    from memaudit.cli.checkup import checkup
    from memaudit.io.packages import example_package

    found = checkup(example_package(), DEFAULT_CACHE)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=1))
    else:
        for line in _lines(found):
            typer.echo(safe(line))
    if not found.healthy:
        raise typer.Exit(FAILED)


def _lines(found: "Checkup") -> list[str]:
    from memaudit.cli.checkup import FONT

    lines = [f"{name:<12} {number}" for name, number in found.versions.items()]
    lines += [f"{'platform':<12} {found.platform}", f"{'CPUs':<12} {found.cpus}", ""]
    for extra in found.extras:
        names = ", ".join(extra.missing)
        state = f"missing {names}: {extra.install}" if extra.missing else "installed"
        lines.append(f"extra {extra.name:<12} {state}")
    browser = found.browser or "none found; install chromium to run the browser tests"
    font = found.font or f"{FONT} not found: figures use another font, their layout may differ"
    lines += ["", f"browser: {browser}", f"font of figures: {font}"]
    lines += [
        f"{one.use}: {one.path}, {'writable' if one.writable else 'NOT writable'}"
        for one in found.folders
    ]
    return [*lines, "", *map(_test, found.self_test), _verdict(found)]


def _test(one: "SolverTest") -> str:
    if one.problem:
        return f"solver {one.solver:<10} FAILED: {one.problem}"
    proofs = "no certificates"
    if one.certificates:
        proofs = f"{counted(one.certificates, 'certificate')} verified"
    budgets = counted(one.budgets, "budget")
    return f"solver {one.solver:<10} {budgets} right, {proofs}, {one.seconds:.3f} s"


def _verdict(found: "Checkup") -> str:
    return "solver self-test passed" if found.healthy else "solver self-test FAILED"
