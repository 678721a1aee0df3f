"""Markdown tables. Names of writers and packages are ours; nothing here quotes a conversation."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; columns after the first stand right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    lines = [head, rule, *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines)


def page(title: str, about: str, *blocks: str) -> str:
    """A heading, what it is about, and blocks."""
    return "\n".join([f"# {title}\n", f"{about}\n", *blocks])


def number(value: float | None, places: int = 3) -> str:
    """To so many places; a dash where it is undefined."""
    return "-" if value is None else f"{value:.{places}f}"


def interval(value: float | None, low: float | None, high: float | None) -> str:
    """A number with its interval."""
    if value is None or low is None or high is None:
        return number(value)
    return f"{number(value)} [{number(low)}, {number(high)}]"


def _cell(cell: object) -> str:
    return str(cell).replace("|", "\\|")
