"""The JSON Schema of a package, generated from the models."""

import json

from memaudit.kernel.io.packages import package_schema

HEAD = """# JSON Schema of a package

`memaudit package schema` prints this schema, and `schema/package.schema.json` holds it.
[Packages](../packages.md) explains the fields. `memaudit package validate` checks more than a
schema can express.

"""


def schema_page() -> str:
    """The page in Markdown."""
    return f"{HEAD}```json\n{json.dumps(package_schema(), indent=2)}\n```\n"
