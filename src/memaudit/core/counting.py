"""Numbers of things in words."""


def counted(number: int, noun: str, many: str = "") -> str:
    """`1 cell`, `2 cells`, `1,000 memories`; `many` is for nouns that go another way."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {many or _several(noun)}"


def _several(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
