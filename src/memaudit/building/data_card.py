"""A card, Croissant metadata and provenance for a folder of packages or of scores.

Vocabulary and file types of Croissant are in croissant.json, and so are the texts and columns of a
reproduction, which is described by the same vocabulary.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from memaudit.building.build_folder import build_manifest
from memaudit.building.label_passes import label_passes
from memaudit.building.reliability import Reliability, reliability
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import make_folder, write_file
from memaudit.kernel.io.files import content_digest, sha256
from memaudit.kernel.io.packages import package_places
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import TABLES, Package
from memaudit.kernel.score.score_files import Entries, read_scores
from memaudit.kernel.version import VERSION
from memaudit.kernel.words.text import counted, visible_text
from memaudit.workspace.overwrite import may_write, refuse_existing
from memaudit.workspace.run_folder import files_in

CARD, CROISSANT, PROVENANCE, INDEX = "card.md", "croissant.json", "provenance.json", "index.jsonl"
PACKAGE_COLUMNS = {
    "name": ("sc:Text", "name of the package"),
    "digest": ("sc:Text", "SHA-256 of its content; optima and ratios are of this package"),
    "cost_rule": ("sc:Text", "how costs are measured"),
    "group_cap": ("sc:Integer", "candidates that may be kept of one experience"),
    **{name: ("sc:Integer", f"number of {name}") for name in TABLES},
}
SCORE_COLUMNS = {
    "package": ("sc:Text", "name of the package"),
    "store": ("sc:Text", "name of the store"),
    "budget": ("sc:Text", "budget as it was asked for"),
    "score": ("sc:Float", "what is kept over OPT of the common union"),
    "kept_by": ("sc:Text", "the policy that cut the store, or that everything fits"),
    "union": ("sc:Text", "SHA-256 of the union that OPT is taken over"),
}


@dataclass(frozen=True, slots=True)
class DataCard:
    """The texts by file name, and what the folder holds in words."""

    texts: Mapping[str, str]
    about: str


def write_data_card(folder: Path, out: Path, title: str, licence: str, date: str) -> DataCard:
    """Describe a folder of packages or scores, and write the description into another."""
    if not folder.is_dir():
        raise MemAuditError(f"{folder}: not a folder; give a folder of packages or of scores")
    # Before anything is written: the card may stand in the folder that it describes.
    hashes = {name: content_digest(folder / name) for name in files_in(folder)}
    made = _packages_card(folder) or _scores_card(folder)
    if made is None:
        raise MemAuditError(
            f"{folder}: holds neither packages nor scores as JSON; nothing to describe"
        )
    rows, columns, body, about, provenance = made
    index = "".join(json.dumps(row) + "\n" for row in rows)
    facts = {
        "memaudit": VERSION,
        "date": date,
        "title": title,
        "licence": licence,
        **provenance,
        "files": hashes,
    }
    texts = {
        INDEX: index,
        PROVENANCE: json.dumps(facts, indent=1) + "\n",
        CARD: _card(title, about, licence, date, body),
    }
    # Relative, so that card and data can be moved together.
    home = os.path.relpath(folder, out)
    described = {f"{home}/{name}": sha256 for name, sha256 in hashes.items()}
    own = {name: sha256(text.encode()) for name, text in texts.items()}
    texts[CROISSANT] = _croissant(title, about, licence, date, {**described, **own}, columns)
    refuse_other_files(out, texts)
    make_folder(out)
    for name, text in texts.items():
        write_file(out / name, text)
    return DataCard(texts, about)


def refuse_other_files(out: Path, names: Iterable[str]) -> None:
    """Refuse a folder that holds files of these names and is not a card of ours."""
    may_write(out / PROVENANCE, "data card")
    # Only provenance.json tells a card of ours from files that happen to have these names.
    if not (out / PROVENANCE).exists():
        for name in names:
            refuse_existing(out / name)


Columns = Mapping[str, tuple[str, str]]
Made = tuple[list[dict[str, Any]], Columns, list[str], str, dict[str, Any]]
"""Rows of the index, their columns, blocks of the card, one sentence, and provenance."""


def _packages_card(folder: Path) -> Made | None:
    try:
        packages = [place.read() for place in package_places(folder, of_build=True)]
    except MemAuditError:
        return None
    manifest = build_manifest(folder)
    counts = reliability(folder.name, packages)
    about = (
        f"{counted(len(packages), 'package')} with {counts.units:,} evidence units, "
        f"{counts.queries:,} questions and {sum(counts.candidates.values()):,} candidate memories"
    )
    rows = [
        {
            "name": package.name,
            "digest": digest(package),
            "cost_rule": package.cost_rule,
            "group_cap": package.group_cap,
            **{name: len(getattr(package, name)) for name in TABLES},
        }
        for package in packages
    ]
    kept = (
        "method",
        "dataset",
        "subset",
        "cost_rule",
        "group",
        "models",
        "prompts",
        "parameters",
        "settings",
        "labels",
        "usage",
        "memaudit",
    )
    provenance = {
        "packages": {row["name"]: row["digest"] for row in rows},
        "build": None if manifest is None else {k: manifest[k] for k in kept if k in manifest},
    }
    return rows, PACKAGE_COLUMNS, _package_blocks(packages, counts, manifest), about, provenance


def _package_blocks(
    packages: Sequence[Package], counts: Reliability, manifest: Mapping[str, Any] | None
) -> list[str]:
    methods = Counter(str(package.attributes.get("method", "not said")) for package in packages)
    rules = Counter(package.cost_rule for package in packages)
    blind = sum(label_passes(package) is not None for package in packages)
    grounds = [
        (name, ", ".join(f"{number:,} {label}" for label, number in labels.items()))
        for name, labels in counts.coverage.items()
    ]
    return [
        "## How it was made\n",
        table(
            ("what", "value"),
            [
                ("made by", ", ".join(f"{name} ({number})" for name, number in methods.items())),
                ("cost rule", ", ".join(f"{name} ({number})" for name, number in rules.items())),
                ("packages with label passes", blind),
                *(
                    [("models", ", ".join(f"{k}: {v}" for k, v in manifest["models"].items() if v))]
                    if manifest is not None and manifest.get("models")
                    else []
                ),
            ],
        ),
        "## What coverage rests on\n",
        table(("provenance", "cells"), grounds),
        "Rows that a rule gives are assumptions, not judgements.\n",
        "## Units and candidates\n",
        table(("kind of unit", "units"), list(counts.units_by_kind.items())),
        table(("kind of candidate", "candidates"), list(counts.candidates.items())),
    ]


def _scores_card(folder: Path) -> Made | None:
    try:
        entries = read_scores(folder)
    except MemAuditError:
        return None
    stores = sorted({entry.row.store for entry in entries.entries})
    about = (
        f"scores of {counted(len(stores), 'store')} on {counted(len(entries.packages), 'package')}"
    )
    rows = [
        {
            "package": entry.package,
            "store": entry.row.store,
            "budget": entry.row.asked,
            "score": entry.row.score,
            "kept_by": entry.row.kept_by,
            "union": entry.row.optimum.digest,
        }
        for entry in entries.entries
    ]
    provenance = {
        "judges": list(entries.judges),
        "cost_rule": entries.cost_rule,
        "coverage_is_an_estimate": entries.is_estimate,
        "stores": stores,
    }
    return rows, SCORE_COLUMNS, _score_blocks(entries), about, provenance


def _score_blocks(entries: Entries) -> list[str]:
    rows = [entry.row for entry in entries.entries]
    return [
        "## How it was made\n",
        table(
            ("what", "value"),
            [
                ("judge", ", ".join(entries.judges)),
                ("an estimate", "yes" if entries.is_estimate else "no"),
                ("rests on assumed cells, at most", f"{max(entries.assumed):.1%}"),
                ("cost rule", entries.cost_rule),
                ("optima not certified", sum(not row.optimum.certified for row in rows)),
                ("packages or stores without scores", len(entries.not_scored)),
            ],
        ),
        "A score is over OPT of the common union: the package and all stores scored with it. "
        "Scores over other unions cannot be compared with these.\n",
    ]


def _card(title: str, about: str, licence: str, date: str, body: Sequence[str]) -> str:
    head = [
        f"# {visible_text(title)}\n",
        f"{about[0].upper()}{about[1:]}. Described on {date} by memaudit {VERSION}; "
        f"`{PROVENANCE}` has every hash, `{INDEX}` a row for each item, `{CROISSANT}` the same for "
        "machines.\n",
    ]
    end = [
        "## Use\n",
        "To compare what memory writers and systems kept, on these items, at the same budgets, "
        "costs and labels. Not as an accuracy of an assistant, and not across other cost rules, "
        "budgets or label sets.\n",
        "## Licence\n",
        f"{visible_text(licence)}. Conversations and exports may carry licences of their own.\n",
    ]
    return "\n".join([*head, *body, *end])


def _croissant(
    title: str, about: str, licence: str, date: str, hashes: Mapping[str, str], columns: Columns
) -> str:
    base = template()["metadata"]
    data = {
        "@context": base["@context"],
        "@type": "sc:Dataset",
        "conformsTo": base["conformsTo"],
        "name": title,
        "description": about,
        "license": licence,
        "version": VERSION,
        "datePublished": date,
        "distribution": [_file(name, sha256) for name, sha256 in sorted(hashes.items())],
        "recordSet": [_record_set("items", "a row for each item", INDEX, columns)],
    }
    return json.dumps(data, indent=1) + "\n"


@cache
def template() -> dict[str, Any]:
    """`metadata` without files, `formats` by file ending, `columns` by kind of row, `records`."""
    data: dict[str, Any] = json.loads(
        files(__package__).joinpath("croissant.json").read_text("utf-8")
    )
    return data


def croissant(hashes: Mapping[str, str], date: str, version: str) -> str:
    """The metadata of a reproduction's files, published on a day by a version of the program."""
    data = {
        **template()["metadata"],
        "version": version,
        "datePublished": date,
        "citeAs": f"The MemAudit contributors. memaudit {version}.",
        "distribution": [_file(name, sha256) for name, sha256 in sorted(hashes.items())],
        "recordSet": [
            _record_set(name, rows["about"], rows["file"], template()["columns"][rows["columns"]])
            for name, rows in template()["records"].items()
        ],
    }
    return json.dumps(data, indent=1) + "\n"


def _file(name: str, sha256: str) -> dict[str, Any]:
    kind = template()["formats"].get(name.rpartition(".")[2], "application/octet-stream")
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": kind,
        "sha256": sha256,
    }


def _record_set(name: str, about: str, file: str, columns: Columns) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": about,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "description": meaning,
                "dataType": kind,
                "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
            }
            for column, (kind, meaning) in columns.items()
        ],
    }


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table whose columns after the first are aligned right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    lines = [head, rule, *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|")
