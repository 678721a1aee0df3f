"""The JSON Schema of a package, as the models give it."""

import json

from memaudit.io.packages import package_schema

HEAD = """# JSON Schema of a package

Printed by `memaudit schema`, and kept in `schema/package.schema.json`. [Packages](../packages.md)
explains the fields; `memaudit validate` checks more than a schema can say.

"""


def schema_page() -> str:
    """The page in Markdown."""
    return f"{HEAD}```json\n{json.dumps(package_schema(), indent=2)}\n```\n"
