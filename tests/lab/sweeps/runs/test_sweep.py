"""Sweeps: the same rows whatever happens on the way."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.checker import PackageChecker, Verdict
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.objective import value
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.sweeps.generators.registry import named_distribution
from memaudit.lab.sweeps.runs.spec import RunSpec, packages_spec
from memaudit.lab.sweeps.runs.summary import open_finished
from memaudit.lab.sweeps.runs.sweep import RUN, certificate_hash, read_run, resolve, run
from memaudit.lab.sweeps.writers.protocol import View
from memaudit.lab.sweeps.writers.references import RecencyRaw
from memaudit.lab.sweeps.writers.registry import WRITERS
from memaudit.workspace.engines import Result, Task, named_engine
from memaudit.workspace.journal import read_journal, to_line
from memaudit.workspace.run_folder import ROWS

SPEC = RunSpec(
    ("base", "update_chain", "event_graph:experiences=7"),
    (0, 1, 2),
    ("0", "2", "0.05"),
    ("opt", "gvt", "no_tombstone_opt", "recency_raw"),
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    run(SPEC, folder, named_engine("serial"))
    return folder


def test_rows_are_true(finished: Path) -> None:
    """Each number again from the package, the store and a fresh solve."""
    rows = list(read_journal(finished / ROWS))
    assert len(rows) == SPEC.rows == 3 * 3 * 3 * 4
    for row in rows[::7]:
        package = named_distribution(row["distribution"]).package(row["seed"])
        best = solve(package, row["budget"])
        worth = value(package, row["store"]).low
        assert row["digest"] == digest(package)
        assert row["value"] == pytest.approx(float(worth))
        assert row["optimum"] == pytest.approx(float(best.value))
        assert row["cost"] == package.total_cost(row["store"])
        assert best.certificate is not None
        assert row["certificate"] == certificate_hash(best.certificate)
        if best.value:
            assert row["ratio"] == pytest.approx(float(worth / best.value))
    zero = [row for row in rows if row["budget"] == 0]
    assert zero
    assert all(row["ratio"] is None and row["undefined"] == "optimum is 0" for row in zero)


def test_fractions_are_recorded(finished: Path) -> None:
    """A share of the mean total cost of the run's packages, rounded."""
    total = Fraction(0)
    for index in range(SPEC.packages):
        name, seed = SPEC.package_at(index)
        package = named_distribution(name).package(seed)
        total += package.total_cost(package.candidate)
    expected = max(1, round(Fraction("0.05") * total / SPEC.packages))
    assert dict(resolve(SPEC))["0.05"] == expected
    row = next(row for row in read_journal(finished / ROWS) if "budget_as_given" in row)
    assert (row["budget"], row["budget_as_given"]) == (expected, "0.05")
    assert read_run(finished)["budgets"]["0.05"] == str(expected)


def test_processes_give_the_same_bytes(finished: Path, tmp_path: Path) -> None:
    """Order does not depend on who finishes first."""
    run(SPEC, tmp_path, named_engine("processes", 2))
    assert (tmp_path / ROWS).read_bytes() == (finished / ROWS).read_bytes()


def test_packages_from_files(tmp_path: Path) -> None:
    """Writers on a folder of packages: a seed is a package's place; changed files are refused."""
    folder = tmp_path / "packages"
    folder.mkdir()
    for package in short_set()[:2]:
        write_package(package, folder / f"{package.name}.json")
    spec = packages_spec(str(folder), ("20",), ("opt", "recency_raw"))
    run(spec, tmp_path / "run", named_engine("processes", 2))
    rows = list(read_journal(tmp_path / "run" / ROWS))
    names = sorted(package.name for package in short_set()[:2])
    assert [(row["package"], row["writer"]) for row in rows] == [
        (name, writer) for name in names for writer in ("opt", "recency_raw")
    ]
    assert all(row["ratio"] == 1 for row in rows if row["writer"] == "opt")
    write_package(short_set()[2], folder / f"{names[0]}.json")
    changed = packages_spec(str(folder), ("20",), ("opt", "recency_raw"))
    with pytest.raises(MemAuditError, match="another run"):
        run(changed, tmp_path / "run", named_engine("serial"))


def test_resume_after_any_number_of_rows(finished: Path, tmp_path: Path) -> None:
    """Finished rows are neither lost nor made again, also in the middle of a package."""
    lines = (finished / ROWS).read_bytes().splitlines(keepends=True)
    for kept in (0, 1, 12, 13, 50, len(lines) - 1, len(lines)):
        folder = tmp_path / str(kept)
        folder.mkdir()
        (folder / RUN).write_bytes((finished / RUN).read_bytes())
        (folder / ROWS).write_bytes(b"".join(lines[:kept]) + b'{"half a ro')
        seen: list[int] = []
        outcome = run(SPEC, folder, named_engine("serial"), seen.append)
        assert (outcome.existing, outcome.rows, outcome.cut) == (kept, len(lines), 11)
        assert seen[0] == kept
        assert (folder / ROWS).read_bytes() == b"".join(lines)
    # Whole lines in the wrong place are made again from there on.
    (folder / ROWS).write_bytes(b"".join(lines[:5] + lines[6:]))
    assert run(SPEC, folder, named_engine("serial")).existing == 5
    assert (folder / ROWS).read_bytes() == b"".join(lines)


@pytest.mark.slow
def test_a_forged_row_is_computed_again(tmp_path: Path) -> None:
    """A row with another ratio and a fresh checksum is found when the run resumes or is read."""
    spec = RunSpec(("base",), (0, 1), ("2",), ("recency_raw",))
    run(spec, tmp_path, named_engine("serial"))
    rows = tmp_path / ROWS
    good = rows.read_bytes()
    forged = [{**row, "ratio": 1.0} for row in read_journal(rows)]
    assert all(row["value"] < row["optimum"] for row in forged)
    rows.write_text("".join(map(to_line, forged)))
    with pytest.raises(MemAuditError, match="line 1: its ratio is not its value divided by its"):
        list(open_finished(tmp_path).rows())
    outcome = run(spec, tmp_path, named_engine("serial"))
    assert (outcome.existing, outcome.rows) == (0, 2)
    assert rows.read_bytes() == good


def test_another_run_in_the_folder(finished: Path, tmp_path: Path) -> None:
    """Rows of two runs are never mixed."""
    other = RunSpec(("base",), (0,), ("2",), ("gvt",))
    with pytest.raises(MemAuditError, match="holds another run"):
        run(other, finished, named_engine("serial"))
    (tmp_path / ROWS).write_text("")
    with pytest.raises(MemAuditError, match="but no run"):
        run(other, tmp_path, named_engine("serial"))
    (tmp_path / RUN).write_text(json.dumps({"format": "else"}))
    with pytest.raises(MemAuditError, match="not the manifest of a run"):
        run(other, tmp_path, named_engine("serial"))


def test_budgets_that_mean_the_same(tmp_path: Path) -> None:
    """Two fractions of one budget would count it twice."""
    spec = RunSpec(("base",), (0,), ("0.01", "0.005"), ("gvt",))
    with pytest.raises(MemAuditError, match="both mean 1"):
        run(spec, tmp_path, named_engine("serial"))


def test_a_failing_writer_is_a_counted_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer refuses a package; the run continues."""

    class Refuses(RecencyRaw):
        name = "refuses"

        def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
            raise MemAuditError("no such package")

    monkeypatch.setitem(WRITERS, "refuses", Refuses())
    spec = RunSpec(("base",), (3,), ("4",), ("refuses", "recency_raw"))
    run(spec, tmp_path, named_engine("serial"))
    refused, recency = read_journal(tmp_path / ROWS)
    assert (refused["value"], refused["ratio"], refused["store"]) == (None, None, [])
    assert refused["failed"] == "no such package"
    assert recency["ratio"] is not None


def test_an_optimum_that_is_not_certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no ratio to a bound; OPT itself is a failed row."""
    monkeypatch.setattr(PackageChecker, "verify", lambda *_: Verdict(False, "leaf 3: no"))
    spec = RunSpec(("base",), (0,), ("4",), ("opt", "recency_raw"))
    run(spec, tmp_path, named_engine("serial"))
    opt, recency = read_journal(tmp_path / ROWS)
    assert opt["value"] is None
    assert "no certified optimum" in opt["failed"]
    assert recency["value"] >= 0
    assert (recency["ratio"], recency["undefined"]) == (None, "optimum not certified")


RACE = """
import sys; from pathlib import Path
from memaudit.kernel.errors import MemAuditError
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.workspace.engines import named_engine
try:
    run(RunSpec(("base",), tuple(range(int(sys.argv[2]))), ("2",), ("gvt",)), Path(sys.argv[1]),
        named_engine("serial"))
except MemAuditError as error:
    print(error)
    sys.exit(1)
"""


@pytest.mark.slow
def test_two_runs_at_once(tmp_path: Path) -> None:
    """One gets the folder, the others get one line, and nothing is mixed."""
    racing = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, tmp_path / "r", str(seeds)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for seeds in (60, 61, 62)
    ]
    printed = [process.communicate()[0] for process in racing]
    codes = [process.returncode for process in racing]
    assert sorted(codes) == [0, 1, 1]
    for code, line in zip(codes, printed, strict=True):
        assert code == 0 or "another run" in line
    rows = list(read_journal(tmp_path / "r" / ROWS))
    assert len(rows) == read_run(tmp_path / "r")["rows"] == 60 + codes.index(0)


@pytest.mark.slow
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    """Rows written so far stay, and the run resumes later."""
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
    code += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + RACE
    full = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "r", "60"], capture_output=True, text=True
    )
    assert full.returncode == 1, full.stderr
    assert full.stdout.startswith("cannot write")
    again = subprocess.run([sys.executable, "-c", RACE, tmp_path / "r", "60"], check=False)
    assert again.returncode == 0
    assert len(list(read_journal(tmp_path / "r" / ROWS))) == 60


def test_nothing_is_left_where_nothing_came_of_it(tmp_path: Path) -> None:
    """An engine that cannot start leaves no folder behind."""

    class Broken:
        name = "broken"

        def map(
            self, function: Callable[[Task], Result], tasks: Iterable[Task]
        ) -> Iterator[Result]:
            raise MemAuditError(f"no cluster there: {function}, {tasks}")

    with pytest.raises(MemAuditError, match="no cluster"):
        run(SPEC, tmp_path / "new", Broken())
    assert not (tmp_path / "new").exists()


def test_writers_do_not_get_the_generators_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With it, a deployable writer could make the package again and peek."""
    seen: list[int] = []

    class Curious(RecencyRaw):
        name = "curious"

        def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:
            seen.append(seed)
            return super().write(view, budget, seed)

    monkeypatch.setitem(WRITERS, "curious", Curious())
    run(RunSpec(("base",), (7,), ("4", "8"), ("curious",)), tmp_path, named_engine("serial"))
    assert len(set(seen)) == 1
    assert seen[0] > 10_000
