"""Small finished folders: a diagnosis, and one full of attacks."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from pydantic import JsonValue

from memaudit.kernel.package.package import Package
from memaudit.lab.downstream.answer_readers import READERS
from memaudit.lab.downstream.ask_questions import ReadingSetup
from memaudit.lab.downstream.question import ServedStore, StoredMemory
from memaudit.lab.downstream.run import diagnose
from memaudit.lab.downstream.store_cases import DiagnosisCase
from tests.lab.downstream.newest import Newest
from tests.lab.downstream.small_runs import CASES
from tests.lab.sweeps.runs.report.conftest import ATTACK

SETTINGS: dict[str, JsonValue] = {
    "budget": 9,
    "judge": None,
    "coverage_is_an_estimate": False,
    "kept_by": {},
    "left_out": {},
    "peeking_writers": [],
}
SETUP = ReadingSetup(Newest(), 2, READERS["extractive"])


@pytest.fixture(scope="session")
def diagnosis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three packages of five questions, two stores."""
    folder = tmp_path_factory.mktemp("diagnoses") / "small"
    diagnose(CASES, SETUP, folder, SETTINGS)
    return folder


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A diagnosis in which every text and name attacks the page."""

    def text(place: str) -> str:
        return f"{place} {ATTACK}"

    package = Package.model_validate(
        {
            "name": text("package"),
            "experiences": [{"id": "e"}],
            "candidates": [],
            "units": [
                {"id": text(f"unit{at}"), "kind": "fact", "text": text("says")} for at in range(2)
            ],
            "queries": [
                {
                    "id": text(f"query{at}"),
                    "text": text(f"question{at}"),
                    "kind": text("kind"),
                    "answer": text("gold"),
                    "required": [text(f"unit{at}")],
                }
                for at in range(2)
            ],
        }
    )
    memories = (StoredMemory(text("memory"), text("stored"), {text("unit0"): Fraction(1, 2)}),)
    held = ServedStore(text("store"), memories, frozenset({text("memory")}), "everything fits")
    folder = tmp_path_factory.mktemp("hostile") / "out"
    settings = {**SETTINGS, "judge": text("judge"), "left_out": {"x": text("left")}}
    diagnose([DiagnosisCase.of(package, (held,))], SETUP, folder, settings)
    return folder


def changed(folder: Path, into: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of a folder with another summary."""
    copytree(folder, into)
    summary = json.loads((into / "summary.json").read_text())
    change(summary)
    (into / "summary.json").write_text(json.dumps(summary))
    return into


def say_transfer(summary: dict[str, Any]) -> None:
    """Make the summary of a diagnosis that of a transfer."""
    del summary["spec"]["packages"]
    summary["spec"] |= {
        "source": {"file": "f.json"},
        "note": "never a ratio",
        "evidence": "turns",
        "about_stores": {"dog": "keeps the dog"},
    }
