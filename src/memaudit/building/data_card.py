"""A card, Croissant metadata and provenance for a folder of packages.

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

FROM_BUILD = (
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
"""What a card says of the build, if its manifest does."""


@dataclass(frozen=True, slots=True)
class DataCard:
    """The texts by file name, and what the folder holds in words."""

    texts: Mapping[str, str]
    about: str


def write_data_card(folder: Path, out: Path, title: str, licence: str, date: str) -> DataCard:
    """Describe a folder of packages, and write the description into another."""
    if not folder.is_dir():
        raise MemAuditError(f"{folder}: not a folder; give a folder of packages")
    # Before anything is written: the card may stand in the folder that it describes.
    hashes = {name: content_digest(folder / name) for name in files_in(folder)}
    packages = [place.read() for place in package_places(folder, of_build=True)]
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
    facts = {
        "memaudit": VERSION,
        "date": date,
        "title": title,
        "licence": licence,
        "packages": {row["name"]: row["digest"] for row in rows},
        "build": manifest and {name: manifest[name] for name in FROM_BUILD if name in manifest},
        "files": hashes,
    }
    texts = {
        INDEX: "".join(json.dumps(row) + "\n" for row in rows),
        PROVENANCE: json.dumps(facts, indent=1) + "\n",
        CARD: _card(title, about, licence, date, _body(packages, counts, manifest)),
    }
    # Relative, so that card and data can be moved together.
    home = os.path.relpath(folder, out)
    described = {f"{home}/{name}": sha256 for name, sha256 in hashes.items()}
    own = {name: sha256(text.encode()) for name, text in texts.items()}
    texts[CROISSANT] = _croissant(title, about, licence, date, {**described, **own})
    may_write(out / PROVENANCE, "data card")
    # Only provenance.json tells a card of ours from files that happen to have these names.
    if not (out / PROVENANCE).exists():
        for name in texts:
            refuse_existing(out / name)
    make_folder(out)
    for name, text in texts.items():
        write_file(out / name, text)
    return DataCard(texts, about)


def _body(
    packages: Sequence[Package], counts: Reliability, manifest: Mapping[str, Any] | None
) -> list[str]:
    methods = Counter(str(package.attributes.get("method", "not said")) for package in packages)
    rules = Counter(package.cost_rule for package in packages)
    models = manifest.get("models") if manifest else None
    made = [
        ("made by", _tally(methods)),
        ("cost rule", _tally(rules)),
        ("packages with label passes", sum(label_passes(one) is not None for one in packages)),
    ]
    if models:
        made.append(("models", ", ".join(f"{k}: {v}" for k, v in models.items() if v)))
    grounds = [
        (name, ", ".join(f"{number:,} {label}" for label, number in labels.items()))
        for name, labels in counts.coverage.items()
    ]
    return [
        "## How it was made\n",
        table(("what", "value"), made),
        "## What coverage rests on\n",
        table(("provenance", "cells"), grounds),
        "Rows that a rule gives are assumptions, not judgements.\n",
        "## Units and candidates\n",
        table(("kind of unit", "units"), list(counts.units_by_kind.items())),
        table(("kind of candidate", "candidates"), list(counts.candidates.items())),
    ]


def _tally(counts: Counter[str]) -> str:
    return ", ".join(f"{name} ({number})" for name, number in counts.items())


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


def _croissant(title: str, about: str, licence: str, date: str, hashes: Mapping[str, str]) -> str:
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
        "recordSet": [_record_set("items", "a row for each item", INDEX, PACKAGE_COLUMNS)],
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


def _record_set(
    name: str, about: str, file: str, columns: Mapping[str, tuple[str, str]]
) -> dict[str, Any]:
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
