"""Numbers of things in words."""


def counted(number: int, noun: str, many: str = "") -> str:
    """`1 cell`, `2 cells`, `1,000 memories`, `2 diagnoses`; `many` is for nouns of other ways."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {many or _several(noun)}"


def _several(noun: str) -> str:
    if noun.endswith("sis"):
        return f"{noun[:-2]}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
