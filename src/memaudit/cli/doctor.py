"""`memaudit doctor`: what is installed, what is missing, and whether the solvers work."""

import json
import os
import platform
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Annotated, Any

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.settings import Settings, in_force
from memaudit.cli.terminal import safe
from memaudit.kernel.checker import verify
from memaudit.kernel.errors import MemAuditError, install_line
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.registry import SOLVERS
from memaudit.kernel.solvers.solve import solve_all
from memaudit.kernel.version import DISTRIBUTION, VERSION
from memaudit.kernel.words.text import counted

YARDSTICK = "reference"
FEW_BUDGETS = {"brute": 1}
"""Brute force takes seconds per budget, so it is tested on the smallest ones only."""

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra == ['\"]([^'\"]+)['\"]")


@dataclass(frozen=True, slots=True)
class Extra:
    """An optional set of libraries; `install` says how to install the missing ones."""

    name: str
    found: dict[str, str]
    missing: tuple[str, ...]
    install: str


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """`value` is None where nothing is set and the meaning of the key says what happens then."""

    value: str | int | float | bool | None
    origin: str
    """default, a file, a variable of the environment, or --set."""


@dataclass(frozen=True, slots=True)
class SolverTest:
    """One solver on the example package; `problem` is empty if it passed."""

    solver: str
    budgets: int
    certificates: int
    seconds: float
    problem: str


@dataclass(frozen=True, slots=True)
class Checkup:
    versions: dict[str, str]
    imported: str
    """The folder that `import memaudit` gets."""
    imports_ours: bool
    platform: str
    cpus: int
    extras: tuple[Extra, ...]
    settings: dict[str, SettingInForce]
    self_test: tuple[SolverTest, ...]

    @property
    def healthy(self) -> bool:
        """Whether every solver passed. Missing extras are not a failure."""
        return not any(test.problem for test in self.self_test)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "healthy": self.healthy}


def checkup(package: Package, settings: Settings) -> Checkup:
    """Check everything."""
    import memaudit

    declared = requires(DISTRIBUTION) if _versions([DISTRIBUTION]) else None
    required, extras = libraries(declared or [])
    return Checkup(
        versions={
            "memaudit": VERSION,
            "python": platform.python_version(),
            **_versions(required),
        },
        imported=memaudit.__path__[0],
        imports_ours=getattr(memaudit, "Package", None) is Package,
        platform=platform.platform(terse=True),
        cpus=len(os.sched_getaffinity(0)),
        extras=extras,
        settings={
            name: SettingInForce(_plain(value), origin) for name, value, origin in settings.rows()
        },
        self_test=tuple(self_test(package, tuple(SOLVERS))),
    )


def _plain(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    from memaudit.kernel.exact import plain

    return str(plain(value) if isinstance(value, Fraction) else value)


def libraries(requirements: Sequence[str]) -> tuple[list[str], tuple[Extra, ...]]:
    """The libraries memaudit requires, and its extras with what is installed of them."""
    required, optional = [], dict[str, list[str]]()
    for requirement in requirements:
        name = _NAME.match(requirement)
        extra = _EXTRA.search(requirement)
        if name is not None and extra is None:
            required.append(name[0])
        elif name is not None and extra is not None:
            optional.setdefault(extra[1], []).append(name[0])
    return required, tuple(_extra(name, names) for name, names in sorted(optional.items()))


def _extra(name: str, names: Sequence[str]) -> Extra:
    versions = _versions(names)
    missing = tuple(library for library in names if library not in versions)
    return Extra(name, versions, missing, install_line(name))


def _versions(names: Sequence[str]) -> dict[str, str]:
    """The versions of the libraries that are installed."""
    versions = {}
    for name in names:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def self_test(package: Package, solvers: Sequence[str]) -> list[SolverTest]:
    """Check values and certificates of every solver at every budget of a package."""
    expected = [best.value for best in solve_all(package, package.budgets, solver=YARDSTICK)]
    tests = []
    for solver in solvers:
        started, certificates, problem = time.perf_counter(), 0, ""
        try:
            budgets = package.budgets[: FEW_BUDGETS.get(solver)]
            optima = solve_all(package, budgets, solver=solver)
        except MemAuditError as error:
            optima, problem = [], str(error)
        for best, value in zip(optima, expected, strict=False):
            if best.value != value:
                problem = f"budget {best.budget}: {best.value}, not {value}"
            elif best.certificate is not None:
                verdict = verify(package, best.certificate)
                certificates += verdict.valid
                if not verdict.valid:
                    problem = f"budget {best.budget}: certificate refused, {verdict.reason}"
        seconds = round(time.perf_counter() - started, 3)
        tests.append(SolverTest(solver, len(optima), certificates, seconds, problem))
    return tests


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print versions, extras and settings, and test every solver.

    The exit code is 1 if a solver fails its test. Optional parts may be missing.
    """
    from memaudit.kernel.io.packages import example_package
    from memaudit.kernel.solvers.compiled.kernel_cache import PARTS, ensure_compiled

    settings = in_force()
    ensure_compiled(*PARTS)
    result = checkup(example_package(), settings)
    if as_json:
        typer.echo(json.dumps(result.to_json(), indent=1))
    else:
        for line in _lines(result):
            typer.echo(safe(line))
    if not result.healthy:
        raise typer.Exit(FAILED)


def _lines(result: Checkup) -> list[str]:
    lines = [f"{name:<12} {number}" for name, number in result.versions.items()]
    lines += [f"{'platform':<12} {result.platform}", f"{'CPUs':<12} {result.cpus}", ""]
    whose = "this project" if result.imports_ours else "NOT this project"
    lines.append(f"import memaudit gets {result.imported}, {whose}")
    lines.append("")
    for extra in result.extras:
        names = ", ".join(extra.missing)
        state = f"missing {names}: {extra.install}" if extra.missing else "installed"
        lines.append(f"extra {extra.name:<12} {state}")
    if not result.extras:
        lines.append(f"extras: unknown, since {DISTRIBUTION} is not installed here")
    lines += ["", *(_setting_line(name, row) for name, row in result.settings.items())]
    verdict = "solver self-test passed" if result.healthy else "solver self-test FAILED"
    return [*lines, "", *map(_test_line, result.self_test), verdict]


def _setting_line(name: str, setting: SettingInForce) -> str:
    value = "not set" if setting.value is None else str(setting.value)
    if isinstance(setting.value, bool):
        value = value.lower()
    elif isinstance(setting.value, float):
        value = f"{setting.value:g}"
    return f"setting {name:<26} {value:<22} {setting.origin}"


def _test_line(test: SolverTest) -> str:
    if test.problem:
        return f"solver {test.solver:<10} FAILED: {test.problem}"
    proofs = "no certificates"
    if test.certificates:
        proofs = f"{counted(test.certificates, 'certificate')} verified"
    budgets = counted(test.budgets, "budget")
    return f"solver {test.solver:<10} {budgets} correct, {proofs}, {test.seconds:.3f} s"
