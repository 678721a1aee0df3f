"""Shown output and printed output: the same lines in the same order."""

import re

RULE = " ─━┏┓┗┛┡┩┃│┳╇┻└┘┴├┤┬┼"
VARYING = "..."


def squeezed(text: str) -> list[str]:
    """Lines without their layout; rules and frames of tables are layout."""
    lines = (" ".join(line.replace("┃", " ").replace("│", " ").split()) for line in
             text.splitlines())  # fmt: skip
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
