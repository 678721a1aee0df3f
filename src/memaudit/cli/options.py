"""Arguments and options that commands share, spelled and checked once."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.assignments import SET
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import safe
from memaudit.judges.defaults import DEFAULT_JUDGE
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.text import counted

if TYPE_CHECKING:
    from memaudit.kernel.io.store_file import ExportedStore
    from memaudit.kernel.score.result import Asked
    from memaudit.models.session import AskProgress, ModelSession
    from memaudit.workspace.engines import Engine
    from memaudit.workspace.task_journal import TaskRunner


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
SalienceNames = Annotated[
    list[str] | None,
    typer.Option(
        "--salience",
        metavar="SOURCE",
        help="Salience: model:NAME, or a file of calls, [STORE=]FILE, one per store; with query: "
        "before it, given with the questions visible. Default: the scores that the system stored.",
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


DatasetPath = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help="A dataset file. Its format may come first. Default: guessed from the content.",
    ),
]


def format_first(words: Sequence[str], formats: Collection[str]) -> tuple[str | None, list[Path]]:
    """The format, if one stands before the paths, and the paths. A single word is a path."""
    first, *others = words
    if others and first in formats:
        return first, [Path(word) for word in others]
    if others and not Path(first).exists():
        raise MemAuditError(
            f"{first}: is neither a file nor a format; known formats: {', '.join(formats)}"
        )
    return None, [Path(word) for word in words]


def dataset_argument(words: Sequence[str]) -> tuple[str | None, Path]:
    """The format of a dataset, if it was given, and its file."""
    from memaudit.conversations.registry import LOADERS

    format, (path, *more) = format_first(words, LOADERS)
    if more:
        raise MemAuditError(f"give one dataset file, not {1 + len(more)}")
    return format, path


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


def show_asked(state: "Asked") -> None:
    """After every round, say what another judge was asked so far."""
    if state.rounds and not (state.settled or state.certain):
        typer.echo(safe(state.text), err=True)


def plan_in_force(judges: Sequence[str] | None) -> dict[str, Any]:
    """The parameters of a score that are settings."""
    settings = in_force()
    return {
        "label_memories": label_memories(judges or ()),
        "group_cap": settings.score.group_cap,
        "seconds": settings.solver.seconds,
        "threads": settings.solver.threads,
        "trust_package_cells": settings.score.trust_package_cells,
        "draws": settings.score.draws,
    }


@contextmanager
def model_session(
    wanted: Sequence[str] | bool,
    _out: Path | None = None,
    *,
    progress: "Callable[[str, AskProgress], None] | None" = None,
) -> Iterator["ModelSession | None"]:
    """A session for calling a model by the settings, or None if no model is needed."""
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
    with Cache(keys.cache) as cache:
        yield open_session(settings, cache, callbacks, keys.concurrency)


def _is_model(judge: str) -> bool:
    return judge.startswith("model:")


ConversationNames = Annotated[
    list[str] | None,
    typer.Option(
        metavar="OLD=NEW",
        help="A store names the conversation OLD, the package NEW; may be repeated.",
    ),
]


@contextmanager
def kept_in(
    journal: Path | None, command: str, settings: Callable[[], dict[str, Any]], run: "TaskRunner"
) -> Iterator["TaskRunner"]:
    """The runner that keeps results in a journal, if one is given.

    `settings` are everything that decides the results; they are asked for with a journal only.
    """
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


def chosen_engine(one_process: str = "", few: int = FEW) -> "Engine":
    """The engine of the settings; `one_process` names what cannot be shared, if anything."""
    from memaudit.workspace.engines import named_engine

    keys = in_force().engine
    if one_process:
        several = assigned("engine.name") and keys.name not in (None, "serial")
        if several or (assigned("engine.jobs") and (keys.jobs or 1) > 1):
            raise MemAuditError(
                f"{one_process} runs in one process; leave out engine.name and engine.jobs"
            )
        return named_engine("serial")
    # A pool of one process would only cost its start.
    name = keys.name or ("serial" if keys.jobs == 1 else "processes")
    address = keys.address if name == "dask" or assigned("engine.address") else None
    return named_engine(name, keys.jobs, address, few if keys.name is None else 0)


def read_stores(
    arguments: Sequence[str], pairs: Sequence[str] | None = None
) -> "list[ExportedStore]":
    """The stores of a comparison; their warnings are printed.

    `pairs` are other names of conversations, as OLD=NEW. The setting `score.times` replaces the
    rule for times that each store was imported with.
    """
    from memaudit.kernel.score.package_scores import refuse_incomparable
    from memaudit.kernel.score.store_match import check_names, examples_of, parse_names, renamed
    from memaudit.stores.registry import open_store, parse_argument

    times = in_force().score.times
    names = parse_names(pairs or [])
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
