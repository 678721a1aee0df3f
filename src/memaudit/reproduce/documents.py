"""The evaluation card: what the results are for, what they are not for, and on what they rest."""

from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from memaudit.core.number_text import ratio
from memaudit.io.atomic import write_file
from memaudit.reproduce.board import NEEDS, Board
from memaudit.reproduce.croissant import croissant
from memaudit.reproduce.findings import Findings
from memaudit.reproduce.folder import (
    CARD,
    CROISSANT,
    LICENCES,
    PACKAGES,
    SCOREBOARD,
    SCOREBOARD_PAGE,
    TABLES,
    text_sha256,
)
from memaudit.reproduce.label_results import BLIND
from memaudit.reproduce.natural_results import NAME
from memaudit.reproduce.scoreboard import AGREE, DIFFER
from memaudit.reproduce.tables import SCALE, page, table, tables


def card(found: Findings, version: str) -> str:
    """The card, in Markdown; `version` is that of the program."""
    text = files(__package__).joinpath("card.md").read_text("utf-8")
    counts = found.board.counts
    rows = [row for one in found.summaries.values() for row in one["rows"]]
    return Template(text).substitute(
        options=found.settings.options,
        version=version,
        **_denominators(found),
        zero=sum(row["zero_optimum"] for row in [*rows, *found.natural["rows"]]),
        package_rows="\n".join(_packages(found)),
        **_labels(found),
        agree=counts[AGREE],
        differ=counts[DIFFER],
        needs=counts[NEEDS],
        scoreboard=SCOREBOARD_PAGE,
        licences=LICENCES,
    )


def _denominators(found: Findings) -> dict[str, object]:
    natural = {digest for (name, _), (_, digest) in found.index.packages.items() if name == NAME}
    budgets = found.natural["spec"]["budgets"]
    variants = [one["packages"] for one in found.sensitivity["budgets"].values()]
    runs = [one["rows"] for one in found.summaries.values()]
    return {
        "optima": sum(_asked(rows) for rows in runs),
        "uncertified": sum(_unproven(rows) for rows in runs),
        "natural_optima": len(natural) * len(budgets),
        "natural_uncertified": _unproven(found.natural["rows"]),
        "variant_optima": 3 * sum(variants),
        "variant_uncertified": found.sensitivity["uncertified"],
    }


def _asked(rows: list[Mapping[str, Any]]) -> int:
    """Optima of distinct packages: each at every budget, whoever wrote."""
    cells = {(row["distribution"], row["budget"]): row["distinct_packages"] for row in rows}
    return sum(cells.values())


def _unproven(rows: list[Mapping[str, Any]]) -> int:
    """Optima without a proof; every writer's row of a cell counts the same ones."""
    cells = {(row["distribution"], row["budget"]): row["uncertified"] for row in rows}
    return sum(cells.values())


def _packages(found: Findings) -> list[str]:
    count: Counter[str] = Counter()
    digests: dict[str, set[str]] = {}
    for (name, _), (_, digest) in found.index.packages.items():
        count[name] += 1
        digests.setdefault(name, set()).add(digest)
    made = {NAME: "the project's own conversations and labels"}
    return [
        f"| {name} | {number} | {len(digests[name])} | {made.get(name, 'generator, by seed')} |"
        for name, number in sorted(count.items())
    ]


def _labels(found: Findings) -> dict[str, object]:
    (blind,) = (
        pair["scales"][SCALE]
        for pair in found.agreement["pairs"]
        if {pair["first"]["name"], pair["second"]["name"]} == {f"pass:{name}" for name in BLIND}
    )
    overall = [one["shifts"][-1] for one in found.ratios["label_sets"]]
    preserved = all(shift["ranking"]["preserved"] for shift in overall)
    return {
        "conversations": found.reliability["packages"],
        "queries": found.reliability["queries"],
        "units": found.reliability["units"],
        "cells": blind["cells"],
        "kappa": ratio(blind["as_drawn"]["kappa"]["value"]),
        "raw": ratio(blind["as_drawn"]["raw_agreement"]["value"]),
        "mad": " and ".join(ratio(shift["ratio_mad"]["mean"]) for shift in overall[:2]),
        "writers": len(found.ratios["stores"]),
        "ranking": "preserved" if preserved else "not preserved in full",
    }


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
