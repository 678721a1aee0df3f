"""Secrets and personal data in texts: found by their form, and masked wherever a text is shown."""

import re
from collections.abc import Callable
from dataclasses import dataclass

SECRET, PERSONAL = "secrets", "personal-data"


@dataclass(frozen=True, slots=True)
class Sensitive:
    """One place in a text that should not be there."""

    rule: str
    what: str
    start: int
    end: int


def _luhn(text: str) -> bool:
    """Whether digits have the checksum of a payment card."""
    digits = [int(character) for character in text if character.isdigit()]
    # Cards have 13 to 19 digits; 0000... would pass the checksum.
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 2:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _iban(text: str) -> bool:
    """Whether the remainder of an account number is the one it must be."""
    plain = text.replace(" ", "").upper()
    if not 15 <= len(plain) <= 34:
        return False
    # ISO 13616: the first four characters go to the end, letters count from 10, the rest is 1.
    return int("".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])) % 97 == 1


def _mixed(text: str) -> bool:
    """Whether a word looks random: letters and digits or marks in one."""
    # "The password is on the fridge" names a secret and does not tell it.
    word = text.rstrip(".:;!?)")
    return len(word) >= 6 and any(map(str.isalpha, word)) and not word.isalpha()


def _phone(text: str) -> bool:
    return 9 <= sum(map(str.isdigit, text)) <= 15


def _always(_: str) -> bool:
    return True


_NAMED = (
    r"(?i)(?<![A-Za-z0-9])[\w-]{0,30}(?:password|passwort|passphrase|passcode|passwd|pwd|"
    r"api[ _-]?key|secret[ _-]?key|secret|access[ _-]?key|access[ _-]?token|auth[ _-]?token|token)"
    r"[\w-]{0,20}['\"]?(?: (?:for|of|to) [\w' -]{1,40}?)?\s{0,3}"
    r"(?:is now|is set to|is|was|are|=>|:=|=|:|to)\s{0,3}:?\s{0,3}['\"`]?"
    r"(?P<value>[^\s'\"`,;]{6,300})"
)
"""A word for a secret, what it is for, and its value."""

Form = tuple[str, str, Callable[[str], bool]]
"""What is found, its form, and what must hold of the match besides."""

SECRETS: tuple[Form, ...] = (
    (
        "private key",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?"
        r"(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)",  # a memory may hold only its beginning
        _always,
    ),
    ("API key", r"\b(?:sk|rk|pk)[-_](?:ant-|proj-|live_|test_|or-)?[A-Za-z0-9_-]{16,}", _mixed),
    ("AWS access key", r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])", _always),
    ("GitHub token", r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})", _always),
    ("Google API key", r"AIza[0-9A-Za-z_-]{35}", _always),
    ("Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}", _always),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}", _always),
    (
        "JSON web token",
        r"\beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}",
        _always,
    ),
    ("bearer token", r"(?i)\bbearer (?P<value>[A-Za-z0-9._~+/=-]{12,})", _mixed),
    ("password or token", _NAMED, _mixed),
    ("card number", r"(?<![\d-])\d(?:[ \u00a0.-]?\d){12,18}(?!\d)", _luhn),
)
PERSONAL_DATA: tuple[Form, ...] = (
    ("account number", r"(?i)\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b", _iban),
    # Area 000, 666 and from 900 on, group 00 and serial 0000 were never given out.
    ("social security number", r"\b(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}\b", _always),
    (
        "e-mail address",
        r"\b[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b",
        _always,
    ),
    (
        "phone number",
        r"(?<![\w+])\+\d{1,3}(?:[ ./-]?\(?\d{1,4}\)?){2,6}(?!\w)|"
        r"(?<!\w)\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\w)",
        _phone,
    ),
)
FORMS = [
    (rule, what, re.compile(form), holds)
    for rule, forms in ((SECRET, SECRETS), (PERSONAL, PERSONAL_DATA))
    for what, form, holds in forms
]
"""Of texts that are of several forms, the first counts."""


def sensitive(text: str) -> list[Sensitive]:
    """What is found in a text, in order. What overlaps is one, named by the first in FORMS."""
    found = [
        (start, end, place)
        for place, (_, _, form, holds) in enumerate(FORMS)
        for match in form.finditer(text)
        for start, end in [match.span("value" if "value" in form.groupindex else 0)]
        if holds(text[start:end])
    ]
    merged: list[tuple[int, int, int]] = []
    for start, end, place in sorted(found):
        if merged and start < merged[-1][1]:
            first, last, known = merged[-1]
            merged[-1] = first, max(last, end), min(known, place)
        else:
            merged.append((start, end, place))
    return [Sensitive(*FORMS[place][:2], start, end) for start, end, place in merged]


def without_secrets(text: str) -> str:
    """The text with everything sensitive left out."""
    return _replaced(text, lambda _: "")


def masked(text: str) -> str:
    """The text with everything sensitive masked."""
    return _replaced(text, lambda place: mask(place, text))


def _replaced(text: str, shown: Callable[[Sensitive], str]) -> str:
    at, pieces = 0, []
    for place in sensitive(text):
        pieces += [text[at : place.start], shown(place)]
        at = place.end
    return "".join([*pieces, text[at:]])


def mask(place: Sensitive, text: str) -> str:
    """What is shown instead: enough to recognise it, too little to use it."""
    found = text[place.start : place.end]
    if place.what == "e-mail address":
        name, _, domain = found.partition("@")
        return f"{name[0]}***@{domain}"
    if place.what == "card number":
        return f"****{''.join(filter(str.isdigit, found))[-4:]}"
    shown = found[:4] if len(found) >= 16 else found[:2] if len(found) >= 9 else ""
    return f"{shown}*** ({len(found)} characters)"
