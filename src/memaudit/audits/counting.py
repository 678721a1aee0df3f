"""Numbers of things in words."""


def counted(number: int, noun: str) -> str:
    """`1 cell`, `2 cells`, `1,000 memories`."""
    if number == 1:
        return f"1 {noun}"
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {many}"
