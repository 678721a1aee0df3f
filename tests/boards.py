"""A board of memory systems small enough to work out by hand."""

import json
import re
from pathlib import Path

from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.package import (
    Candidate,
    Coverage,
    EvidenceUnit,
    Experience,
    Package,
    Query,
)
from memaudit.kernel.words.text import one_line
from tests.cli.running import import_texts

UNITS = ("Ann eats no nuts", "Ann lives in Graz", "Ann works nights", "Ann has a dog")
Labels = dict[tuple[str, str], float]


def write_jsonl(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_labels(
    folder: Path, names: list[str], labels: dict[str, Labels], nothing: tuple[str, ...] = ()
) -> None:
    """The same memories in every conversation; `labels` are by file; `nothing` keeps no unit."""
    texts = sorted({text for of_file in labels.values() for text, _ in of_file})
    write_jsonl(
        folder / "memories.jsonl",
        [
            {"conversation": name, "memory_id": f"{name}/{text}", "text": text}
            for name in names
            for text in (*texts, *nothing)
        ],
    )
    for file, of_file in labels.items():
        write_jsonl(
            folder / file,
            [
                {
                    "conversation": name,
                    "memory_id": f"{name}/{text}",
                    "unit_id": unit,
                    "coverage": c,
                }
                for name in names
                for (text, unit), c in of_file.items()
            ],
        )


FULL: Labels = {(text, f"u{at}"): 1.0 for at, text in enumerate(UNITS)}
HALF: Labels = {**FULL, (UNITS[1], "u1"): 0.5}


def make_board(folder: Path, systems: dict[str, list[list[str]]], conversations: int = 6) -> Path:
    """A board of so many conversations; systems are lists of texts, the newest last."""
    names = [f"talk{number}" for number in range(conversations)]
    (folder / "packages").mkdir(parents=True)
    for name in names:
        package = Package(
            name=name,
            experiences=(Experience(id="e1", text="; ".join(UNITS), index=0),),
            candidates=(
                Candidate(id="c", experience="e1", kind="raw", text="; ".join(UNITS), cost=15),
            ),
            units=tuple(
                EvidenceUnit(id=f"u{at}", kind="fact", text=text) for at, text in enumerate(UNITS)
            ),
            queries=(
                Query(
                    id="q", text="Who is Ann?", required=tuple(f"u{at}" for at in range(len(UNITS)))
                ),
            ),
            coverage=tuple(
                Coverage(candidate="c", unit=f"u{at}", value=1, label="full")
                for at in range(len(UNITS))
            ),
            cost_rule="words",
        )
        write_package(package, folder / "packages" / f"{name}.json")
        for system, runs in systems.items():
            (folder / system).mkdir(exist_ok=True)
            for number, texts in enumerate(runs, 1):
                if number > 1 and name != names[0]:
                    continue  # one conversation is run again
                file = f"{name}.json" if number == 1 else f"{name}.run{number}.json"
                import_texts(folder / system / file, texts)
    files = {"coverage.jsonl": FULL, "blind_a.jsonl": FULL, "blind_b.jsonl": HALF}
    write_labels(folder, names, files, ("Hello Ann",))
    plan = {
        "format": "memaudit-board",
        "version": 1,
        "title": "Ann",
        "packages": "packages",
        "budgets": ["7"],
        "times": "none",
        "labels": "coverage.jsonl",
        "passes": ["blind_a.jsonl", "blind_b.jsonl"],
        "memories": "memories.jsonl",
    }
    (folder / "board.json").write_text(json.dumps(plan))
    return folder


BOARD = {**{text: {f"u{at}"} for at, text in enumerate(UNITS)}, "Hello Ann": set()}
"""What the labelled texts keep, which are mixed in as controls."""


def numbered(sheet: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The statements and memories of a sheet, as a reader sees them, by number."""
    statements, memories = sheet.read_text().split("## Statements")[1].split("## Memories")
    line = re.compile(r"^(S?[0-9]+)\. (.*)$", re.MULTILINE)
    return dict(line.findall(statements)), dict(line.findall(memories))


def answer_sheet(sheet: Path, keeps: dict[str, set[str]], partly: str = "") -> None:
    """Answer as a reader who knows what is true, in the form that the sheet asks for."""
    statements, memories = numbered(sheet)
    unit = {number: f"u{UNITS.index(text)}" for number, text in statements.items()}
    kept = {one_line(text): units for text, units in {**BOARD, **keeps}.items()}

    def mark(number: str, of: str, text: str) -> str:
        return f"{number}?" if of == partly and text not in BOARD else number

    lines = [
        (
            memory,
            [mark(number, unit[number], text) for number in unit if unit[number] in kept[text]],
        )
        for memory, text in memories.items()
    ]
    if sheet.name.endswith(".b.md"):
        lines = [
            (
                number,
                [
                    mark(memory, unit[number], text)
                    for memory, text in memories.items()
                    if unit[number] in kept[text]
                ],
            )
            for number in statements
        ]
    sheet.with_suffix(".txt").write_text(
        "".join(f"{left}: {', '.join(right) or 'none'}\n" for left, right in lines)
    )


def answer_sheets(
    folder: Path, keeps: dict[str, set[str]], partly: str = "", reader: str = ""
) -> None:
    """Answer all sheets in a folder; one reader finds one unit kept only partly."""
    for sheet in folder.glob("*.?.md"):
        own = sheet.name.endswith(f".{reader}.md")
        answer_sheet(sheet, keeps, partly if own else "")
