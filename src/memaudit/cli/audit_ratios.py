"""`memaudit audit ratios`: what other labels do to ratios and rankings."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.options import Budgets, LabelMemories, Seconds, distinct_budgets
from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from rich.progress import TaskID

    from memaudit.core.package import Package
    from memaudit.label_audit.audited_package import Case
    from memaudit.label_audit.cells import Frame
    from memaudit.label_audit.raters import Role
    from memaudit.label_audit.ratios import Progress
    from memaudit.label_audit.readings import Reading
    from memaudit.scoring.judges.protocol import Judge

LONG = 10.0
"""Seconds from which on it is said how long the draws will take."""


def ratios(
    packages: Annotated[
        list[str],
        typer.Argument(
            metavar="PACKAGE...",
            help="Packages, folders that memaudit build wrote, or natural: the shipped set.",
        ),
    ],
    labels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABELS",
            help="A label file, or pass:NAME for a pass kept in the packages; repeat the option.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABELS",
            help="Labels that a model gave: scored, but no part of the consensus; repeat it.",
        ),
    ] = None,
    frame: Annotated[
        Path | None, typer.Option(metavar="FRAME", help="The frame that label files are about.")
    ] = None,
    budget: Budgets = "30,60,100",
    writer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Writers; repeat the option. Default: gvt and all that could be deployed.",
        ),
    ] = None,
    store: Annotated[
        list[Path] | None,
        typer.Option(metavar="STORE", help="Stores memaudit import wrote; repeat the option."),
    ] = None,
    judge: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="lexical (an estimate), pointer, labels:FILE, calls:FILE."
        ),
    ] = "lexical",
    label_memories: LabelMemories = None,
    draws: Annotated[
        int, typer.Option(metavar="N", help="Draws of labels from the measured confusion.")
    ] = 100,
    confusion: Annotated[
        str,
        typer.Option(
            metavar="WHOSE",
            help="package: the package's labels with annotators'; annotators: these with each "
            "other, around their consensus.",
        ),
    ] = "package",
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Of writers and of all draws.")] = 0,
    seconds: Seconds = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Processes; default: one per core.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score the same stores under every label set: do ratios and rankings hold?"""
    from memaudit.experiments.engines.registry import named_engine
    from memaudit.label_audit.fixed_stores import DEFAULT_WRITERS
    from memaudit.label_audit.frame_files import read_frame
    from memaudit.label_audit.label_confusion import named_confusion
    from memaudit.label_audit.ratios import Question, audit_ratios
    from memaudit.label_audit.ratios_json import answer_data
    from memaudit.label_audit.ratios_summary import summarised
    from memaudit.natural.coverage_rules import PASS
    from memaudit.natural.named_packages import named_packages
    from memaudit.writers.registry import named_writer

    amounts = distinct_budgets(budget)
    writers = tuple(dict.fromkeys(writer or DEFAULT_WRITERS))
    for name in writers:
        named_writer(name)
    engine = named_engine("serial" if jobs == 1 else "processes", jobs)
    cases, by = _cases(_in_pool(named_packages(packages)), store or [], judge, label_memories)
    asked = None if frame is None else read_frame(frame)
    readings = _readings(labels or [], model or [], asked, cases)
    if all(name.startswith(PASS) for name in (*(labels or []), *(model or []))):
        asked = None  # nobody labelled the frame: passes judged cells of their own
    question = Question(
        tuple(cases), tuple(readings), amounts, writers, draws, seed, seconds, asked,
        named_confusion(confusion),
    )  # fmt: skip
    with _progress() as progress:
        answer = audit_ratios(question, engine.map, progress)
        found = summarised(answer)
    if as_json:
        data = answer_data(answer, found)
        if by is not None:
            data |= {"judge": by.name, "coverage_is_an_estimate": by.is_estimate}
        typer.echo(json.dumps(data, indent=1))
        return
    from memaudit.cli.audit_ratios_tables import show

    show(answer, found, by)


def _in_pool(packages: list["Package"]) -> list["Package"]:
    """Packages whose construction was rejected are not scored."""
    from memaudit.scoring.judged_store import out_of_pool

    kept = [one for one in packages if not out_of_pool(one)]
    if len(kept) < len(packages):
        left_out = len(packages) - len(kept)
        typer.echo(f"{left_out} packages are out of the scoring pool and left out", err=True)
    return kept


def _cases(
    packages: list["Package"], stores: list[Path], judge: str, label_memories: Path | None
) -> tuple[list["Case"], "Judge | None"]:
    """The packages with the stores that were written for them."""
    from memaudit.adapters.store import read_store
    from memaudit.label_audit.audited_package import case_of
    from memaudit.label_audit.exported_stores import written_for
    from memaudit.scoring.judges.registry import named_judge, refuse_shared_ids

    if not stores:
        return [case_of(package) for package in packages], None
    by = named_judge(judge, label_memories)
    exported = [read_store(path) for path in stores]
    refuse_shared_ids([judge], label_memories, exported)
    for one in exported:
        for warning in one.warnings:
            typer.echo(safe(f"{one.name}: {warning}"), err=True)
    return [case_of(one, found) for one, found in written_for(packages, exported, by)], by


def _readings(
    labels: list[str], model: list[str], frame: "Frame | None", cases: list["Case"]
) -> list["Reading"]:
    """The label sets of annotators, then those of models."""
    from memaudit.label_audit.frame_files import read_label_sets
    from memaudit.label_audit.readings import annotated, passed
    from memaudit.natural.coverage_rules import PASS

    found: list[Reading] = []
    roles: list[tuple[str, Role]] = [(name, "annotator") for name in labels]
    for name, role in (*roles, *((name, "model") for name in model)):
        if name.startswith(PASS):
            found.append(passed(name.removeprefix(PASS), cases, role))
        elif frame is None:
            raise MemAuditError(f"{name}: a label file needs the frame it is about; give --frame")
        else:
            sets = read_label_sets(Path(name), frame)
            found += (annotated(one, frame, cases, role) for one in sets)
    return found


@contextmanager
def _progress() -> Iterator["Progress"]:
    """A bar a step on standard error; long draws are announced, with what leaves them out."""
    from memaudit.cli.sweeping import bar
    from memaudit.label_audit.ratios import DRAWS

    with bar() as shown:
        tasks: dict[str, TaskID] = {}
        started, said = 0.0, False

        def progress(step: str, done: int, total: int) -> None:
            nonlocal started, said
            if step not in tasks:
                tasks[step] = shown.add_task(step, total=total)
                started = time.monotonic()
            shown.update(tasks[step], completed=done)
            if step == DRAWS and done and not said:
                said = True
                left = (time.monotonic() - started) / done * (total - done)
                if left > LONG:
                    text = f"{total - done} more labellings to draw: about {left:.0f} s"
                    typer.echo(f"{text}; --draws 0 leaves them out", err=True)

        yield progress
