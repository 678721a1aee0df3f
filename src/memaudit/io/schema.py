"""The JSON Schema of a one-file package, generated from the models."""

from typing import Any

from memaudit.core.package import Package
from memaudit.io.draft import FORMAT, VERSION, WEIGHT_ON_DISK
from memaudit.io.plain_rows import line


def package_schema() -> dict[str, Any]:
    """What a .json package looks like; rows of a package folder are its table items."""
    schema = Package.model_json_schema(mode="validation")
    number = schema["$defs"]["Candidate"]["properties"]["cost"]["anyOf"]
    schema["$defs"]["EvidenceUnit"]["properties"][WEIGHT_ON_DISK] = {
        "anyOf": number,
        "description": "the weight the queries give; checked against them where present",
    }
    schema["properties"] = {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "digest": {
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
            "description": "SHA-256 of the canonical content; checked where present",
        },
        **schema["properties"],
    }
    schema["required"] = ["format", "version", *schema["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def schema_text() -> str:
    """The schema as the file checked in."""
    return line(package_schema(), indent=2) + "\n"
