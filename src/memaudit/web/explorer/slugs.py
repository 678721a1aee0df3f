"""Names in addresses: what a package calls itself never becomes part of a path."""

import hashlib
import re

LONGEST = 40
CODE = 10
PATTERN = r"[a-z0-9][a-z0-9-]*"
"""What every name in an address looks like; nothing else is ever looked up or written."""


def slug(name: str, *key: str) -> str:
    """Some letters of the name, and a hash of name and key that tells it from all others."""
    letters = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST].strip("-")
    text = "\0".join((name, *key)).encode("utf-8", "surrogatepass")
    code = hashlib.sha256(text).hexdigest()[:CODE]
    return f"{letters}-{code}" if letters else code


def anchor(table: str, id: str) -> str:
    """Where a row stands on its page: the table's letter and a hash of the id."""
    code = hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:CODE]
    return f"{table[0]}-{code}"
