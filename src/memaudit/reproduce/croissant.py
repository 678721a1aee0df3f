"""Croissant metadata of the row files. Vocabulary, texts and columns are in croissant.json."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

Columns = Mapping[str, tuple[str, str]]
"""Columns by name, each with its type and its meaning."""


@cache
def template() -> dict[str, Any]:
    """`metadata` without files, `formats` by file ending, `columns` by kind of row, `records`."""
    data: dict[str, Any] = json.loads(
        files(__package__).joinpath("croissant.json").read_text("utf-8")
    )
    return data


def croissant(hashes: Mapping[str, str], date: str, version: str) -> str:
    """The metadata of files with these hashes, published on a day by a version of the program."""
    data = {
        **template()["metadata"],
        "version": version,
        "datePublished": date,
        "citeAs": f"The MemAudit contributors. memaudit {version}.",
        "distribution": [_file(name, sha256) for name, sha256 in sorted(hashes.items())],
        "recordSet": [_record_set(name, about) for name, about in template()["records"].items()],
    }
    return json.dumps(data, indent=1) + "\n"


def _file(name: str, sha256: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": template()["formats"][name.rpartition(".")[2]],
        "sha256": sha256,
    }


def _record_set(name: str, about: Mapping[str, str]) -> dict[str, Any]:
    columns: Columns = template()["columns"][about["columns"]]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": about["about"],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "description": meaning,
                "dataType": kind,
                "source": {"fileObject": {"@id": about["file"]}, "extract": {"column": column}},
            }
            for column, (kind, meaning) in columns.items()
        ],
    }
