"""`memaudit diagnose`: who lost the answer, writing, retrieval or reading."""

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.cache import DEFAULT_CACHE
from memaudit.cli.judging import (
    BaseUrl,
    CacheFile,
    DeskOptions,
    MaxTokens,
    PriceIn,
    PriceOut,
    Provider,
    Yes,
    judging_desk,
)
from memaudit.cli.scoring_options import CostRule, LabelMemories
from memaudit.cli.text import safe
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.adapters.shape import ExportedStore
    from memaudit.audits.downstream.run import Run
    from memaudit.core.package import Package


def diagnose(
    package: Annotated[
        str,
        typer.Argument(
            metavar="PACKAGE",
            help="Packages: a path, natural, or event_graph:experiences=30:seeds=0-9.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where rows and summary go.")],
    budget: Annotated[
        str,
        typer.Option(
            metavar="B", help="A cost, or between 0 and 1 a share of the mean total cost."
        ),
    ],
    stores: Annotated[
        list[Path] | None,
        typer.Argument(metavar="STORE...", help="Stores memaudit import wrote."),
    ] = None,
    writer: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A writer of the package; may be given several times."),
    ] = None,
    retriever: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="bm25, dense, hybrid, recency, oracle, or dense:URL#MODEL, hybrid:URL#MODEL.",
        ),
    ] = "bm25",
    k: Annotated[int, typer.Option("--k", metavar="K", help="Memories retrieved a question.")] = 5,
    reader: Annotated[
        str, typer.Option(metavar="NAME", help="extractive, evidence-only or model:NAME.")
    ] = "extractive",
    prompt: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="model: answer-if-supported, evidence-first or extractive."
        ),
    ] = None,
    policy: Annotated[
        str, typer.Option(metavar="NAME", help="How a store over budget is cut: recency, salience.")
    ] = "recency",
    judge: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="STOREs: lexical (an estimate), pointer, labels:FILE, calls:FILE, model:NAME.",
        ),
    ] = "lexical",
    label_memories: LabelMemories = None,
    cost_rule: CostRule = None,
    seed: Annotated[int, typer.Option(metavar="N", help="For writers that draw.")] = 0,
    base_url: BaseUrl = None,
    provider: Provider = "live",
    cache: CacheFile = DEFAULT_CACHE,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    max_tokens: MaxTokens = None,
    yes: Yes = False,
    show: Annotated[
        str | None, typer.Option(metavar="QUERY", help="Print the chain of evidence of a question.")
    ] = None,
    failures: Annotated[
        bool, typer.Option("--failures", help="List every question that was not answered right.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Follow every question from writing over retrieval to the answer; run again to resume.

    Each question has exactly one outcome, decided by coverage and retrieval first and by the words
    of the answer second. Losses of writing, retrieval and reading add up.
    """
    from memaudit.adapters.store_files import read_store
    from memaudit.audits.downstream.cases import Wanted, make_cases, named_policy
    from memaudit.audits.downstream.run import run
    from memaudit.audits.downstream.spec import Setup
    from memaudit.audits.judges.registry import named_judge, refuse_shared_ids
    from memaudit.cli.package_names import packages_named
    from memaudit.cli.results import progress
    from memaudit.downstream.readers.registry import named_reader
    from memaudit.downstream.retrievers.registry import named_retriever
    from memaudit.writers.registry import named_writer

    packages = packages_named(package)
    if cost_rule is not None:
        packages = [one.recost(cost_rule) for one in packages]
    exported = [read_store(path) for path in stores or []]
    _warn(exported)
    if not exported and not writer:
        raise MemAuditError("there is no store to diagnose; give a STORE or a --writer")
    refuse_shared_ids([judge], label_memories, exported)
    found_by = named_retriever(
        retriever, cache.with_name(f"{cache.stem}-vectors.sqlite"), provider == "offline"
    )
    asked = [reader, judge] if exported else [reader]
    options = DeskOptions(base_url, provider, cache, price_in, price_out, max_tokens, yes)
    with judging_desk(asked, options, out) as desk:
        made = make_cases(
            packages,
            Wanted(
                budget=_budget(budget, packages),
                stores=exported,
                judge=named_judge(judge, label_memories, desk) if exported else None,
                writers=[named_writer(name) for name in writer or []],
                policy=named_policy(policy),
                seed=seed,
            ),
        )
        setup = Setup(found_by, k, named_reader(reader, prompt, desk))
        rows = sum(len(case.holdings) * len(case.package.queries) for case in made.cases)
        with progress("questions", rows) as done:
            finished = run(made.cases, setup, out, made.settings, done)
    _tell(finished, made.left_out)
    if as_json:
        typer.echo(json.dumps(finished.summary, indent=1))
        return
    _print(finished.summary, out, show, failures)


def _warn(stores: list["ExportedStore"]) -> None:
    """What the stores themselves say is not there."""
    from memaudit.audits.account import Account, unread_rows

    for store in stores:
        for warning in (*store.warnings, *Account(unread_rows=unread_rows(store)).lines):
            typer.echo(safe(f"{store.name}: {warning}"), err=True)


def _budget(text: str, packages: list["Package"]) -> Fraction:
    """The one budget, in cost units."""
    from memaudit.experiments.spec import absolute, parse_budgets

    given = parse_budgets(text)
    if len(given) != 1:
        raise MemAuditError("a diagnosis has one budget; run it once for each")
    total = sum((one.total_cost(one.candidate) for one in packages), Fraction(0))
    return absolute(given[0], total / len(packages))


def _tell(finished: "Run", left_out: dict[str, str]) -> None:
    """What happened besides, on standard error."""
    if finished.found:
        typer.echo(f"{finished.found} rows were there from before", err=True)
    if finished.cut:
        typer.echo(f"{finished.cut} bytes of damaged or unanswered rows were made again", err=True)
    for why in left_out.values():
        typer.echo(safe(f"left out: {why}"), err=True)


def _print(summary: dict[str, Any], out: Path, show: str | None, failures: bool) -> None:
    from memaudit.audits.downstream.run import MEMORIES, ROWS
    from memaudit.cli.diagnosis_tables import show_summary
    from memaudit.io.journal import read_journal

    if show is None and not failures:
        show_summary(summary)
        typer.echo(f"rows, memories and summary are in {safe(out)}")
        return
    from memaudit.cli.evidence_chain import list_failures, show_chain

    rows = list(read_journal(out / ROWS))
    if failures:
        list_failures(rows)
    if show is not None:
        show_chain(rows, (out / MEMORIES).read_text("utf-8"), show)
