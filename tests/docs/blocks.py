"""The fenced blocks of a page, and how shown output is compared with printed output."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(.*)$")
INLINE = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: `language` and `words` are what stands behind the opening fence."""

    page: str
    line: int
    language: str
    words: tuple[str, ...]
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[str]:
    """README and every page below docs, as paths from the root of the project."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return ["README.md", "CONTRIBUTING.md", *(str(path.relative_to(ROOT)) for path in found)]


def page_text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, text: str) -> list[Block]:
    """Its blocks in order. A fence that is indented or never closed is an error."""
    found: list[Block] = []
    opened: tuple[int, str] | None = None
    inside: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        fence = FENCE.match(line)
        assert fence or "```" not in line, f"{page}:{number}: a fence starts its line"
        if fence is None:
            inside.append(line)
        elif opened is None:
            opened, inside = (number, fence[1]), []
        else:
            assert not fence[1], f"{page}:{number}: the block of line {opened[0]} is not closed"
            language, *words = shlex.split(opened[1]) or [""]
            body = "".join(f"{one}\n" for one in inside)
            found.append(Block(page, opened[0], language, tuple(words), body))
            opened = None
    assert opened is None, f"{page}:{opened and opened[0]}: the block is never closed"
    return found


def prose(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def inline_commands(text: str) -> list[str]:
    """What the text calls `memaudit ...` in passing."""
    spans = (" ".join(span.split()) for span in INLINE.findall(prose(text)))
    return [span for span in spans if span.startswith("memaudit ")]


RULE = " ─━┏┓┗┛┡┩┃│┳╇┻└┘┴├┤┬┼"
VARYING = "..."


def squeezed(text: str) -> list[str]:
    """Lines without their layout; rules and frames of tables are layout."""
    lines = (
        " ".join(line.replace("┃", " ").replace("│", " ").split()) for line in text.splitlines()
    )
    return [line for line in lines if line.strip(RULE)]


def matches(shown: str, printed: str) -> bool:
    """Equal, where three dots stand for anything: a time, a path, the rest of the line."""
    pattern = ".*".join(re.escape(part) for part in shown.split(VARYING))
    return re.fullmatch(pattern, printed) is not None


def missing_line(shown: str, printed: str) -> str:
    """The first shown line that is not printed where it should be; empty if all are.

    A page may leave lines out, but not change their order or make some up.
    """
    left = iter(squeezed(printed))
    for line in squeezed(shown):
        if line == VARYING:
            continue
        if not any(matches(line, other) for other in left):
            return line
    return ""
