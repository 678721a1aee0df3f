"""`memaudit lint`: what is wrong with a store, and a store without it."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich import box
from rich.table import Table

from memaudit.cli.errors import FAILED
from memaudit.cli.options import (
    JudgeName,
    StoreArgument,
    label_memories,
    model_session,
    read_stores,
)
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import console, progress, safe, safe_markup
from memaudit.judges.defaults import DEFAULT_JUDGE
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.number_text import percent, short_exact
from memaudit.kernel.words.text import counted
from memaudit.workspace.overwrite import may_write

if TYPE_CHECKING:
    from memaudit.kernel.io.store_file import ExportedStore
    from memaudit.linting.findings import LintReport

Output = Literal["page", "plan", "SARIF", "proof"]
ENDINGS: dict[str, Output] = {".html": "page", ".json": "plan", ".sarif": "SARIF", "": "proof"}
"""What a file is, by the ending of its name."""

STEPS = 9
MOST_REMOVED, MOST_REVIEWED = 200, 20
MOST_SHOWN = 5
"""Findings of one rule that the terminal shows; files and pages have all of them."""


def lint(
    store: StoreArgument,
    package: Annotated[
        Path | None,
        typer.Argument(
            metavar="PACKAGE",
            help="A package, or a conversation that memaudit build can read. Without it, only what "
            "the store itself shows is looked for.",
        ),
    ] = None,
    judge: JudgeName = DEFAULT_JUDGE,
    before: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="An earlier export of the store, for lost updates."),
    ] = None,
    limits: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Whose limits hold: claude-code, hermes or openclaw. Default: by the files.",
        ),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Also write a page (.html), SARIF for code scanning (.sarif), what to keep, "
            "delete, merge and review (.json), or, as a folder without an ending, the store as a "
            "package with certificates to verify. May be repeated.",
        ),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            metavar="RULE[=N],...",
            help="Exit with code 1 if a rule or a severity (error, warning, note) has findings, or "
            "more than N.",
        ),
    ] = None,
    apply: Annotated[
        Path | None,
        typer.Option(
            metavar="PLAN",
            help="Write what a plan (an earlier --out FILE.json) leaves of STORE, beside it.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --apply: print what would go, write nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find duplicates, contradictions, junk, secrets and more in a store.

    With a package it also finds the smallest part of the store that loses nothing, and proves it.
    --apply writes a copy without what a plan removes; nothing is deleted or overwritten.
    """
    from memaudit.judges.registry import named_judge
    from memaudit.linting.findings import check_gate, failing
    from memaudit.linting.lint import LintPlan, lint_target
    from memaudit.linting.lint import lint as look_over
    from memaudit.linting.lint_file import lint_data

    if apply is not None:
        others = {
            "PACKAGE": package is not None,
            "--judge": judge != DEFAULT_JUDGE,
            "--before": before is not None,
            "--limits": limits is not None,
            "--out": bool(out),
            "--fail-on": fail_on is not None,
            "--json": as_json,
        }
        if given := next((name for name, is_given in others.items() if is_given), None):
            raise MemAuditError(f"--apply carries out a finished plan; leave out {given}")
        apply_plan(apply, Path(store), dry_run)
        return
    if dry_run:
        raise MemAuditError("--dry-run needs --apply PLAN")
    gate = [part.strip() for part in (fail_on or "").split(",") if part.strip()]
    check_gate(gate)
    outputs = _outputs(out or ())
    (exported,) = read_stores([store])
    earlier = read_stores([before])[0] if before is not None else None
    subject = lint_target(package, exported) if package is not None else None
    with (
        model_session([judge]) as session,
        progress("lint", STEPS) as advance,
    ):
        by = named_judge(judge, label_memories([judge]), session) if subject is not None else None
        model = judge.removeprefix("model:") if session is not None else None
        done = count(1)
        report = look_over(
            exported,
            LintPlan(
                subject,
                by,
                earlier,
                model,
                session,
                limits,
                in_force().solver.seconds,
                lambda text: advance(min(STEPS, next(done)), text),
            ),
        )
    _write(outputs, report, exported)
    if as_json:
        typer.echo(json.dumps(lint_data(report), indent=1))
    else:
        show(report)
        for what, path in outputs.items():
            typer.echo(safe(f"{what}: {path}"))
    broken = failing(report, gate)
    if broken:
        typer.echo(safe(f"FAIL: {'; '.join(broken)}"), err=as_json)
        raise typer.Exit(FAILED)


def _outputs(paths: Sequence[Path]) -> dict[Output, Path]:
    """The files to write, by what each is; none may be refused when the work is done."""
    from memaudit.linting.smallest_store import PROOFS, PROVEN_PACKAGE

    outputs: dict[Output, Path] = {}
    for path in paths:
        what = ENDINGS.get(path.suffix.lower())
        if what is None:
            raise MemAuditError(
                f"--out {path}: the name must end in {', '.join(filter(None, ENDINGS))}, or be "
                "that of a folder, without an ending"
            )
        if what in outputs:
            raise MemAuditError(f"--out {path}: the {what} is written to {outputs[what]} already")
        outputs[what] = path
        if what == "proof":
            may_write(path / PROVEN_PACKAGE, "package")
            may_write(path / PROOFS, "certificate")
        else:
            may_write(path, what)
    return outputs


def _write(outputs: Mapping[Output, Path], report: "LintReport", store: "ExportedStore") -> None:
    from memaudit.kernel.io.atomic import write_file
    from memaudit.linting.cleanup_plan import cleanup_plan
    from memaudit.linting.lint_file import lint_data, sarif
    from memaudit.linting.pages import write_lint_page
    from memaudit.linting.smallest_store import write_proof

    # The only output that may still be refused comes first, so that then none is written.
    if "proof" in outputs:
        if report.smallest is None:
            raise MemAuditError("there is nothing to prove without units; give a package")
        write_proof(report.smallest, outputs["proof"])
    if "plan" in outputs:
        plan = cleanup_plan(report, store)
        write_file(outputs["plan"], plan.model_dump_json(indent=1) + "\n")
    if "SARIF" in outputs:
        write_file(outputs["SARIF"], json.dumps(sarif(report, store), indent=1) + "\n")
    if "page" in outputs:
        write_lint_page(lint_data(report), outputs["page"])


def apply_plan(plan: Path, path: Path, dry_run: bool) -> None:
    """Write what a plan leaves of a file or folder: MEMORY.md becomes MEMORY.cleaned.md.

    Memories marked for review are kept. Of a folder, only files with memories are written.
    """
    from memaudit.kernel.io.atomic import new_folder, write_bytes
    from memaudit.linting.cleanup_plan import cleaned, read_plan

    read = read_plan(plan)
    made = cleaned(read, path)
    if not made.removed:
        typer.echo("the plan removes nothing, so no file is written")
    elif os.path.lexists(made.path) and not dry_run:
        raise MemAuditError(f"{made.path}: already exists; move it away first")
    if dry_run:
        for action in made.removed[:MOST_REMOVED]:
            typer.echo(safe(f"- {action.id}: {action.text} ({action.action}: {action.reason})"))
        if len(made.removed) > MOST_REMOVED:
            typer.echo(f"  ... and {len(made.removed) - MOST_REMOVED:,} more")
    elif made.removed and set(made.files) == {""}:
        write_bytes(made.path, made.files[""].encode("utf-8", "surrogatepass"))
    elif made.removed:
        with new_folder(made.path) as folder:
            for name, text in made.files.items():
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode("utf-8", "surrogatepass"))
    if made.removed:
        verb = "would be written" if dry_run else "written"
        typer.echo(safe(f"{made.path} {verb} without {counted(len(made.removed), 'memory')}"))
    reviewed = [action for action in read.actions if action.action == "review"]
    if reviewed:
        typer.echo(f"kept, for you to decide: {counted(len(reviewed), 'memory')}")
    for action in reviewed[:MOST_REVIEWED]:
        typer.echo(safe(f"? {action.id}: {action.reason}"))
    if len(reviewed) > MOST_REVIEWED:
        typer.echo(f"  ... and {len(reviewed) - MOST_REVIEWED:,} more in the plan")


def show(report: "LintReport") -> None:
    """Print the table of rules, the first findings of each, and the smallest store."""
    from memaudit.linting.findings import RULES

    screen = console()
    cost = f"{short_exact(report.cost)} {report.cost_rule}"
    screen.print(safe_markup(f"{report.store}: {counted(report.memories, 'memory')}, {cost}"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "rule"):
        table.add_column(heading)
    for heading in ("findings", "memories", "of all", "cost", "of all"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, rule in RULES.items():
        if name in report.unmeasured:
            continue
        memories, saved = report.share(name)
        table.add_row(
            rule.severity,
            name,
            f"{report.counts[name]:,}",
            f"{memories:,}",
            percent(memories / report.memories),
            short_exact(saved),
            percent(saved / report.cost if report.cost else None),
        )
    screen.print(table)
    for line in _findings(report):
        screen.print(safe_markup(line))
    for line in smallest_lines(report):
        screen.print(safe_markup(line))
    for name, why in report.unmeasured.items():
        screen.print(safe_markup(f"not measured: {name}, which {why}"))
    for note in report.notes:
        screen.print(safe_markup(note))


def _findings(report: "LintReport") -> Iterator[str]:
    from memaudit.linting.findings import RULES

    for name, rule in RULES.items():
        found = report.of(name)
        if not found:
            continue
        yield f"{name}: {rule.meaning}"
        for finding in found[:MOST_SHOWN]:
            yield f"  {', '.join(finding.memories[:4])}: {finding.message}"
            for one in finding.evidence[:3]:
                yield f"    {one.what} {one.id}: {one.text}"
        if len(found) > MOST_SHOWN:
            yield f"  ... and {len(found) - MOST_SHOWN:,} more"


def smallest_lines(report: "LintReport") -> Iterator[str]:
    """The smallest stores in words."""
    if report.smallest is None:
        return
    before = None
    for one in report.smallest.stores:
        if one.memories == before:
            continue  # costs go by whole memories: a smaller share may need the same ones
        before = one.memories
        share = "all" if one.share == 1 else f"{float(one.share):.0%}"
        part = percent(one.cost / report.cost if report.cost else None)
        yield (
            f"{len(one.memories):,} of {counted(report.memories, 'memory')} ({part} of the cost) "
            f"keep {share} of what it has for {counted(report.units, 'unit')}: {report.proven(one)}"
        )
    if report.unweighted_units:
        yield f"{counted(report.unweighted_units, 'unit')} of weight 0 are outside the proof"
