"""The documents of a reproduction: evaluation card, scoreboard page, tables, licences, metadata."""

from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from memaudit.core.number_text import ratio
from memaudit.io.atomic import write_file
from memaudit.io.run_folder import make_own_folder
from memaudit.report.data_card import croissant, table
from memaudit.reproduce.folder import (
    CARD,
    CROISSANT,
    LICENCES,
    NATURAL,
    PACKAGES,
    SCOREBOARD,
    SCOREBOARD_PAGE,
    TABLES,
    text_sha256,
)
from memaudit.reproduce.own_set import BLIND_PASSES
from memaudit.reproduce.results import Results
from memaudit.reproduce.scoreboard import (
    AGREE,
    DIFFER,
    NEEDS_ARCHIVE,
    NOT_AS_PRINTED,
    Scoreboard,
)
from memaudit.reproduce.tables import SCALE, page, tables


def documents(
    results: Results, hashes: Mapping[str, str], date: str, version: str
) -> dict[str, str]:
    """Texts by path; `hashes` are those of the parts' files, `version` is the program's."""
    texts = {
        PACKAGES: "".join(results.index.lines()),
        SCOREBOARD: results.scoreboard.text(),
        SCOREBOARD_PAGE: scoreboard_page(results.scoreboard, results.settings.remark),
        CARD: card(results, version),
        LICENCES: files(__package__).joinpath("licences.md").read_text("utf-8"),
        **{f"{TABLES}/{name}": text for name, text in tables(results).items()},
    }
    own = {name: text_sha256(text) for name, text in texts.items()}
    return {**texts, CROISSANT: croissant({**hashes, **own}, date, version)}


def write_documents(folder: Path, texts: Mapping[str, str]) -> None:
    """Write them all; tables of an earlier program are removed."""
    make_own_folder(folder / TABLES)
    for path in sorted((folder / TABLES).iterdir()):
        if f"{TABLES}/{path.name}" not in texts:
            path.unlink()
    for name, text in texts.items():
        write_file(folder / name, text)


def card(results: Results, version: str) -> str:
    """The card: what the results are for, what they are not for, and what they rest on."""
    text = files(__package__).joinpath("card.md").read_text("utf-8")
    counts = results.scoreboard.counts
    runs = [row for summary in results.summaries.values() for row in summary["rows"]]
    return Template(text).substitute(
        options=results.settings.options,
        version=version,
        **_denominators(results),
        zero=sum(row["zero_optimum"] for row in [*runs, *results.natural["rows"]]),
        package_rows="\n".join(_package_rows(results)),
        **_labels(results),
        agree=counts[AGREE],
        differ=counts[DIFFER],
        needs=counts[NEEDS_ARCHIVE],
        not_as_printed=counts[NOT_AS_PRINTED],
        scoreboard=SCOREBOARD_PAGE,
        licences=LICENCES,
    )


def _denominators(results: Results) -> dict[str, object]:
    natural = {
        digest for (name, _), (_, digest) in results.index.packages.items() if name == NATURAL
    }
    variants = results.sensitivity["budgets"].values()
    runs = [summary["rows"] for summary in results.summaries.values()]
    return {
        "optima": sum(_over_cells(rows, "distinct_packages") for rows in runs),
        "uncertified": sum(_over_cells(rows, "uncertified") for rows in runs),
        "natural_optima": len(natural) * len(results.natural["spec"]["budgets"]),
        "natural_uncertified": _over_cells(results.natural["rows"], "uncertified"),
        "variant_optima": 3 * sum(means["packages"] for means in variants),
        "variant_uncertified": results.sensitivity["uncertified"],
    }


def _over_cells(rows: Iterable[Mapping[str, Any]], count: str) -> int:
    """A count of optima over distributions and budgets; it is the same for every writer."""
    cells = {(row["distribution"], row["budget"]): row[count] for row in rows}
    return sum(cells.values())


def _package_rows(results: Results) -> list[str]:
    counts: Counter[str] = Counter()
    digests: dict[str, set[str]] = {}
    for (name, _), (_, digest) in results.index.packages.items():
        counts[name] += 1
        digests.setdefault(name, set()).add(digest)
    origin = {NATURAL: "the project's own conversations and labels"}
    return [
        f"| {name} | {count} | {len(digests[name])} | {origin.get(name, 'generator, by seed')} |"
        for name, count in sorted(counts.items())
    ]


def _labels(results: Results) -> dict[str, object]:
    (blind,) = (
        pair["scales"][SCALE]
        for pair in results.agreement["pairs"]
        if {pair["first"]["name"], pair["second"]["name"]}
        == {f"pass:{name}" for name in BLIND_PASSES}
    )
    overall = [label_set["shifts"][-1] for label_set in results.ratios["label_sets"]]
    preserved = all(shift["ranking"]["preserved"] for shift in overall)
    return {
        "conversations": results.reliability["packages"],
        "queries": results.reliability["queries"],
        "units": results.reliability["units"],
        "cells": blind["cells"],
        "kappa": ratio(blind["as_drawn"]["kappa"]["value"]),
        "raw": ratio(blind["as_drawn"]["raw_agreement"]["value"]),
        "mad": " and ".join(ratio(shift["ratio_mad"]["mean"]) for shift in overall[:2]),
        "writers": len(results.ratios["stores"]),
        "ranking": "preserved" if preserved else "not preserved in full",
    }


def scoreboard_page(board: Scoreboard, remark: str = "") -> str:
    """The scoreboard for people, with a remark on the settings where there is one."""
    settings = ", ".join(f"{number} {name}" for name, number in board.settings.items())
    lines = [
        (
            line.where,
            line.what,
            line.published,
            line.ours,
            f"{line.verdict}: {line.why}" if line.why else line.verdict,
        )
        for line in board.lines
    ]
    figures = [
        (
            figure.where,
            figure.what,
            ", ".join(f"`{name}.*`" for name in figure.files) or f"needs {figure.needs}",
        )
        for figure in board.figures
    ]
    beside = [(where, f"[{path}]({path})") for where, path in board.own_set.items()]
    return page(
        "Published numbers beside ours",
        f"{board.headline}; {settings}. {f'This was {remark}. ' if remark else ''}A number agrees "
        "if ours rounds to what the paper prints; counts and zeros must be equal. What needs "
        "the published archive rests on its packages, labels or exported stores; with it, "
        "`memaudit reproduce all --archive DIR` computes what its files allow. What cannot be "
        "reproduced as printed says why.",
        table(("paper", "number", "published", "ours", "verdict"), lines),
        "## Figures\n",
        table(("paper", "figure", "ours"), figures),
        "## The same measures on the project's own natural set\n",
        "Other packages than the paper's, so they confirm and contradict nothing above.\n",
        table(("beside", "table"), beside),
    )
