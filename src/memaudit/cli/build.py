"""`memaudit build`: packages from conversations."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from memaudit.cli.text import safe
from memaudit.core.errors import MemAuditError


def build(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A dataset file.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the packages go.")],
    method: Annotated[
        str, typer.Option(help="annotations: from the dataset's labels, no model.")
    ] = "annotations",
    format: Annotated[
        str | None, typer.Option(help="longmemeval, locomo, memdaily or chat; else guessed.")
    ] = None,
    subset: Annotated[
        Path | None, typer.Option(metavar="MANIFEST", help="Only the questions of a subset.")
    ] = None,
    conversation: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this one; may be repeated.")
    ] = None,
    cost_rule: Annotated[str, typer.Option(help="words, bytes or tokens:NAME.")] = "words",
    units: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own units, JSONL or CSV.")
    ] = None,
    memories: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own memories, JSONL or CSV.")
    ] = None,
    coverage: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A pass of coverage labels; may be repeated."),
    ] = None,
    form: Annotated[str, typer.Option("--as", help="json or folder, one a conversation.")] = "json",
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest.")] = False,
) -> None:
    """Turn annotated conversations into packages, one a conversation, and a manifest."""
    from memaudit.natural.annotations import METHOD
    from memaudit.natural.build_folder import build_into
    from memaudit.natural.building import Job
    from memaudit.natural.labels.files import read_labels

    if method != METHOD:
        raise MemAuditError(f"unknown method {method!r}; choose {METHOD}")
    labels = read_labels(units, memories, coverage or [])
    job = Job(path, format, subset, tuple(conversation or ()), cost_rule, labels)
    manifest = build_into(job, out, form)
    if as_json:
        typer.echo(json.dumps(manifest, indent=2))
        return
    for line in _lines(manifest, out):
        typer.echo(safe(line))


def _lines(manifest: dict[str, Any], out: Path) -> list[str]:
    """What was built, by which rules, and what did not fit."""
    counts = manifest["counts"]
    kept = f", {manifest['kept']} of them there already" if manifest["kept"] else ""
    lines = [f"{counts['packages']} packages in {out}{kept}"]
    for name in ("experiences", "candidates", "units", "queries"):
        lines.append(_row(counts.get(name, 0), name))
    lines.append(_row(counts.get("queries_without_units", 0), "without units", 1))
    lines.append(_row(counts.get("coverage", 0), "coverage rows"))
    for name, part in manifest["coverage_by_provenance"].items():
        lines.append(_row(part["rows"], name, 1))
    quotes = manifest["labels"]["quotes"]
    if quotes["checked"]:
        lines.append(_row(quotes["checked"], "quotes looked up"))
        lines.append(_row(quotes["found"], "found word for word", 1))
    for title, found in (
        ("label rows that do not fit", manifest["labels"]["misfit_counts"]),
        ("irregularities of the dataset", manifest["irregularity_counts"]),
    ):
        if found:
            lines.append(_row(sum(found.values()), title))
            lines += [_row(number, what, 1) for what, number in found.items()]
    return lines


def _row(number: int, what: str, deeper: int = 0) -> str:
    return f"{number:>9,}{'  ' * deeper}  {what}"
