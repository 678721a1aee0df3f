"""Runs over three packages and two stores, without a model."""

import json
from pathlib import Path
from typing import Any

from memaudit.kernel.package.package import Package
from memaudit.lab.downstream.answer_readers import READERS, AnswerReader
from memaudit.lab.downstream.ask_questions import (
    QuestionResult,
    ReadingSetup,
    question_results,
    retrieve,
)
from memaudit.lab.downstream.question import ServedStore, questions
from memaudit.lab.downstream.retrievers import Retriever
from memaudit.lab.downstream.run import FinishedDiagnosis, diagnose
from memaudit.lab.downstream.store_cases import DiagnosisCase
from tests.lab.downstream.newest import Newest
from tests.lab.downstream.small import ALL, DOG, PACKAGE, store_of

CASES = [
    DiagnosisCase.of(
        PACKAGE.replace(name=name),
        (store_of(*ALL[: at + 2], name="some"), store_of(DOG, name="dog")),
    )
    for at, name in enumerate(("one", "two", "three"))
]
ROWS = 3 * 2 * 5


def examine(package: Package, store: ServedStore, setup: ReadingSetup) -> list[QuestionResult]:
    """The questions of one package at one store, without files."""
    retrieved = retrieve(package.name, questions(package), store, setup)
    return list(question_results(retrieved, setup.reader.read(retrieved.tasks)))


def made(
    folder: Path, retriever: Retriever | None = None, reader: AnswerReader | None = None, k: int = 2
) -> FinishedDiagnosis:
    """A run into a folder."""
    setup = ReadingSetup(retriever or Newest(), k, reader or READERS["extractive"])
    return diagnose(CASES, setup, folder, {"budget": 9})


def files(folder: Path) -> dict[str, bytes]:
    """What a run leaves behind."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of a run."""
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
