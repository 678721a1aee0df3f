"""Text from packages is untrusted: nothing in it may steer the terminal."""


def safe(text: object) -> str:
    """The text with every control, format and bidirectional character written out as an escape."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in str(text)
    )


def safe_markup(text: object) -> str:
    """The same for rich, with its [markup] shown instead of obeyed."""
    from rich.markup import escape

    return escape(safe(text))
