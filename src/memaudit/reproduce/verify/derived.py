"""Documents and the manifest's own fields, derived again from the parts' files."""

import json
from collections.abc import Mapping
from pathlib import Path

from memaudit.experiments.engines.local import Engine
from memaudit.reproduce.croissant import croissant
from memaudit.reproduce.documents import pages
from memaudit.reproduce.findings import Findings, findings
from memaudit.reproduce.folder import (
    CARD,
    CONTROLLED,
    CROISSANT,
    LABELS,
    MANIFEST,
    SCOREBOARD,
    text_sha256,
)
from memaudit.reproduce.label_results import label_texts
from memaudit.reproduce.manifest import manifest
from memaudit.reproduce.scoreboard import scoreboard
from memaudit.reproduce.settings import Settings, source_digest, versions
from memaudit.reproduce.verify.report import Report
from memaudit.reproduce.verify.rows import read_text
from memaudit.reproduce.verify.stated import Stated

FOLLOWING = ("command_lines", "declared", "packages", "scoreboard", "seeds")
"""Fields of the manifest that follow from the files, whatever program made them."""

OF_THE_PROGRAM = ("prompts", "data")
"""Fields that follow from the program's own files."""

NAMES_VERSION = (CARD, CROISSANT)
"""Documents that name the version of the program; another one may word them in another way."""


def check_labels(folder: Path, settings: Settings, engine: Engine, report: Report) -> None:
    """The label audit, computed again in full."""
    for name, text in label_texts(settings.packages, engine).items():
        path = f"{LABELS}/{name}"
        with report.reading(path):
            if read_text(folder / path) != text:
                report.problem(path, "comes out otherwise when it is computed again")


def check_derived(folder: Path, stated: Stated, report: Report) -> None:
    """Scoreboard, tables, card, metadata and manifest, from files that were found sound."""
    found = findings(folder, stated.settings)
    _check_controlled_board(folder, found, report)
    hashes = {name: sha for part in stated.parts.values() for name, sha in part.items()}
    texts = pages(found, stated.identity.memaudit)
    for name, text in texts.items():
        _check_text(folder, name, text, stated, report)
    own = {name: text_sha256(text) for name, text in texts.items()}
    own |= {name: stated.documents.get(name, "") for name in report.unverified if name in own}
    metadata = croissant({**hashes, **own}, stated.times.date, stated.identity.memaudit)
    _check_text(folder, CROISSANT, metadata, stated, report)
    report.same(MANIFEST, "the list of documents", sorted(stated.documents), sorted(
        (*texts, CROISSANT)))  # fmt: skip
    _check_manifest(stated, found, {**texts, CROISSANT: metadata}, report)


def _check_text(folder: Path, name: str, text: str, stated: Stated, report: Report) -> None:
    """A document is what it must be; of another version, one that names it may be worded so."""
    made_by, here = stated.identity.memaudit, versions()["memaudit"]
    with report.reading(name):
        there = read_text(folder / name)
        if there == text:
            report.checked["documents"] += 1
        elif name in NAMES_VERSION and made_by != here:
            report.unverified[name] = f"memaudit {made_by} made it, {here} words it otherwise"
        elif name == SCOREBOARD:
            _compare_boards(there, text, report)
        else:
            report.problem(name, "does not follow from the files of the parts")


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
    for name in (*FOLLOWING, *OF_THE_PROGRAM):
        if name in FOLLOWING or same_source:
            report.same(MANIFEST, name, *_first_difference(said[name], again[name]))
        elif said[name] != again[name]:
            report.unverified[MANIFEST] = f"its {name} are of another program, and so others"
    report.same(MANIFEST, "the version", said["versions"].get("memaudit"), said["identity"][
        "memaudit"])  # fmt: skip
    if same_source:
        report.same(MANIFEST, "the version of this very program", said["identity"]["memaudit"],
                    versions()["memaudit"])  # fmt: skip
    for digest in sorted(said["certificates"].keys() | again["certificates"].keys()):
        report.same(
            f"{MANIFEST}, certificates of {digest[:16]}", "the hash",
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
