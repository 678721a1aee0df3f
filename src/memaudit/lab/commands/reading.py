"""What diagnose, study transfer and calibrate share: options of reading, tables of outcomes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from memaudit.cli.options import model_session
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import console, safe, safe_markup
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.files import beside
from memaudit.kernel.number_text import fixed, ratio, significant
from memaudit.kernel.score.judge import judged_how
from memaudit.kernel.words.text import counted
from memaudit.lab.commands.tables import plain_table
from memaudit.lab.downstream.diagnosis_files import (
    LOST_BY,
    REMARKS,
    AnswerGrades,
    Layer,
    Outcome,
    UnitFate,
    statement_fates,
)

if TYPE_CHECKING:
    from memaudit.lab.downstream.ask_questions import ReadingSetup
    from memaudit.lab.downstream.run import FinishedDiagnosis
    from memaudit.models.session import ModelSession

RetrieverName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Retriever: bm25, dense, hybrid, recency, oracle, dense:URL#MODEL or "
        "hybrid:URL#MODEL.",
    ),
]
Depth = Annotated[int, typer.Option("--k", metavar="K", help="Memories retrieved per question.")]
ReaderName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Reader: extractive, evidence-only, model:NAME or model:NAME#PROMPT; prompts are "
        "answer-if-supported (default), evidence-first and extractive.",
    ),
]
GraderName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Grades answers: words (rules), or model:NAME beside the rules.",
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
    grader: str = "words"

    @contextmanager
    def setup(
        self, others: Sequence[str] = ()
    ) -> Iterator[tuple["ReadingSetup", "ModelSession | None"]]:
        """The retriever, reader and grader, and a session if any of them or `others` need one."""
        from memaudit.lab.downstream.answer_readers import named_reader
        from memaudit.lab.downstream.ask_questions import ReadingSetup
        from memaudit.lab.downstream.grading import named_grader
        from memaudit.lab.downstream.retrievers import named_retriever

        keys = in_force().model
        # Vectors are large and of another kind than replies: a file beside the cache.
        vectors = beside(keys.cache, "-vectors.sqlite", stem=True)
        retriever = named_retriever(self.retriever, vectors, keys.provider == "offline")
        with model_session([self.reader, self.grader, *others]) as session:
            reader = named_reader(self.reader, session)
            grader = named_grader(self.grader, session)
            yield ReadingSetup(retriever, self.k, reader, grader), session


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
    rows: list[dict[str, Any]] = list(read_journal(out / ROWS))
    for query in show:
        if query == FAILED_QUESTIONS:
            list_failures(rows)
        else:
            show_chain(rows, query)
    return True


COMPARED = ("answered", "evidence_recall", "token_f1", "words_retrieved")
MOST_PAIRS = 10


def show_summary(summary: dict[str, Any]) -> None:
    screen = console()
    spec, stores = summary["spec"], summary["summaries"]
    packages = counted(summary["packages"], "package")
    screen.print(
        safe_markup(
            f"{counted(summary['questions'], 'question')} of {packages}, budget "
            f"{spec['budget']}, {spec['retriever']} with k = {spec['k']}, reader {spec['reader']}"
        )
    )
    if spec["judge"]:
        mark = judged_how(spec["judge"], spec["coverage_is_an_estimate"])
        screen.print(safe_markup(f"coverage of exported memories: judge {spec['judge']}, {mark}"))
    screen.print(outcomes_table(stores))
    for store in stores:
        screen.print(safe_markup(sum_line(store)))
    for line in grading_lines(summary):
        screen.print(safe_markup(line))
    for name, reasons in spec["kept_by"].items():
        counts = ", ".join(f"{reason} in {count}" for reason, count in reasons.items())
        screen.print(safe_markup(f"{name}: {counts} of {packages}"))
    screen.print(measures_table(stores))
    screen.print(means_line(summary))
    _differences(summary, screen)
    screen.print(remarks_table(stores))


def means_line(summary: dict[str, Any]) -> str:
    return (
        f"means with 95% intervals over {summary['clusters']}, if there are at least two; n counts "
        "the questions where a measure is defined"
    )


def columns(first: str, stores: list[dict[str, Any]]) -> Table:
    """A table with one column per store."""
    table = plain_table(first)
    for store in stores:
        table.add_column(safe_markup(store["store"]), justify="right", overflow="fold")
    return table


def outcomes_table(stores: list[dict[str, Any]]) -> Table:
    """Questions by outcome. Every question is in exactly one row."""
    table = columns("outcome", stores)
    for outcome in Outcome:
        table.add_row(
            outcome.value, *(_share(store, store["outcomes"][outcome]) for store in stores)
        )
    table.add_row("all", *(_share(store, store["questions"]) for store in stores))
    return table


def _share(store: dict[str, Any], count: int) -> str:
    return f"{count} {count / store['questions']:6.1%}"


def sum_line(store: dict[str, Any]) -> str:
    """Questions answered and lost by layer, which add up to all questions."""
    total = store["questions"]
    parts = {Layer.NONE.value: store["answered"], **store["losses"]}
    counts = " + ".join(f"{Fraction(share) * total} {name}" for name, share in parts.items())
    return f"{store['store']}: {counted(total, 'question')} = {counts}"


def grading_lines(summary: dict[str, Any]) -> Iterator[str]:
    """How a model and the word rules agree on the answers, if a model graded them."""
    grading = summary.get("grading")
    if grading is None:
        return
    grader = summary["spec"]["grader"]
    answers = counted(grading["answers"], "answer")
    yield f"{answers} graded by {grader}, {grading['undecided']} undecided"
    if grading["agreement"] is None:
        return
    n = grading["answers"] - grading["undecided"]
    kappa = "undefined" if grading["kappa"] is None else ratio(grading["kappa"])
    yield (
        f"the word rules have the same verdict on {grading['equal']} of {n} "
        f"({grading['agreement']:.1%}), Cohen's kappa {kappa}"
    )
    for pair in grading["disagreements"]:
        yield f"  {pair['answers']} {pair['words']} by words, {pair['model']} by the model"


def measures_table(stores: list[dict[str, Any]]) -> Table:
    table = columns("measure", stores)
    for name in stores[0]["measures"]:
        table.add_row(
            name.replace("_", " "), *(interval_text(store["measures"][name]) for store in stores)
        )
    return table


def interval_text(mean: dict[str, Any]) -> str:
    """A mean, its interval, and n if it is not defined for all questions."""
    if mean["mean"] is None:
        return "undefined"
    over = f", n {mean['n']}" if mean["undefined"] else ""
    if mean["ci_low"] is None:
        return f"{number_text(mean['mean'])}{over}"
    low, high = number_text(mean["ci_low"]), number_text(mean["ci_high"])
    return f"{number_text(mean['mean'])} ({low} to {high}){over}"


def number_text(number: float) -> str:
    """Three significant digits, or all digits before the decimal point."""
    return significant(number, 3) if abs(number) < 1000 else fixed(number, 0)


def _differences(summary: dict[str, Any], screen: Any) -> None:
    rows = [
        row
        for row in summary["differences"]
        if row["measure"] in COMPARED and row["mean_difference"] is not None
    ]
    # With many stores the pairs would fill the screen; summary.json has all of them.
    if not rows or len(rows) > MOST_PAIRS * len(COMPARED):
        if rows:
            screen.print("paired differences between stores are in summary.json")
        return
    screen.print(differences_table(rows))


def differences_table(rows: list[dict[str, Any]]) -> Table:
    table = plain_table(
        "measure", "first", "second", "first - second", "95% interval", "p", "p (Holm)", left=3
    )
    for row in rows:
        table.add_row(
            row["measure"].replace("_", " "),
            safe_markup(row["first"]),
            safe_markup(row["second"]),
            f"{row['mean_difference']:+.3g}",
            "-" if row["ci_low"] is None else f"{row['ci_low']:+.3g} to {row['ci_high']:+.3g}",
            f"{row['p']:.3g}",
            f"{row['p_holm']:.3g}",
        )
    return table


def remarks_table(stores: list[dict[str, Any]]) -> Table:
    table = columns("remark", stores)
    for name in sorted({why for store in stores for why in store["why"]}):
        table.add_row(name.replace("_", " "), *(str(store["why"].get(name, 0)) for store in stores))
    return table


LONGEST = 160
"""Characters of a text that are printed."""


def list_failures(rows: Sequence[dict[str, Any]]) -> None:
    """Print one line per question that was not answered correctly."""
    failed = [row for row in rows if row["outcome"] != Outcome.RIGHT]
    for row in failed:
        why = f" ({', '.join(row['why'])})" if row["why"] else ""
        reply = f"answered {_short(row['answer'])!r}" if row["answer"] else row["reply"]
        typer.echo(
            safe(
                f"{row['package']}/{row['query']}  {row['store']}: {row['outcome']}{why}: "
                f"{_short(row['question'])} {reply}, expected {_gold(row)}"
            )
        )
    typer.echo(f"{len(failed)} of {len(rows)} were not answered correctly")


def show_chain(rows: Sequence[dict[str, Any]], query: str) -> None:
    """Print everything about one question at every store; PACKAGE/QUERY if an id is ambiguous."""
    chosen = [row for row in rows if query in (row["query"], f"{row['package']}/{row['query']}")]
    packages = sorted({row["package"] for row in chosen})
    if not chosen:
        raise MemAuditError(f"no question {query!r}; --show failed lists the questions that failed")
    # Ids of questions are unique in a package only.
    if len(packages) > 1:
        raise MemAuditError(
            f"{len(packages)} packages have a question {query!r}; write {packages[0]}/{query}"
        )
    for row in chosen:
        _show(row)


def _show(row: dict[str, Any]) -> None:
    def text(id: str) -> str:
        return _short(row["texts"][id])

    lost = f", {LOST_BY[Layer(row['layer'])]}" if row["outcome"] != Outcome.RIGHT else ""
    lines = [
        f"{row['package']}/{row['query']} at {row['store']}: {row['outcome']}{lost}",
        f"  question  {_short(row['question'])}",
        f"  expected  {_gold(row)}",
        f"  answer    {_short(row['answer']) or row['reply']}",
        *_graded(row),
        *(f"  remark    {REMARKS[why]}" for why in row["why"]),
    ]
    for unit in statement_fates(map(UnitFate.model_validate, row["evidence"])):
        stages = ", ".join(f"{stage} ({names})" if names else stage for stage, names in unit.stages)
        needed, written, kept, retrieved = map(plain, unit.amounts)
        lines.append(
            f"  unit {unit.id}: {stages}; of {needed}{' parts' * bool(unit.names)} written "
            f"{written}, kept {kept}, retrieved {retrieved}"
            f"{'' if unit.supports else '; not needed: the question asks for the current value'}"
        )
        if unit.says:
            lines.append(f"    says: {_short(unit.says)}")
        for link, names in unit.memories:
            fate = "pruned" if not link.kept else "not retrieved"
            fate = f"rank {link.rank}" if link.rank else fate
            lines.append(f"    {names or plain(link.covers)} by {link.id}, {fate}: {text(link.id)}")
    for rank, id in enumerate(row["retrieved"], start=1):
        used = ", used" if id in row["used"] else ""
        lines.append(f"  rank {rank}{used}: {id}: {text(id)}")
    for line in lines:
        typer.echo(safe(line))


def _graded(row: dict[str, Any]) -> Iterator[str]:
    if row.get("grades"):
        yield f"  graded    {_short(AnswerGrades.model_validate(row['grades']).text)}"


def _gold(row: dict[str, Any]) -> str:
    if row["abstention"]:
        return "to abstain"
    return repr(_short(row["gold"])) if row["gold"] else "not given"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
