"""What packages are made from: datasets of conversations, and generators with a seed."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.options import DatasetPath, dataset_argument
from memaudit.cli.terminal import safe
from memaudit.kernel.package.cost import UNICODE_WORDS
from memaudit.kernel.words.text import counted
from memaudit.workspace.overwrite import may_write

if TYPE_CHECKING:
    from memaudit.conversations.records import DatasetCounts


def inspect(
    dataset: DatasetPath,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with every irregularity.")
    ] = False,
) -> None:
    """Count conversations, turns and questions, and list irregularities."""
    from memaudit.conversations.records import count_dataset
    from memaudit.conversations.registry import guess_format, iter_conversations
    from memaudit.conversations.transcripts import dataset_hash

    format, path = dataset_argument(dataset)
    name = format or guess_format(path)
    counts = count_dataset(iter_conversations(path, name))
    sha256 = dataset_hash(path)
    if as_json:
        head = {"path": str(path), "format": name, "guessed": format is None, "sha256": sha256}
        typer.echo(json.dumps({**head, **_data(counts)}, indent=2))
        return
    how = "guessed from the content" if format is None else "as given"
    typer.echo(safe(f"{path}  format {name} ({how})"))
    typer.echo(f"sha256 {sha256}")
    for line in _lines(counts):
        typer.echo(safe(line))


def _data(counts: "DatasetCounts") -> dict[str, Any]:
    return {
        "conversations": counts.conversations,
        "sessions": counts.sessions,
        "turns": counts.turns,
        "words": counts.words,
        "cost_rules": dict(sorted(counts.cost_rules.items())),
        "questions": dict(sorted(counts.questions.items())),
        "abstentions": counts.abstentions,
        "evidence_references": counts.references,
        "evidence_turns": counts.evidence,
        "evidence_sessions": counts.evidence_sessions,
        "representations": dict(sorted(counts.representations.items())),
        "irregularity_counts": {what: number for what, number, _ in counts.groups()},
        "irregularities": [asdict(irregularity) for irregularity in counts.irregularities],
    }


def _lines(counts: "DatasetCounts") -> list[str]:
    unspaced = UNICODE_WORDS in counts.cost_rules
    lines = [
        _row(counts.conversations, "conversations"),
        _row(counts.sessions, "sessions"),
        _row(counts.turns, "turns"),
        _row(counts.words, f"words ({UNICODE_WORDS})" if unspaced else "words"),
        _row(counts.questions.total(), "questions"),
        *(_row(number, kind, 1) for kind, number in sorted(counts.questions.items())),
        _row(counts.abstentions, "abstentions"),
        _row(counts.references, "evidence references as listed"),
        _row(counts.evidence, "evidence turns"),
        _row(counts.evidence_sessions, "evidence sessions"),
        _row(counts.representations.total(), "representations"),
        *(_row(number, kind, 1) for kind, number in sorted(counts.representations.items())),
        _row(len(counts.irregularities), "irregularities"),
    ]
    for what, number, first in counts.groups():
        example = f": {first.found}" if first.found else ""
        place = f"{first.conversation}, {first.where}"
        place += f", {first.id}" if first.id not in ("", first.conversation) else ""
        lines.append(f"{_row(number, what, 1)} ({first.done}), first in {place}{example}")
    return lines


def _row(number: int, what: str, deeper: int = 0) -> str:
    return f"{number:>9,}{'  ' * deeper}  {what}"


def subset(
    dataset: DatasetPath,
    size: Annotated[int, typer.Option(metavar="N", help="Number of questions to choose.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The manifest to write.")],
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the choice.")] = 0,
    by: Annotated[
        str, typer.Option(metavar="NAME", help="Balance by kind or by conversation.")
    ] = "kind",
) -> None:
    """Choose questions in proportion to their kinds and write a manifest."""
    from memaudit.conversations.registry import guess_format, iter_conversations
    from memaudit.conversations.subset import choose, subset_text
    from memaudit.conversations.transcripts import dataset_hash
    from memaudit.kernel.io.atomic import write_file

    may_write(out, "subset")
    format, path = dataset_argument(dataset)
    name = format or guess_format(path)
    conversations = iter_conversations(path, name)
    chosen = choose(conversations, size, seed, by, dataset_hash(path), name)
    write_file(out, subset_text(chosen))
    questions = counted(len(chosen.questions), "question")
    typer.echo(safe(f"wrote {questions} to {out}  subset {chosen.sha256[:16]}"))
    for stratum, (of, taken) in sorted(chosen.strata.items()):
        typer.echo(safe(f"{taken:>9,} of {of:,}  {stratum}"))
