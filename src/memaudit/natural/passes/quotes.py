"""Quotes that stand in their source word for word.

Compared are texts in which every run of white space is one space and every kind of single or
double quotation mark is the plain one; nothing else is evened out, neither case nor other
punctuation. What is kept is the source's own spelling.
"""

_MARKS = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
}
"""Curly, low, reversed, prime, accent and angle marks."""


def evened(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each letter of it the place it came from."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        if letter.isspace():
            if letters and letters[-1] != " ":
                letters.append(" ")
                places.append(place)
            continue
        letters.append(_MARKS.get(letter, letter))
        places.append(place)
    if letters and letters[-1] == " ":
        letters.pop()
        places.pop()
    return "".join(letters), places


def verbatim(quote: str, text: str) -> str | None:
    """The piece of the text that the quote is, or None; a quote without a letter is none."""
    wanted, _ = evened(quote)
    if not any(letter.isalnum() for letter in wanted):
        return None
    compared, places = evened(text)
    start = compared.find(wanted)
    if start < 0:
        return None
    return text[places[start] : places[start + len(wanted) - 1] + 1]
