"""`memaudit doctor`: what is installed, what is missing, and whether the solvers work."""

import json
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.checker import verify
from memaudit.cli.errors import FAILED
from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.core.text import counted
from memaudit.solvers.registry import SOLVERS
from memaudit.solvers.solve import solve_all

if TYPE_CHECKING:
    pass


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FONT = "DejaVu Sans"
"""The font of figures; matplotlib ships it."""

YARDSTICK = "reference"
FEW_BUDGETS = {"brute": 1}
"""Brute force takes seconds per budget, so it is tested on the smallest ones only."""

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra == ['\"]([^'\"]+)['\"]")


@dataclass(frozen=True, slots=True)
class Extra:
    """An optional set of libraries; `install` is what to type where some are missing."""

    name: str
    found: dict[str, str]
    missing: tuple[str, ...]
    install: str


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that memaudit writes to."""

    use: str
    path: str
    writable: bool


@dataclass(frozen=True, slots=True)
class SolverTest:
    """One backend on the example; `problem` is empty where it passed."""

    solver: str
    budgets: int
    certificates: int
    seconds: float
    problem: str


@dataclass(frozen=True, slots=True)
class Checkup:
    """Everything that was found."""

    versions: dict[str, str]
    platform: str
    cpus: int
    extras: tuple[Extra, ...]
    browser: str | None
    font: str | None
    folders: tuple[Folder, ...]
    self_test: tuple[SolverTest, ...]

    @property
    def healthy(self) -> bool:
        """Whether every backend passed. Missing extras are not a failure."""
        return not any(test.problem for test in self.self_test)

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {**asdict(self), "healthy": self.healthy}


def checkup(package: Package, cache: Path) -> Checkup:
    """Check everything; `cache` is the file of model replies."""
    required, extras = libraries(requires("memaudit") or [])
    return Checkup(
        versions={
            "memaudit": version("memaudit"),
            "python": platform.python_version(),
            **{name: found for name in required if (found := installed(name)) is not None},
        },
        platform=platform.platform(terse=True),
        cpus=len(os.sched_getaffinity(0)),
        extras=extras,
        browser=next(filter(None, map(shutil.which, BROWSERS)), None),
        font=_font(),
        folders=(
            Folder("cache of model replies", *_writable(cache.absolute().parent)),
            Folder("cache of compiled code", *_writable(_compiler_cache())),
        ),
        self_test=tuple(self_test(package, tuple(SOLVERS))),
    )


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
    found = {one: number for one in names if (number := installed(one)) is not None}
    missing = tuple(one for one in names if one not in found)
    return Extra(name, found, missing, f"pip install 'memaudit[{name}]'")


def installed(name: str) -> str | None:
    """The version of a library, None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def self_test(package: Package, solvers: Sequence[str]) -> list[SolverTest]:
    """Every backend at every budget of a package: the same values, and proofs that hold."""
    expected = [best.value for best in solve_all(package, package.budgets, solver=YARDSTICK)]
    tests = []
    for solver in solvers:
        started, certificates, problem = time.perf_counter(), 0, ""
        try:
            budgets = package.budgets[: FEW_BUDGETS.get(solver)]
            found = solve_all(package, budgets, solver=solver)
        except MemAuditError as error:
            found, problem = [], str(error)
        for best, value in zip(found, expected, strict=False):
            if best.value != value:
                problem = f"budget {best.budget}: {best.value}, not {value}"
            elif best.certificate is not None:
                verdict = verify(package, best.certificate)
                certificates += verdict.valid
                if not verdict.valid:
                    problem = f"budget {best.budget}: certificate refused, {verdict.reason}"
        seconds = round(time.perf_counter() - started, 3)
        tests.append(SolverTest(solver, len(found), certificates, seconds, problem))
    return tests


def _font() -> str | None:
    """The file of the font; None if figures would use another one."""
    if find_spec("matplotlib") is None:
        return None
    from matplotlib.font_manager import findfont

    try:
        return str(findfont(FONT, fallback_to_default=False))
    except ValueError:
        return None


def _compiler_cache() -> Path:
    """Where numba puts compiled code: as configured, or beside the source."""
    import memaudit.solvers

    given = os.environ.get("NUMBA_CACHE_DIR")
    return Path(given) if given else Path(memaudit.solvers.__path__[0]) / "__pycache__"


def _writable(folder: Path) -> tuple[str, bool]:
    """Whether a file can be created there, by trying; for a missing folder, in its parent."""
    place = folder if folder.exists() else folder.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            return str(folder), True
    except OSError:
        return str(folder), False


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print versions, extras, browser, fonts and caches, and test every solver.

    Exit code 1 if a solver fails its test; what is optional may be missing.
    """
    from memaudit.cli.cache import DEFAULT_CACHE
    from memaudit.io.packages import example_package
    from memaudit.solvers.compiled.kernel_cache import PARTS, ensure_compiled

    ensure_compiled(*PARTS)
    found = checkup(example_package(), DEFAULT_CACHE)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=1))
    else:
        for line in _lines(found):
            typer.echo(safe(line))
    if not found.healthy:
        raise typer.Exit(FAILED)


def _lines(found: "Checkup") -> list[str]:

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
