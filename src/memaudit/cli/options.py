"""Arguments and options that commands share, spelled and checked once."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from memaudit.cli.assignments import SET
from memaudit.cli.settings import ModelKeys, in_force
from memaudit.cli.terminal import safe
from memaudit.judges.defaults import DEFAULT_JUDGE
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import beside
from memaudit.kernel.solvers.protocol import checked_seconds, use_threads
from memaudit.kernel.words.text import counted

if TYPE_CHECKING:
    from memaudit.engines import Engine
    from memaudit.kernel.io.store_file import ExportedStore, Times
    from memaudit.kernel.score.result import Asked
    from memaudit.models.session import AskProgress, ModelSession
    from memaudit.workspace.task_journal import TaskRunner


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Turn a parameter whose type is a dataclass into one option per field."""
    signature = inspect.signature(command)
    parameters = list(signature.parameters.values())
    groups: dict[str, Any] = {
        parameter.name: parameter.annotation
        for parameter in parameters
        if is_dataclass(parameter.annotation)
    }

    @wraps(command)
    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    options = [option for parameter in parameters for option in _options(parameter, groups)]
    called.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    called.__annotations__ = {option.name: option.annotation for option in options}
    return called


def _options(parameter: inspect.Parameter, groups: dict[str, Any]) -> Iterator[inspect.Parameter]:
    if parameter.name not in groups:
        yield parameter
        return
    group = groups[parameter.name]
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        yield parameter.replace(
            name=field.name, annotation=hints[field.name], default=field.default
        )


def _group_cap(value: int | None) -> int | None:
    if value is not None and value < 1:
        raise MemAuditError(f"--group-cap must be at least 1, not {value}")
    return value


PackagePath = Annotated[Path, typer.Argument(metavar="PACKAGE", help="A package.")]
PackagesPath = Annotated[
    Path, typer.Argument(metavar="PACKAGE", help="A package, or a folder of packages.")
]
LabelledPackages = Annotated[
    list[str],
    typer.Argument(
        metavar="PACKAGE",
        help="Packages, folders written by memaudit build, or a shipped set: natural, short or "
        "long.",
    ),
]
StorePath = Annotated[
    Path, typer.Argument(metavar="STORE", help="A store written by memaudit import.")
]
StoreArgument = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help="A store written by memaudit import, or an export: [NAME=]PATH[+PATH][@VIEW]",
    ),
]
StoreArguments = Annotated[
    list[str],
    typer.Argument(
        metavar="STORE",
        help="Stores written by memaudit import, or exports: [NAME=]PATH[+PATH][@VIEW]",
    ),
]
StoresOnly = Annotated[
    bool,
    typer.Option("--stores-only", help="Leave the package's own candidates out of every optimum."),
]
Budgets = Annotated[
    str, typer.Option("--budget", metavar="B[,B...]", help="Budgets, separated by commas.")
]
LabelMemories = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE[,FILE...]",
        help="labels:FILE only: the memories that the labels refer to, one file for each.",
    ),
]
SalienceNames = Annotated[
    list[str] | None,
    typer.Option(
        "--salience",
        metavar="SOURCE",
        help="Salience: model:NAME, or a file of calls, [STORE=]FILE, one per store; with query: "
        "before it, given with the questions in sight. Default: the scores that the system stored.",
    ),
]
CostRule = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="Measure every cost by words, unicode_words, bytes or tokens:NAME. Default: the "
        "package's rule.",
    ),
]
GroupCap = Annotated[
    int | None,
    typer.Option(
        metavar="K",
        callback=_group_cap,
        help="Candidates a store may keep per experience. Default: the package's.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Threads, for a solve and for several budgets; the result is the same. Default: all "
        "cores, up to 8.",
        callback=use_threads,
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        callback=checked_seconds,
        help="Stop each solve after S seconds. Default: no limit.",
    ),
]
PolicyName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How a store over budget is cut: recency, top, salience or query_salience. Default: "
        "recency, or top where entries of a document have no times.",
    ),
]
JudgeName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Decides coverage: offline (an estimate with its error), lexical, pointer, "
        "labels:FILE, calls:FILE or model:NAME.",
    ),
]


JudgeNames = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="NAME",
        help="Decides coverage: offline (an estimate with its error), lexical, pointer, "
        "labels:FILE[,FILE...], calls:FILE or model:NAME; repeat it to give one file per store, in "
        f"their order. Default: {DEFAULT_JUDGE}.",
    ),
]
Ask = Annotated[
    str | None,
    typer.Option(
        metavar="model:NAME",
        help="After the offline judge, ask this judge (labels:FILE too) about the cells that the "
        "verdict hangs on, the most influential first.",
    ),
]
MaxCells = Annotated[
    int | None, typer.Option(metavar="N", help="ask: about at most N cells of a package.")
]


BUDGETS = "write budgets as --budget 30 or --budget 10,20,40"


def parse_budgets(text: str) -> list[Fraction]:
    """Read "10,20,40"; decimals are exact."""
    from memaudit.kernel.exact import exact

    budgets = []
    for part in text.split(","):
        if not part.strip():
            raise MemAuditError(f"budgets {text!r} have an empty entry; {BUDGETS}")
        try:
            budgets.append(exact(part))
        except ValueError as error:
            raise MemAuditError(f"budget {part.strip()!r}: {error}; {BUDGETS}") from None
        if budgets[-1] < 0:
            raise MemAuditError(f"budget {part.strip()} is negative; budgets are 0 or more")
    return budgets


def distinct_budgets(text: str) -> tuple[Fraction, ...]:
    """Read "10,20,40" and refuse duplicates."""
    from memaudit.kernel.exact import plain

    budgets = parse_budgets(text)
    for place, budget in enumerate(budgets):
        if budget in budgets[:place]:
            raise MemAuditError(f"budget {plain(budget)} is given twice; give each budget once")
    return tuple(budgets)


def one_budget(text: str) -> Fraction:
    (budget, *more) = distinct_budgets(text)
    if more:
        raise MemAuditError("give one budget; run it once per budget")
    return budget


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """The options of commands that call a model; `spread` makes options of the fields."""

    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="model: base URL of an OpenAI-compatible server. Default: OpenAI."
        ),
    ] = None
    provider: Annotated[
        str,
        typer.Option(metavar="NAME", help="model: live, batch, or offline (cached replies only)."),
    ] = "live"
    cache: Annotated[Path, typer.Option(metavar="DB", help="model: the cache file of replies.")] = (
        ModelKeys().cache
    )
    price_in: Annotated[
        str | None,
        typer.Option(
            metavar="USD", help="model: price per million input tokens, for the cost estimate."
        ),
    ] = None
    price_out: Annotated[
        str | None, typer.Option(metavar="USD", help="model: price per million output tokens.")
    ] = None
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="model: stop after N tokens. Default: no limit.")
    ] = None
    yes: Annotated[
        bool, typer.Option("--yes", help="model: do not ask for confirmation before spending.")
    ] = False


NO_SESSION = SessionOptions()


def assigned(name: str) -> bool:
    """Whether a setting was given for this run alone: what then does not fit is an error.

    What stands in a file is for many commands, and does not have to fit each of them.
    """
    return in_force().origins.get(name) == SET


def label_memories(judges: Sequence[str]) -> Path | None:
    """The setting `judge.memories`, for judges that read it."""
    reads = any(judge.startswith("labels:") for judge in judges)
    return in_force().judge.memories if reads or assigned("judge.memories") else None


def chosen_draws(usual: int, least: int = 1) -> int:
    """The setting `score.draws`, or the usual number of a command."""
    draws = in_force().score.draws
    if draws is None:
        return usual
    if draws < least:
        raise MemAuditError(f"score.draws must be at least {least} here, not {draws}")
    return draws


TrustPackageCells = Annotated[
    bool,
    typer.Option(
        "--trust-package-cells",
        help="Keep the package's assumed cells. Default: the judge judges them too.",
    ),
]


def show_asked(state: "Asked") -> None:
    """After every round, say what another judge was asked so far."""
    if state.rounds and not (state.settled or state.certain):
        typer.echo(safe(state.text), err=True)


def plan_in_force(judges: Sequence[str] | None) -> dict[str, Any]:
    """The parameters of a score that are settings; threads hold for every solve from now on."""
    settings = in_force()
    use_threads(settings.solver.threads)
    return {
        "label_memories": label_memories(judges or ()),
        "group_cap": settings.score.group_cap,
        "seconds": settings.solver.seconds,
        "trust_package_cells": settings.score.trust_package_cells,
        "draws": settings.score.draws,
    }


@contextmanager
def model_session(
    wanted: Sequence[str] | bool,
    out: Path,
    batch_file: Path | None = None,
    progress: "Callable[[str, AskProgress], None] | None" = None,
) -> Iterator["ModelSession | None"]:
    """A session for calling a model by the settings, or None if no model is needed.

    The requests of a batch are written beside `out`, unless they have a file of their own.
    """
    if not (wanted if isinstance(wanted, bool) else any(map(_is_model, wanted))):
        yield None
        return
    from memaudit.models.cache import Cache
    from memaudit.models.live import RetryPolicy
    from memaudit.models.session import ModelSettings, SessionCallbacks, open_session
    from memaudit.models.spending import price_of

    keys = in_force().model
    settings = ModelSettings(
        provider=keys.provider,
        base_url=keys.base_url,
        timeout=keys.timeout,
        price=price_of(keys.price_in, keys.price_out),
        max_total_tokens=keys.max_tokens,
        max_cost=keys.max_cost,
        retry=RetryPolicy(retries=keys.retries),
    )
    callbacks = SessionCallbacks(
        show=lambda line: typer.echo(safe(line), err=True),
        agree=lambda: typer.confirm("continue?", err=True),
        yes=keys.yes,
        progress=progress,
    )
    requests = batch_file or beside(out, "-requests.jsonl", stem=True)
    with Cache(keys.cache) as cache:
        yield open_session(settings, cache, requests, callbacks, keys.concurrency)


@contextmanager
def judging_session(
    wanted: Sequence[str] | bool, options: SessionOptions, out: Path
) -> Iterator["ModelSession | None"]:
    """A session for calling a model, or None if no model is needed."""
    if options == NO_SESSION:
        with model_session(wanted, out) as session:
            yield session
        return
    if not (wanted if isinstance(wanted, bool) else any(map(_is_model, wanted))):
        yield None
        return
    from memaudit.models import BASE_URL
    from memaudit.models.cache import Cache
    from memaudit.models.session import ModelSettings, SessionCallbacks, open_session
    from memaudit.models.spending import price_of

    if options.max_tokens is not None and options.max_tokens < 1:
        raise MemAuditError(f"--max-tokens must be at least 1, not {options.max_tokens}")
    settings = ModelSettings(
        provider=options.provider,
        base_url=options.base_url or BASE_URL,
        price=price_of(options.price_in, options.price_out),
        max_total_tokens=options.max_tokens,
    )
    callbacks = SessionCallbacks(
        show=lambda line: typer.echo(safe(line), err=True),
        agree=lambda: typer.confirm("continue?", err=True),
        yes=options.yes,
    )
    with Cache(options.cache) as opened:
        yield open_session(settings, opened, beside(out, "-requests.jsonl", stem=True), callbacks)


def _is_model(judge: str) -> bool:
    return judge.startswith("model:")


ConversationNames = Annotated[
    list[str] | None,
    typer.Option(
        metavar="OLD=NEW",
        help="A store names the conversation OLD, the package NEW; may be repeated.",
    ),
]


JournalFile = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        metavar="FILE",
        help="Keep finished results in this file; run the same command again to resume.",
    ),
]


@contextmanager
def kept_in(
    journal: Path | None, command: str, settings: Callable[[], dict[str, Any]], run: "TaskRunner"
) -> Iterator["TaskRunner"]:
    """The runner that keeps results in a journal, if one is given.

    `settings` are everything that decides the results; they are asked for with a journal only.
    """
    journal = journal or in_force().engine.journal
    if journal is None:
        yield run
        return
    from memaudit.workspace.task_journal import task_journal

    with task_journal(journal, command, settings(), run) as kept:
        if kept.existing:
            already = counted(kept.existing, "result")
            typer.echo(safe(f"{already} already existed in {journal}"), err=True)
        if kept.cut:
            typer.echo(f"{kept.cut} bytes of damaged results were replaced", err=True)
        try:
            yield kept.map
        except KeyboardInterrupt:
            there = f"{counted(kept.rows, 'result')} in {journal}"
            line = f"stopped with {there}; run the same command again to resume"
            typer.echo(safe(line), err=True)
            raise


FEW = 8
"""Packages for which it is not worth it to start processes."""


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Where the packages of a command are computed."""

    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Where packages are computed: processes, serial or dask. Default: processes, "
            "or serial if there are few.",
        ),
    ] = None
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Number of processes. Default: one per core.")
    ] = None
    address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Address of a running Dask cluster."),
    ] = None

    def chosen(self, one_process: str = "", few: int = FEW) -> "Engine":
        """The engine; `one_process` names what cannot be shared among processes, if anything."""
        from memaudit.engines import named_engine

        if self == EngineOptions():
            return chosen_engine(one_process, few)
        usual = "serial" if one_process or self.jobs == 1 else "processes"
        few = few if self.engine is None else 0
        engine = named_engine(self.engine or usual, self.jobs, self.address, few)
        if one_process and (engine.name != "serial" or (self.jobs or 1) > 1):
            raise MemAuditError(f"{one_process} runs in one process; leave out --engine and --jobs")
        return engine


NO_ENGINE = EngineOptions()


def chosen_engine(one_process: str = "", few: int = FEW) -> "Engine":
    """The engine of the settings; `one_process` names what cannot be shared, if anything."""
    from memaudit.engines import named_engine

    keys = in_force().engine
    if one_process:
        several = assigned("engine.name") and keys.name not in (None, "serial")
        if several or (assigned("engine.jobs") and (keys.jobs or 1) > 1):
            raise MemAuditError(
                f"{one_process} runs in one process; leave out engine.name and engine.jobs"
            )
        return named_engine("serial")
    name = keys.name or ("serial" if keys.jobs == 1 else "processes")
    address = keys.address if name == "dask" or assigned("engine.address") else None
    return named_engine(name, keys.jobs, address, few if keys.name is None else 0)


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How stores are read for a comparison."""

    times: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="Times in the texts of memories: shown (those that the system's reader is shown), "
            "none or all. Default: as imported.",
        ),
    ] = None
    map: ConversationNames = None


NO_STORE_OPTIONS = StoreOptions()


def read_stores(arguments: Sequence[str], options: StoreOptions) -> "list[ExportedStore]":
    """The stores of a comparison, all with the same rule for times; their warnings are printed."""
    from memaudit.kernel.score.package_scores import refuse_incomparable
    from memaudit.kernel.score.store_match import check_names, examples_of, parse_names, renamed
    from memaudit.stores.registry import open_store, parse_argument

    times = named_times(options.times) if options.times else None
    names = parse_names(options.map or [])
    stores = []
    before: set[str] = set()
    for argument in arguments:
        opened = open_store(parse_argument(argument))
        before |= examples_of(opened)
        store = renamed(opened, names)
        stores.append(store.model_copy(update={"times": times}) if times else store)
    refuse_incomparable(stores)
    check_names(names, before)
    for store in stores:
        for warning in store.warnings:
            typer.echo(safe(f"{store.name}: {warning}"), err=True)
    return stores


def read_views(
    arguments: Sequence[str], stores: "Sequence[ExportedStore]", view: str, options: StoreOptions
) -> "list[ExportedStore]":
    """The stores again, those that are exports and have this view by it."""
    from memaudit.kernel.score.store_match import parse_names, renamed
    from memaudit.stores.registry import ADAPTERS, open_store, parse_argument

    names = parse_names(options.map or [])
    seen = []
    for argument, store in zip(arguments, stores, strict=True):
        adapter = ADAPTERS.get(store.origin.format)
        if adapter is None or view not in adapter.views or store.origin.view == view:
            seen.append(store)
            continue
        again = renamed(open_store(replace(parse_argument(argument), view=view)), names)
        seen.append(again.model_copy(update={"name": store.name, "times": store.times}))
    if not any(store.origin.view == view for store in seen):
        raise MemAuditError(f"--views {view}: no store has this view")
    return seen


def place_of(argument: str) -> Path:
    """The path of a STORE argument, beside which files are written."""
    from memaudit.stores.registry import parse_argument

    return parse_argument(argument).paths[0]


def named_times(name: str) -> "Times":
    """The value of `--times`."""
    known: dict[str, Times] = {"shown": "shown", "none": "none", "all": "all"}
    if name not in known:
        raise MemAuditError(f"--times {name!r} is not known; choose from {', '.join(known)}")
    return known[name]
