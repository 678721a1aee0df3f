"""How a block is checked. Every block declares it by its language and the words after that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tests.docs.commands import lines_of
from tests.docs.declared import DECLARED
from tests.docs.fences import Block

Kind = Literal[
    "run", "model", "visit", "parse", "synopsis", "python", "python-model", "python-parse", "file",
    "output", "data", "figure", "elsewhere",
]  # fmt: skip

FILES = ("text", "json", "jsonl", "csv", "yaml", "toml", "python", "ini")
DATA = {
    "json": ("package", "certificate"),
    "jsonl": ("chat", "units", "memories", "coverage", "store"),
}
PROGRAMS = ("memaudit ", "make ", "pip ")
NO_RUN = "no-run"


@dataclass(frozen=True, slots=True)
class Way:
    """What is done with a block; `name` is its file, its sort of data, or the reason."""

    kind: Kind
    name: str = ""


def way_of(block: Block, before: Sequence[Way]) -> Way:
    """The declared way; a block without one fails the test of its page."""
    declared = [
        way for page, start, way in DECLARED if page == block.page and block.text.startswith(start)
    ]
    if declared:
        kind, name = declared[0]
        return Way(kind, name)  # type: ignore[arg-type]
    way = _own(block, before)
    assert way is not None, (
        f"{block.place}: no declared way of checking this block of {block.language or 'nothing'} "
        f"{' '.join(block.words)}; tests/docs/README.md lists the ways"
    )
    return way


def _own(block: Block, before: Sequence[Way]) -> Way | None:
    language, words = block.language, block.words
    if NO_RUN in words:
        assert len(words) == 2, f'{block.place}: no-run has one reason, in quotes: no-run "why"'
        kinds: dict[str, Kind] = {"console": "parse", "python": "python-parse"}
        return Way(kinds[language], words[1]) if language in kinds else None
    match language, words:
        case "console", ():
            return Way("run")
        case "console", ("with-model",):
            return Way("model")
        case "console", ("until-ctrl-c",):
            return Way("visit")
        case "console", ("synopsis",):
            return Way("synopsis")
        case "python", ():
            return Way("python")
        case "python", ("with-model",):
            return Way("python-model")
        case "", () if all(line.startswith(PROGRAMS) for line in lines_of(block.text)):
            return Way("synopsis")
        case "text", ("figure",):
            return Way("figure")
        case "text", () if before and before[-1].kind in ("python", "python-model"):
            return Way("output")
        case "yaml", ():
            return Way("data", "yaml")
        case _, (name,) if name in DATA.get(language, ()):
            return Way("data", name)
        case _, (name,) if language in FILES and "." in name:
            return Way("file", name)
    return None
