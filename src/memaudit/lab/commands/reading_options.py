"""Options for retrieval and reading, shared by diagnose, transfer and calibration."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.options import model_session
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import safe
from memaudit.kernel.io.files import beside

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
        self, out: Path, others: Sequence[str] = ()
    ) -> Iterator[tuple["ReadingSetup", "ModelSession | None"]]:
        """The retriever, reader and grader, and a session if any of them or `others` need one."""
        from memaudit.lab.downstream.answer_readers import named_reader
        from memaudit.lab.downstream.ask_questions import ReadingSetup
        from memaudit.lab.downstream.grading import named_grader
        from memaudit.lab.downstream.retrievers import named_retriever

        keys = in_force().model
        vectors = beside(keys.cache, "-vectors.sqlite", stem=True)
        retriever = named_retriever(self.retriever, vectors, keys.provider == "offline")
        with model_session([self.reader, self.grader, *others], out) as session:
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
    from memaudit.lab.commands.diagnosis_tables import list_failures, show_chain
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
