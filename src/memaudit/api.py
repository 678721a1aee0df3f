"""The functions behind `import memaudit as ma`; the command line calls the same ones.

A package is a `Package` or its path. A store is an `ExportedStore`, or the path of one or of an
export: `[NAME=]PATH[+PATH...][@VIEW]`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from memaudit.board.board import Board
from memaudit.board.board_of_scores import board_of_scores
from memaudit.judges.defaults import DEFAULT_JUDGE
from memaudit.judges.registry import named_judge
from memaudit.judges.salience import QUERY, named_salience
from memaudit.judges.score_plan import ScorePlan, checked_seconds
from memaudit.kernel.checker import Verdict
from memaudit.kernel.checker import verify as check_certificate
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import Enclosure
from memaudit.kernel.io.certificates import read_certificates
from memaudit.kernel.io.packages import read_package, read_packages
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin, Times, store_digest
from memaudit.kernel.io.strict_json import read_object
from memaudit.kernel.notebook import Frame, html_table, html_text, to_frame
from memaudit.kernel.package.objective import value as store_value
from memaudit.kernel.package.optimum import Certificate, Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import Judge
from memaudit.kernel.score.package_scores import score_package
from memaudit.kernel.score.priced_store import Salience
from memaudit.kernel.score.result import ScoreResult
from memaudit.kernel.score.store_match import check_names, examples_of, renamed
from memaudit.kernel.solvers.frontier import Frontier
from memaudit.kernel.solvers.frontier import Progress as FrontierProgress
from memaudit.kernel.solvers.frontier import frontier as package_frontier
from memaudit.kernel.solvers.solve import Watch
from memaudit.kernel.solvers.solve import solve as solve_package
from memaudit.linting.findings import LintReport
from memaudit.stores.protocol import ImportOptions, MappedFields
from memaudit.stores.registry import import_store as read_export
from memaudit.stores.registry import open_store, parse_argument

PathLike = str | Path
AnyPackage = Package | str | Path
AnyStore = ExportedStore | str | Path
AnyJudge = str | Judge | Mapping[str, Judge]
"""A name as --judge takes it, a judge, or one judge per store."""
Given = TypeVar("Given", bound=AnyJudge)
AnySalience = PathLike | Mapping[str, PathLike]
"""A file of salience calls for the only store, or files by store."""


def import_store(
    path: PathLike | Sequence[PathLike],
    name: str | None = None,
    *,
    format: str | None = None,
    view: str | None = None,
    namespace: str | None = None,
    conversation: str | None = None,
    as_of: str | None = None,
    times: Times = "shown",
    map: Mapping[str, str] | None = None,
    text: str | None = None,
    time: str | None = None,
    id: str | None = None,
    namespace_field: str | None = None,
) -> ExportedStore:
    """Read the export of a memory system; several files of one export as a list.

    The format is guessed unless it is given. With `text`, any file is read by the names of its
    fields. `map` gives conversations the names that packages have. `store.warnings` says what could
    not be read.
    """
    if text is None and (time, id, namespace_field) != (None, None, None):
        raise MemAuditError("time, id and namespace_field need text, the field to score")
    options = ImportOptions(
        name=name,
        view=view,
        namespace=namespace,
        conversation=conversation,
        as_of=as_of,
        times=times,
        fields=None if text is None else MappedFields(text, time, id, namespace_field),
    )
    store = read_export(_paths(path), format, options)
    check_names(map or {}, examples_of(store))
    return renamed(store, map or {})


def labels(
    path: PathLike | Sequence[PathLike], memories: PathLike | Sequence[PathLike] | None = None
) -> Judge:
    """A judge that reads labels: memory_id, unit_id and coverage, as JSONL or CSV.

    `memories` says which texts the ids stand for, unless the labels have the field `memory`.
    """
    from memaudit.judges.label_judges import LabelJudge

    return LabelJudge(_paths(path), _paths(memories) if memories is not None else ())


def _paths(given: PathLike | Sequence[PathLike]) -> list[Path]:
    return [Path(given)] if isinstance(given, str | Path) else [Path(one) for one in given]


def as_package(package: AnyPackage) -> Package:
    """The package, read where it is a path."""
    return package if isinstance(package, Package) else read_package(package)


def as_store(store: AnyStore) -> ExportedStore:
    """The store, read or imported where it is a path."""
    return store if isinstance(store, ExportedStore) else open_store(parse_argument(str(store)))


def texts(memories: Sequence[str], name: str = "texts") -> ExportedStore:
    """A store of these texts, in the order they were written."""
    if isinstance(memories, str) or not all(isinstance(text, str) for text in memories):
        raise MemAuditError("a store of texts is a list of texts")
    return ExportedStore(
        name=name,
        origin=Origin(system="texts", format="texts"),
        memories=tuple(
            Memory(id=f"text-{place}", text=text) for place, text in enumerate(memories, start=1)
        ),
    )


def score(
    package: AnyPackage,
    store: AnyStore | Sequence[AnyStore],
    budgets: Any = None,
    judge: AnyJudge = DEFAULT_JUDGE,
    *,
    policy: str | None = None,
    cost_rule: str | None = None,
    group_cap: int | None = None,
    salience: AnySalience | Salience | None = None,
    query_salience: AnySalience | None = None,
    seconds: float | None = None,
    threads: int | None = None,
    trust_package_cells: bool = False,
    stores_only: bool = False,
    draws: int | None = None,
    ask: str | Judge | None = None,
    max_cells: int | None = None,
) -> ScoreResult:
    """Score a store, or several: what each keeps within a budget, over OPT of the common union.

    The common union is the package with the memories of all stores.

    - `budgets`: costs, shares of the conversation such as "10%", or "own", the cost of each store;
      by default several shares and own.
    - `judge`: decides coverage, by name, as a judge, or one judge by store.
    - `policy`: cuts a store that does not fit: recency, top, salience or query_salience.
    - `cost_rule`: measures every cost; by default the package's.
    - `group_cap`: candidates a store may keep per experience; by default the package's.
    - `salience`, `query_salience`: files of calls, by the names of stores if there are several.
    - `seconds`: stops each solve; `threads`: changes the time it takes and nothing else.
    - `trust_package_cells`: keeps the package's assumed cells, which the judge judges otherwise.
    - `stores_only`: leaves the package's own candidates out of OPT.
    - `draws`: of labels, behind the interval of a score by the offline judge; 0 for none.
    - `ask`: another judge for the cells that the verdict hangs on, the most influential first,
      about `max_cells` of them at most.
    """
    stores = as_stores(store)
    plan = ScorePlan.of(
        budgets=budgets,
        judge=_no_path(judge),
        ask=ask,
        max_cells=max_cells,
        policy=policy,
        salience=_salience(salience, query_salience, stores),
        cost_rule=cost_rule,
        stores_only=stores_only,
        group_cap=group_cap,
        seconds=seconds,
        threads=threads,
        trust_package_cells=trust_package_cells,
        draws=draws,
    )
    return plan.score(as_package(package), stores, plan.scoring(stores), plan.asking())


def lint(
    store: AnyStore,
    package: AnyPackage | None = None,
    *,
    judge: str | Judge = DEFAULT_JUDGE,
    before: AnyStore | None = None,
    limits: str | None = None,
    seconds: float | None = None,
) -> LintReport:
    """What is wrong with a store: duplicates, contradictions, secrets, and more with a package.

    With a package, `report.smallest` is the smallest part of the store that loses nothing. `before`
    is an earlier export, for lost updates. No model is asked.
    """
    from memaudit.linting.lint import LintPlan, lint_target
    from memaudit.linting.lint import lint as look_over

    opened = as_store(store)
    subject = package if isinstance(package, Package) else None
    if subject is None and package is not None:
        subject = lint_target(Path(str(package)), opened)
    by = named_judge(judge) if isinstance(judge, str) else judge
    earlier = None if before is None else as_store(before)
    plan = LintPlan(
        subject,
        by if subject is not None else None,
        earlier,
        system=limits,
        seconds=checked_seconds(seconds),
    )
    return look_over(opened, plan)


def _salience(
    at_write_time: AnySalience | Salience | None,
    query_aware: AnySalience | None,
    stores: Sequence[ExportedStore],
) -> Salience:
    if isinstance(at_write_time, Salience):
        return at_write_time
    names = [store.name for store in stores]
    aware = [f"{QUERY}{source}" for source in _named_files(query_aware, names)]
    return named_salience([*_named_files(at_write_time, names), *aware], names)


def _named_files(files: AnySalience | None, stores: Sequence[str]) -> list[str]:
    """Files as the command line names them."""
    if files is None:
        return []
    if not isinstance(files, Mapping):
        return [str(files)]
    if unknown := [name for name in files if name not in stores]:
        raise MemAuditError(f"salience is given for the store {unknown[0]!r}, which is not scored")
    return [f"{name}={file}" for name, file in files.items()]


def as_stores(store: AnyStore | Sequence[AnyStore]) -> list[ExportedStore]:
    if isinstance(store, ExportedStore | str | Path):
        return [as_store(store)]
    if not store:
        raise MemAuditError("no store to score; give a store or a list of stores")
    return [as_store(one) for one in store]


def as_judge(judge: str | Judge) -> Judge:
    given = _no_path(judge)
    return named_judge(given) if isinstance(given, str) else given


def _no_path(judge: Given) -> Given:
    if isinstance(judge, Path):
        raise MemAuditError(f"judge {str(judge)!r} is a path; give labels({str(judge)!r})")
    return judge


def _path(path: PathLike | None) -> Path | None:
    return None if path is None else Path(path)


def compare(results: ScoreResult | PathLike | Sequence[ScoreResult | PathLike]) -> Board:
    """Rank stores by their mean scores, with intervals and paired tests.

    Takes results of `score`, files and folders of saved ones. Results of one package are compared
    over one union. Where theirs differ, all stores are scored again over the union of all; saved
    files cannot be scored again, so there it is an error. So are different judges.
    """
    from memaudit.kernel.score.score_files import entries_of

    given = [results] if isinstance(results, ScoreResult | str | Path) else list(results)
    if not given:
        raise MemAuditError("nothing to compare; give results of memaudit.score")
    by_package: dict[str, list[ScoreResult]] = {}
    files: list[tuple[str, dict[str, Any]]] = []
    for result in given:
        if isinstance(result, ScoreResult):
            by_package.setdefault(result.digest, []).append(result)
        else:
            files += _saved(Path(result))
    files += [
        (together.package.name, together.to_json())
        for together in map(_over_one_union, by_package.values())
    ]
    return board_of_scores(entries_of(files))


def _saved(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The scores of a file, or of the files of a folder, by package; other files are left out."""
    found = []
    for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
        data = read_object(file, "")
        packages = data.get("packages")
        rows = packages if isinstance(packages, list) else [data]
        found += [(file.name, row) for row in rows if isinstance(row, dict) and "scores" in row]
    if not found:
        raise MemAuditError(f"{path}: holds no scores; give files of memaudit score --json")
    return found


def _over_one_union(results: Sequence[ScoreResult]) -> ScoreResult:
    """One result with all stores; scored again unless there is only one."""
    first = results[0]
    if len(results) == 1:
        return first
    stores: dict[str, ExportedStore] = {}
    judges: dict[str, Judge] = {}
    for result in results:
        mine, theirs = first.scoring, result.scoring
        if replace(mine, judges={}) != replace(theirs, judges={}):
            raise MemAuditError(
                f"results of {first.package.name!r} were scored at other budgets or by other "
                "rules; score all stores alike"
            )
        if mine.judge_name != theirs.judge_name:
            raise MemAuditError(
                f"results of {first.package.name!r} were judged by {mine.judge_name!r} and by "
                f"{theirs.judge_name!r}; judge all stores alike"
            )
        for store in result.exported:
            known = stores.setdefault(store.name, store)
            if store_digest(known) != store_digest(store):
                raise MemAuditError(
                    f"two stores are called {store.name!r}; import one of them with another name"
                )
            judges[store.name] = theirs.judges[store.name]
    return score_package(
        first.original_package, list(stores.values()), replace(first.scoring, judges=judges)
    )


def solve(
    package: AnyPackage,
    budget: Any,
    group_cap: int | None = None,
    solver: str = "auto",
    *,
    seconds: float | None = None,
    check: bool = True,
    threads: int | None = None,
    hint: Collection[str] = (),
    progress: Watch | None = None,
) -> Optimum:
    """The best store of a package within a budget, certified wherever that is possible.

    `group_cap` defaults to the package's own. With a time limit the best store
    found comes back with a valid bound. `check=False` skips the certificate check; the result is
    then not called certified. `threads` changes the time it takes and nothing else. `hint` is a
    store to start from, such as one of a frontier.
    """
    return solve_package(
        as_package(package),
        budget,
        group_cap,
        solver,
        seconds=seconds,
        check=check,
        threads=threads,
        hint=hint,
        progress=progress,
    )


def frontier(
    package: AnyPackage,
    max_budget: Any,
    group_cap: int | None = None,
    progress: FrontierProgress | None = None,
    *,
    threads: int | None = None,
) -> Frontier:
    """OPT(B) for every whole budget B up to `max_budget`.

    `progress` is called with the budgets done and the budgets in all.
    """
    return package_frontier(as_package(package), max_budget, group_cap, progress, threads=threads)


def verify(package: AnyPackage, certificate: Certificate | PathLike) -> Verdict:
    """Whether a certificate proves the optimum of this package; if not, which step fails."""
    if not isinstance(certificate, Certificate):
        path = Path(certificate)
        certificate, *more = read_certificates(path)
        if more:
            raise MemAuditError(f"{path}: holds several certificates; memaudit verify checks all")
    return check_certificate(as_package(package), certificate)


def value(package: AnyPackage, store: Iterable[str]) -> Enclosure:
    """F(store), the value of candidates by id; a point unless some h is irrational."""
    return store_value(as_package(package), store)


def picture(result: ScoreResult, path: PathLike) -> None:
    """Draw the score of every store over all budgets, as an SVG file."""
    from memaudit.show.svg_charts import write_score_chart

    write_score_chart(result, Path(path))


def build(
    path: PathLike,
    out: PathLike | None = None,
    *,
    format: str | None = None,
    subset: PathLike | None = None,
    conversation: str | Sequence[str] = (),
    cost_rule: str | None = None,
    group: str = "turn",
    units: PathLike | None = None,
    memories: PathLike | None = None,
    coverage: PathLike | Sequence[PathLike] = (),
) -> list[Package]:
    """One package per conversation of a dataset, by its labels and yours; no model is asked.

    Candidates compete within a turn, or within a `group` of "session". With `out` the packages and
    a manifest are written there, and those that exist are kept.
    """
    from memaudit.building.build_folder import BuildJob, build_into
    from memaudit.judges.label_files import read_labels

    wanted = (conversation,) if isinstance(conversation, str) else tuple(conversation)
    given = read_labels(_path(units), _path(memories), _paths(coverage))
    job = BuildJob(Path(path), format, _path(subset), wanted, cost_rule, given, group)
    if out is not None:
        build_into(job, Path(out))
        return read_packages(out)
    with TemporaryDirectory() as folder:
        build_into(job, Path(folder) / "packages")
        return read_packages(Path(folder) / "packages")


@dataclass(frozen=True, slots=True, repr=False)
class SummaryResult:
    """The summary of a diagnosis or a run, and the folder of its rows."""

    folder: Path
    summary: Mapping[str, Any]
    table: Frame

    def __repr__(self) -> str:
        names, rows = self.table
        return "\n".join(
            ", ".join(f"{name} {_shown(value)}" for name, value in zip(names, row, strict=True))
            for row in rows
        )

    def to_frame(self) -> Any:
        """A pandas data frame with a row per store or writer."""
        return to_frame(self.table)

    def _repr_html_(self) -> str:
        return html_table(*self.table) + html_text(f"rows are in {self.folder}")


def _shown(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
