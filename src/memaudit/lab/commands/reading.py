"""What diagnose and study transfer share: options of reading, tables of outcomes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from memaudit.cli.options import model_session
from memaudit.cli.terminal import console, safe, safe_markup
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.number_text import fixed, significant
from memaudit.kernel.score.judge import judged_how
from memaudit.kernel.words.text import counted
from memaudit.lab.commands.tables import plain_table
from memaudit.lab.downstream.diagnosis_files import (
    COMPARED,
    LOST_BY,
    REMARKS,
    DiagnosisRow,
    DiagnosisSummary,
    MeasureMean,
    Outcome,
    StatementFate,
    StoreSummary,
)

if TYPE_CHECKING:
    from memaudit.lab.downstream.ask_questions import ReadingSetup
    from memaudit.lab.downstream.run import FinishedDiagnosis
    from memaudit.models.session import ModelSession

RetrieverName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Retriever: bm25, dense (embeddings) or oracle (looks at the coverage).",
    ),
]
Depth = Annotated[int, typer.Option("--k", metavar="K", help="Memories retrieved per question.")]
ReaderName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Reader: extractive, evidence-only or model:NAME.",
    ),
]
FAILED_QUESTIONS = "failed"
ShowQuestions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="QUERY",
        help="Print the chain of evidence of one question, or with `failed` list every question "
        "that was not answered correctly; may be repeated.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


@dataclass(frozen=True, slots=True)
class Reading:
    """How stores are read, as given on the command line."""

    retriever: str
    k: int
    reader: str

    @contextmanager
    def setup(
        self, others: Sequence[str] = ()
    ) -> Iterator[tuple["ReadingSetup", "ModelSession | None"]]:
        """The retriever and reader, and a session if any of them or `others` need one."""
        from memaudit.lab.downstream.answer_readers import named_reader
        from memaudit.lab.downstream.ask_questions import ReadingSetup
        from memaudit.lab.downstream.retrievers import named_retriever

        retriever = named_retriever(self.retriever)
        with model_session([self.reader, *others]) as session:
            reader = named_reader(self.reader, session)
            yield ReadingSetup(retriever, self.k, reader), session


def report_progress(finished: "FinishedDiagnosis", left_out: dict[str, str]) -> None:
    if finished.existing:
        typer.echo(f"{finished.existing} rows already existed", err=True)
    if finished.cut:
        typer.echo(f"{finished.cut} bytes of damaged or unanswered rows were replaced", err=True)
    for why in left_out.values():
        typer.echo(safe(f"skipped: {why}"), err=True)


def print_questions(out: Path, show: list[str] | None) -> bool:
    """Print what --show asks for; False if it is not given."""
    from memaudit.workspace.journal import read_journal
    from memaudit.workspace.run_folder import ROWS

    if not show:
        return False
    rows = [validated(DiagnosisRow, row, str(out / ROWS)) for row in read_journal(out / ROWS)]
    for query in show:
        if query == FAILED_QUESTIONS:
            list_failures(rows)
        else:
            show_chain(rows, query)
    return True


MOST_PAIRS = 10


def show_summary(finished: "FinishedDiagnosis") -> None:
    """Print a diagnosis or a transfer. Every question is in exactly one outcome."""
    screen = console()
    summary = DiagnosisSummary.model_validate(finished.summary)
    spec, stores = summary.spec, summary.summaries
    packages = counted(summary.packages, "record" if spec.source else "package")
    of = f"{packages} of {spec.source.file}" if spec.source else packages
    lines = [
        f"{counted(summary.questions, 'question')} of {of}, budget {spec.budget}, "
        f"{spec.retriever} with k = {spec.k}, reader {spec.reader}",
        *filter(None, (spec.note, spec.evidence)),
    ]
    if spec.judge:
        mark = judged_how(spec.judge, spec.coverage_is_an_estimate)
        lines.append(f"coverage of exported memories: judge {spec.judge}, {mark}")
    for name, about in spec.about_stores.items():
        peeks = " (LOOKS AT THE LABELS)" if name in spec.peeking_writers else ""
        lines.append(f"{name}: {about}{peeks}")
    for line in lines:
        screen.print(safe_markup(line))
    screen.print(outcomes_table(stores))
    for store in stores:
        screen.print(safe_markup(sum_line(store)))
    for name, reasons in spec.kept_by.items():
        counts = ", ".join(f"{reason} in {count}" for reason, count in reasons.items())
        screen.print(safe_markup(f"{name}: {counts} of {packages}"))
    screen.print(measures_table(stores))
    screen.print(
        f"means with 95% intervals over {summary.clusters}, if there are at least two; n counts "
        "the questions where a measure is defined"
    )
    _print_differences(summary)
    screen.print(remarks_table(stores))


def _by_store(first: str, stores: Sequence[StoreSummary]) -> Table:
    """A table with one column per store."""
    table = plain_table(first)
    for store in stores:
        table.add_column(safe_markup(store.store), justify="right", overflow="fold")
    return table


def outcomes_table(stores: Sequence[StoreSummary]) -> Table:
    table = _by_store("outcome", stores)
    for outcome in Outcome:
        counts = [(store.outcomes[outcome], store.questions) for store in stores]
        table.add_row(outcome.value, *(f"{count} {count / n:6.1%}" for count, n in counts))
    table.add_row("all", *(f"{store.questions} {1:6.1%}" for store in stores))
    return table


def sum_line(store: StoreSummary) -> str:
    """Questions answered and lost by layer, which add up to all questions."""
    counts = " + ".join(f"{count} {layer}" for layer, count in store.layers.items())
    return f"{store.store}: {counted(store.questions, 'question')} = {counts}"


def measures_table(stores: Sequence[StoreSummary]) -> Table:
    table = _by_store("measure", stores)
    for name in stores[0].measures:
        means = (interval_text(store.measures[name]) for store in stores)
        table.add_row(name.replace("_", " "), *means)
    return table


def interval_text(mean: MeasureMean) -> str:
    """A mean, its interval, and n if it is not defined for all questions."""
    if mean.mean is None:
        return "undefined"
    over = f", n {mean.n}" if mean.undefined else ""
    if mean.ci_low is None or mean.ci_high is None:
        return f"{number_text(mean.mean)}{over}"
    low, high = number_text(mean.ci_low), number_text(mean.ci_high)
    return f"{number_text(mean.mean)} ({low} to {high}){over}"


def number_text(number: float) -> str:
    """Three significant digits, or all digits before the decimal point."""
    return significant(number, 3) if abs(number) < 1000 else fixed(number, 0)


def _print_differences(summary: DiagnosisSummary) -> None:
    rows = [row for row in summary.differences if row.measure in COMPARED]
    # With many stores the pairs would fill the screen; summary.json has all of them.
    if len(rows) > MOST_PAIRS * len(COMPARED):
        console().print("paired differences between stores are in summary.json")
        return
    table = plain_table(
        "measure", "first", "second", "first - second", "95% interval", "p", "p (Holm)", left=3
    )
    for row in rows:
        if row.mean_difference is not None:
            table.add_row(
                row.measure.replace("_", " "),
                safe_markup(row.first),
                safe_markup(row.second),
                f"{row.mean_difference:+.3g}",
                "-" if row.ci_low is None else f"{row.ci_low:+.3g} to {row.ci_high:+.3g}",
                f"{row.p:.3g}",
                f"{row.p_holm:.3g}",
            )
    if table.row_count:
        console().print(table)


def remarks_table(stores: Sequence[StoreSummary]) -> Table:
    table = _by_store("remark", stores)
    for name in sorted({why for store in stores for why in store.why}):
        table.add_row(name.replace("_", " "), *(str(store.why.get(name, 0)) for store in stores))
    return table


LONGEST = 160
"""Characters of a text that are printed."""


def list_failures(rows: Sequence[DiagnosisRow]) -> None:
    """Print one line per question that was not answered correctly."""
    failed = [row for row in rows if row.failed]
    for row in failed:
        why = f" ({', '.join(row.why)})" if row.why else ""
        reply = f"answered {_short(row.answer)!r}" if row.answer else row.reply
        typer.echo(
            safe(
                f"{row.package}/{row.query}  {row.store}: {row.outcome}{why}: "
                f"{_short(row.question)} {reply}, expected {_gold(row)}"
            )
        )
    typer.echo(f"{len(failed)} of {len(rows)} were not answered correctly")


def show_chain(rows: Sequence[DiagnosisRow], query: str) -> None:
    """Print everything about one question at every store; PACKAGE/QUERY if an id is ambiguous."""
    chosen = [row for row in rows if query in (row.query, f"{row.package}/{row.query}")]
    packages = sorted({row.package for row in chosen})
    if not chosen:
        raise MemAuditError(f"no question {query!r}; --show failed lists the questions that failed")
    # Ids of questions are unique in a package only.
    if len(packages) > 1:
        raise MemAuditError(
            f"{len(packages)} packages have a question {query!r}; write {packages[0]}/{query}"
        )
    for row in chosen:
        for line in _chain_lines(row):
            typer.echo(safe(line))


def _chain_lines(row: DiagnosisRow) -> Iterator[str]:
    lost = f", {LOST_BY[row.layer]}" if row.failed else ""
    yield f"{row.package}/{row.query} at {row.store}: {row.outcome}{lost}"
    yield f"  question  {_short(row.question)}"
    yield f"  expected  {_gold(row)}"
    yield f"  answer    {_short(row.answer) or row.reply}"
    if row.grades:
        yield f"  graded    {_short(row.grades.text)}"
    for why in row.why:
        yield f"  remark    {REMARKS[why]}"
    for statement in row.statements:
        yield from _statement_lines(statement, row)
    for rank, id in enumerate(row.retrieved, start=1):
        used = ", used" if id in row.used else ""
        yield f"  rank {rank}{used}: {id}: {_short(row.texts[id])}"


def _statement_lines(statement: StatementFate, row: DiagnosisRow) -> Iterator[str]:
    stages = ", ".join(
        f"{stage} ({names})" if names else stage for stage, names in statement.stages
    )
    needed, written, kept, retrieved = map(plain, statement.amounts)
    yield (
        f"  unit {statement.id}: {stages}; of {needed}{' parts' * bool(statement.names)} written "
        f"{written}, kept {kept}, retrieved {retrieved}"
        f"{'' if statement.supports else '; not needed: the question asks for the current value'}"
    )
    if statement.says:
        yield f"    says: {_short(statement.says)}"
    for link, names in statement.memories:
        fate = "not retrieved" if link.kept else "pruned"
        fate = f"rank {link.rank}" if link.rank else fate
        covered = names or plain(link.covers)
        yield f"    {covered} by {link.id}, {fate}: {_short(row.texts[link.id])}"


def _gold(row: DiagnosisRow) -> str:
    if row.abstention:
        return "to abstain"
    return repr(_short(row.gold)) if row.gold else "not given"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
