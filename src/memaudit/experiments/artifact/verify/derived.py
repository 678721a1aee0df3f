"""Documents and the manifest's own fields, derived again from the parts' files."""

import json
from collections.abc import Mapping
from pathlib import Path

from memaudit.experiments.artifact.documents import documents
from memaudit.experiments.artifact.findings import Findings, findings
from memaudit.experiments.artifact.label_audit import label_texts
from memaudit.experiments.artifact.layout import CARD, CONTROLLED, CROISSANT, LABELS, SCOREBOARD
from memaudit.experiments.artifact.manifest import manifest
from memaudit.experiments.artifact.program import source_digest, versions
from memaudit.experiments.artifact.settings import Settings
from memaudit.experiments.artifact.verify.report import Report
from memaudit.experiments.artifact.verify.rows import read_text
from memaudit.experiments.artifact.verify.stated import Stated
from memaudit.experiments.engines.serial import Serial
from memaudit.experiments.scoreboard import scoreboard

FOLLOWING = ("command_lines", "declared", "documents", "packages", "scoreboard", "seeds")
"""Fields of the manifest that follow from the files, whatever program made them."""

OF_THE_PROGRAM = ("prompts", "data")
"""Fields that follow from the program's own files."""

NAMES_VERSION = (CARD, CROISSANT)
"""Documents that name the version of the program."""


def check_labels(folder: Path, settings: Settings, report: Report) -> None:
    """The label audit, computed again in full."""
    for name, text in label_texts(settings.packages, Serial()).items():
        path = f"{LABELS}/{name}"
        with report.reading(path):
            if read_text(folder / path) != text:
                report.problem(path, "comes out otherwise when it is computed again")


def check_derived(folder: Path, stated: Stated, report: Report) -> None:
    """Scoreboard, tables, card, metadata and manifest, from files that were found sound."""
    found = findings(folder, stated.settings)
    _check_controlled_board(folder, found, report)
    hashes = {name: sha for part in stated.parts.values() for name, sha in part.items()}
    texts = documents(found, hashes, stated.times.date)
    same_version = stated.identity.memaudit == versions()["memaudit"]
    for name, text in texts.items():
        if name in NAMES_VERSION and not same_version:
            continue
        with report.reading(name):
            there = read_text(folder / name)
            if name == SCOREBOARD and there != text:
                _compare_boards(there, text, report)
            elif there != text:
                report.problem(name, "does not follow from the files of the parts")
            report.checked["documents"] += 1
    _check_manifest(stated, found, texts, report)


def _check_controlled_board(folder: Path, found: Findings, report: Report) -> None:
    path = f"{CONTROLLED}/{SCOREBOARD}"
    lines = scoreboard(found.runs["sweep"]["budgets"], found.summaries)
    data = {"seeds": found.settings.seeds, "lines": [line.to_json() for line in lines]}
    with report.reading(path):
        if read_text(folder / path) != json.dumps(data, indent=1) + "\n":
            report.problem(path, "does not follow from the runs")


def _compare_boards(there: str, again: str, report: Report) -> None:
    """Which lines of the scoreboard are not what the rows say."""
    before = len(report.problems)
    try:
        lines = [dict(line) for line in json.loads(there)["lines"]]
    except (ValueError, KeyError, TypeError):
        lines = []
    expected = json.loads(again)["lines"]
    if len(lines) == len(expected):
        for line, own in zip(lines, expected, strict=True):
            shown = f"{own['where']}, {own['what']}"
            for name in sorted(line.keys() | own.keys()):
                report.same(SCOREBOARD, f"{shown}: {name}", line.get(name), own.get(name))
    if len(report.problems) == before:
        report.problem(SCOREBOARD, "does not follow from the rows")


def _check_manifest(
    stated: Stated, found: Findings, texts: Mapping[str, str], report: Report
) -> None:
    said = stated.model_dump(mode="json")
    again = manifest(said["identity"], said["times"], said["parts"], found, texts)
    same_source = stated.identity.source == source_digest()
    names = [*FOLLOWING, *(OF_THE_PROGRAM if same_source else ())]
    for name in names:
        if stated.identity.memaudit != versions()["memaudit"] and name == "documents":
            continue
        report.same("manifest.json", name, *_first_difference(said[name], again[name]))
    for digest in sorted(said["certificates"].keys() | again["certificates"].keys()):
        report.same(
            f"manifest.json, certificates of {digest[:16]}", "the hash",
            *_first_difference(said["certificates"].get(digest), again["certificates"].get(digest)),
        )  # fmt: skip


def _first_difference(said: object, again: object) -> tuple[object, object]:
    """The smallest parts of two objects that differ; both whole where they are equal."""
    if isinstance(said, dict) and isinstance(again, dict):
        for name in sorted(said.keys() | again.keys()):
            if said.get(name) != again.get(name):
                one, other = _first_difference(said.get(name), again.get(name))
                return {name: one}, {name: other}
    return said, again
