"""The formats by name. A new one is one file and one line here; conformance tests find it."""

from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.datasets.chat import Chat
from memaudit.datasets.cursor import Cursor
from memaudit.datasets.locomo import LoCoMo
from memaudit.datasets.longmemeval import LongMemEval
from memaudit.datasets.memdaily import MemDaily
from memaudit.datasets.protocol import Loader
from memaudit.datasets.source import opened

LOADERS: dict[str, Loader] = {
    LongMemEval.name: LongMemEval(),
    LoCoMo.name: LoCoMo(),
    MemDaily.name: MemDaily(),
    Chat.name: Chat(),
}

MAX_NESTING = 2
"""Objects around the first list of records, at most: MemDaily's question type and scenario."""


def named_loader(name: str) -> Loader:
    """The format of that name."""
    if name not in LOADERS:
        raise MemAuditError(f"unknown format {name!r}; known formats: {', '.join(LOADERS)}")
    return LOADERS[name]


def seen_format(path: Path) -> str | None:
    """The format whose first record the file begins with, if any; never by the file's name."""
    for keys in (_first_keys(path, nested=True), _first_keys(path, nested=False)):
        for name, loader in LOADERS.items():
            if loader.recognises(keys):
                return name
    return None


def guess_format(path: Path) -> str:
    """The format a file is of, as far as one can see."""
    if (seen := seen_format(path)) is not None:
        return seen
    raise MemAuditError(
        f"{path.name}: its first record is of no known format; "
        f"give one with --format: {', '.join(LOADERS)}"
    )


def _first_keys(path: Path, nested: bool) -> frozenset[str]:
    """The keys of the first record: in the first list, looked for inside objects if `nested`."""
    with opened(path) as file:
        cursor = Cursor(file, path.name)
        for _ in range(MAX_NESTING):
            if not nested or cursor.peek() != "{":
                break
            next(cursor.members(), None)
        if cursor.peek() == "[" and next(cursor.elements(), None) is None:
            return frozenset()
        if cursor.peek() != "{":
            return frozenset()
        first = cursor.value()
        return frozenset(first) if isinstance(first, dict) else frozenset()
