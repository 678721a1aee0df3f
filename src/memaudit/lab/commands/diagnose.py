"""`memaudit diagnose`: what lost an answer, writing, retrieval or reading."""

import json
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.options import (
    SalienceNames,
    chosen_engine,
    label_memories,
)
from memaudit.cli.terminal import resumable, safe
from memaudit.judges.defaults import DEFAULT_JUDGE
from memaudit.kernel.errors import MemAuditError
from memaudit.lab.commands.reading import (
    AsJson,
    Depth,
    ReaderName,
    Reading,
    RetrieverName,
    ShowQuestions,
    print_questions,
    report_progress,
    show_summary,
)

if TYPE_CHECKING:
    from memaudit.kernel.io.packages import PlaceOfPackage
    from memaudit.kernel.io.store_file import ExportedStore
    from memaudit.workspace.task_journal import TaskRunner


def diagnose(
    package: Annotated[
        str,
        typer.Argument(
            metavar="PACKAGE",
            help="A path, a shipped set (natural, short, long), or "
            "event_graph:experiences=30:seeds=0-9.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for rows and summary.")],
    budget: Annotated[
        str,
        typer.Option(
            metavar="B",
            help="A cost, or a share of the mean total cost if between 0 and 1.",
        ),
    ],
    stores: Annotated[
        list[Path] | None,
        typer.Argument(metavar="STORE", help="Stores written by memaudit import."),
    ] = None,
    writer: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A writer to run on the packages; may be repeated."),
    ] = None,
    retriever: RetrieverName = "bm25",
    k: Depth = 5,
    reader: ReaderName = "extractive",
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How a store over budget is pruned: recency, top or salience. Default: recency, "
            "or top where entries of a document have no times.",
        ),
    ] = None,
    judge: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Decides what STOREs cover: offline or lexical (estimates), pointer, labels:FILE, "
            "calls:FILE or model:NAME.",
        ),
    ] = DEFAULT_JUDGE,
    salience: SalienceNames = None,
    show: ShowQuestions = None,
    as_json: AsJson = False,
) -> None:
    """Follow every question from writing through retrieval to the answer.

    Each question has exactly one outcome. Coverage and retrieval decide it first, then the words of
    the answer. Losses of writing, retrieval and reading add up. Run the same command again to
    resume.
    """
    from memaudit.judges.registry import named_judge
    from memaudit.judges.salience import named_salience
    from memaudit.kernel.score.judge import refuse_shared_ids
    from memaudit.lab.downstream.run import diagnose as run_diagnosis
    from memaudit.lab.downstream.store_cases import (
        StoreChoice,
        case_at,
        gathered,
        named_policy,
        refuse_unnamed,
    )
    from memaudit.lab.sweeps.runs.spec import named_places
    from memaudit.lab.sweeps.writers.registry import named_writer
    from memaudit.stores.registry import read_imported

    sources = salience or []
    # A server is asked by one process: caps and the cache belong to a session.
    asked = _asks(reader, judge if stores else "", sources)
    run = chosen_engine(asked).map
    places = named_places(package)
    exported = [read_imported(path) for path in stores or []]
    _warn(exported)
    if not exported and not writer:
        raise MemAuditError("no store to diagnose; give a STORE or a --writer")
    wanted = [judge, *sources] if exported else sources
    memories = label_memories([judge]) if exported else None
    with Reading(retriever, k, reader).setup(wanted) as (setup, session):
        by = named_judge(judge, memories, session) if exported else None
        if by is not None:
            refuse_shared_ids(by, exported)
        names = [store.name for store in exported]
        choice = StoreChoice(
            budget=_budget(budget, places, run),
            stores=exported,
            judge=by,
            writers=[named_writer(name) for name in writer or []],
            policy=named_policy(policy) if policy else None,
            seed=0,
            salience=named_salience(sources, names, session),
        )
        refuse_unnamed(exported, len(places))
        # Judging stores comes first and may take as long as the questions, so it has a bar of its
        # own.
        cases = []
        with resumable("packages", len(places), None) as done:
            for case in run(partial(case_at, choice), places):
                cases.append(case)
                done(len(cases))
        made = gathered(cases, choice)
        with resumable("questions", made.rows, out) as done:
            finished = run_diagnosis(made.cases, setup, out, made.settings, done, run)
    report_progress(finished, made.left_out)
    if as_json:
        typer.echo(json.dumps(finished.summary, indent=1))
    elif not print_questions(out, show):
        show_summary(finished)
        typer.echo(f"rows, memories and summary are in {safe(out)}")


def _warn(stores: list["ExportedStore"]) -> None:
    """Print the warnings that the stores carry, and how many rows were not read."""
    from memaudit.kernel.score.caveats import Caveats, unread_rows

    for store in stores:
        for warning in (*store.warnings, *Caveats(unread_rows=unread_rows(store)).lines):
            typer.echo(safe(f"{store.name}: {warning}"), err=True)


def _asks(reader: str, judge: str, salience: Sequence[str]) -> str:
    """The option that makes a diagnosis ask a server, if there is one."""
    asking = {"reader": reader, "judge": judge}
    asking["salience"] = next((name for name in salience if name.startswith("model:")), "")
    return next(
        (f"--{option} {name}" for option, name in asking.items() if name.startswith("model:")),
        "",
    )


def _budget(text: str, places: Sequence["PlaceOfPackage"], run: "TaskRunner") -> Fraction:
    from memaudit.kernel.package.budgets import budget_cost, is_share, split_budgets
    from memaudit.lab.downstream.store_cases import total_cost

    budgets = split_budgets(text)
    if len(budgets) != 1:
        raise MemAuditError("a diagnosis takes one budget; run it once per budget")
    if not is_share(budgets[0]):
        return budget_cost(budgets[0], None)
    total = sum(run(partial(total_cost, None), places), Fraction(0))
    return budget_cost(budgets[0], total / len(places))
