"""Everything a reader opens first, as texts that follow from the parts' files and nothing else."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from memaudit.experiments.artifact.board import NEEDS, Board
from memaudit.experiments.artifact.card import card
from memaudit.experiments.artifact.croissant import croissant
from memaudit.experiments.artifact.findings import Findings
from memaudit.experiments.artifact.layout import (
    CARD,
    CROISSANT,
    LICENCES,
    PACKAGES,
    SCOREBOARD,
    SCOREBOARD_PAGE,
    TABLES,
    text_sha256,
)
from memaudit.experiments.artifact.markdown import page, table
from memaudit.experiments.artifact.tables import tables
from memaudit.io.atomic import write_file


def documents(
    found: Findings, hashes: Mapping[str, str], date: str, version: str
) -> dict[str, str]:
    """Texts by path; `hashes` are those of the parts' files, `version` is the program's."""
    texts = pages(found, version)
    own = {name: text_sha256(text) for name, text in texts.items()}
    return {**texts, CROISSANT: croissant({**hashes, **own}, date, version)}


def pages(found: Findings, version: str) -> dict[str, str]:
    """All of them but the metadata, which hold the hashes of these."""
    return {
        PACKAGES: "".join(found.index.lines()),
        SCOREBOARD: found.board.text(),
        SCOREBOARD_PAGE: scoreboard_page(found.board, found.settings.remark),
        CARD: card(found, version),
        LICENCES: files(__package__).joinpath("licences.md").read_text("utf-8"),
        **{f"{TABLES}/{name}": text for name, text in tables(found).items()},
    }


def write_documents(folder: Path, texts: Mapping[str, str]) -> None:
    """Write them all; tables of an earlier program are removed."""
    (folder / TABLES).mkdir(exist_ok=True)
    for path in sorted((folder / TABLES).iterdir()):
        if f"{TABLES}/{path.name}" not in texts:
            path.unlink()
    for name, text in texts.items():
        write_file(folder / name, text)


def scoreboard_page(board: Board, remark: str = "") -> str:
    """The scoreboard for people, with a remark on the settings where there is one."""
    settings = ", ".join(f"{number} {name}" for name, number in board.settings.items())
    lines = [(one.where, one.what, one.published, one.ours, one.verdict) for one in board.lines]
    figures = [
        (one.where, one.what, ", ".join(f"`{name}.*`" for name in one.files) or NEEDS)
        for one in board.figures
    ]
    beside = [(where, f"[{path}]({path})") for where, path in board.own_set.items()]
    return page(
        "Published numbers beside ours",
        f"{board.counted}; {settings}. {f'This was {remark}. ' if remark else ''}A number agrees "
        "if ours rounds to what the paper prints; counts and zeros must be equal. What needs "
        "the published archive rests on its packages, labels or exported stores; with it, "
        "`memaudit reproduce natural --artifact DIR` computes part of them.",
        table(("paper", "number", "published", "ours", "verdict"), lines),
        "## Figures\n",
        table(("paper", "figure", "ours"), figures),
        "## The same measures on the project's own natural set\n",
        "Other packages than the paper's, so they confirm and contradict nothing above.\n",
        table(("beside", "table"), beside),
    )  # fmt: skip
