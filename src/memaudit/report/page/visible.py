"""Text of packages is untrusted: what a reader could not see is written out."""


def visible_text(text: str) -> str:
    """The text with control, format and bidirectional characters as escapes; lines stay lines."""
    return "".join(
        letter
        if letter.isprintable() or letter == "\n"
        else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def shortened(text: str, most: int) -> str:
    """The beginning of a long text, saying how much was left out."""
    if len(text) <= most:
        return text
    return f"{text[:most]} … ({len(text) - most:,} more characters)"
