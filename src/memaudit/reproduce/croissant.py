"""The fixed parts of the Croissant metadata: its vocabulary, and its words on responsible use."""

import json
from collections.abc import Mapping
from typing import Any

from memaudit.reproduce.folder import (
    DOWNSTREAM,
    NATURAL,
    PACKAGES,
    ROWS,
    SENSITIVITY,
    STRESS,
    SWEEP,
)

CONTEXT: Mapping[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The terms of Croissant 1.0."""

RESPONSIBLE: Mapping[str, object] = {
    "rai:dataCollection": (
        "Generated from seeds, and from 26 invented conversations written by a language model."
    ),
    "rai:dataAnnotationProtocol": [
        "Coverage of generated packages is part of the generator. Coverage of the natural set was "
        "labelled by a language model, and twice more blindly; no person adjudicated it."
    ],
    "rai:dataUseCases": [
        "Comparing memory writers on the same packages and budgets; checking solvers and labels. "
        "Not a measure of answer accuracy, and no ranking of products."
    ],
    "rai:dataLimitations": [
        "Small packages; ratios are conditional on candidates, costs, labels and budget."
    ],
    "rai:dataBiases": ["One author wrote the texts and the labels of the natural set."],
    "rai:personalSensitiveInformation": ["None: all people and events are fictional."],
}


SPECIFICATION = "http://mlcommons.org/croissant/1.0"
LICENCE = "https://spdx.org/licenses/MIT.html"
FORMATS = {
    "jsonl": "application/jsonlines",
    "json": "application/json",
    "md": "text/markdown",
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
}

Fields = Mapping[str, tuple[str, str]]
"""Columns by name, each with its type and what it means."""

PACKAGE_FIELDS: Fields = {
    "name": ("sc:Text", "the package's name"),
    "distribution": ("sc:Text", "the generator, or natural for the bundled conversations"),
    "seed": ("sc:Integer", "the seed; in the natural set, the place"),
    "digest": ("sc:Text", "SHA-256 of the package's canonical content"),
}
ROW_FIELDS: Fields = {
    "distribution": PACKAGE_FIELDS["distribution"],
    "seed": PACKAGE_FIELDS["seed"],
    "package": PACKAGE_FIELDS["name"],
    "digest": PACKAGE_FIELDS["digest"],
    "budget": ("sc:Integer", "what a store may cost"),
    "writer": ("sc:Text", "who wrote the store"),
    "peeks": ("sc:Boolean", "whether the writer saw what is hidden in the package"),
    "value": ("sc:Float", "weighted coverage of the store"),
    "optimum": ("sc:Float", "the largest value that the budget allows"),
    "ratio": ("sc:Float", "value / optimum; empty where the optimum is 0 or not certified"),
    "cost": ("sc:Float", "what the store costs"),
    "certificate": ("sc:Text", "SHA-256 of the optimum's certificate"),
}
VARIANT_FIELDS: Fields = {
    "package": PACKAGE_FIELDS["name"],
    "digest": PACKAGE_FIELDS["digest"],
    "budget": ROW_FIELDS["budget"],
    "cost_rule": ("sc:Text", "how costs are measured"),
    "group_cap": ("sc:Integer", "candidates of one experience that may be kept"),
    "optimum": ("sc:Text", "the optimum as an exact number"),
    "certificate": ROW_FIELDS["certificate"],
}
QUESTION_FIELDS: Fields = {
    "package": PACKAGE_FIELDS["name"],
    "store": ("sc:Text", "whose memories were read"),
    "query": ("sc:Text", "the question's id"),
    "kind": ("sc:Text", "the question's kind"),
    "question": ("sc:Text", "what was asked"),
    "gold": ("sc:Text", "the right answer"),
    "abstention": ("sc:Boolean", "whether the right answer is that nothing is known"),
    "outcome": ("sc:Text", "what became of the question"),
    "layer": ("sc:Text", "who lost it: write, retrieval or reader; answered if nobody did"),
    "answer": ("sc:Text", "what the reader said"),
}
RECORDS: Mapping[str, tuple[str, Fields, str]] = {
    "packages": (PACKAGES, PACKAGE_FIELDS, "every package by name, seed and digest"),
    "sweep_rows": (f"{SWEEP}/{ROWS}", ROW_FIELDS, "the budget sweep on base"),
    "stress_rows": (f"{STRESS}/{ROWS}", ROW_FIELDS, "the stress suite at one budget"),
    "natural_rows": (f"{NATURAL}/{ROWS}", ROW_FIELDS, "writers on the own natural set"),
    "sensitivity_rows": (
        f"{SENSITIVITY}/{ROWS}", VARIANT_FIELDS, "optima under other constraints and costs"
    ),
    "downstream_rows": (
        f"{DOWNSTREAM}/{ROWS}", QUESTION_FIELDS, "questions after retrieval and reading"
    ),
}  # fmt: skip
"""Record sets: the file they are read from, its columns, and what a record is."""


def croissant(hashes: Mapping[str, str], date: str, version: str) -> str:
    """The metadata of files with these hashes, published on a day by a version of the program."""
    data = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": SPECIFICATION,
        "name": "memaudit-reproduction",
        "description": (
            "Packages, certified optima and writers' ratios of a MemAudit reproduction: which "
            "store a budgeted memory writer kept, and the best one it could have kept."
        ),
        "license": LICENCE,
        "version": version,
        "datePublished": date,
        "creator": {"@type": "sc:Organization", "name": "The MemAudit contributors"},
        "keywords": ["agent memory", "evaluation", "exact optimisation"],
        "citeAs": f"The MemAudit contributors. memaudit {version}.",
        **RESPONSIBLE,
        "distribution": [_file(name, sha256) for name, sha256 in sorted(hashes.items())],
        "recordSet": [_records(name, *about) for name, about in RECORDS.items()],
    }
    return json.dumps(data, indent=1) + "\n"


def _file(name: str, sha256: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name,
        "encodingFormat": FORMATS[name.rpartition(".")[2]], "sha256": sha256,
    }  # fmt: skip


def _records(name: str, file: str, fields: Fields, about: str) -> dict[str, Any]:
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
            for column, (kind, meaning) in fields.items()
        ],
    }
