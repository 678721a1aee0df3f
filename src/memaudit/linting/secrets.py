"""Secrets and personal data in texts: found by their form, and masked wherever a text is shown."""

import re
from collections.abc import Callable, Iterator
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
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 2:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _iban(text: str) -> bool:
    """Whether the remainder of an account number is the one it must be."""
    plain = text.replace(" ", "").upper()
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])) % 97 == 1


def _mixed(text: str) -> bool:
    """Whether a word looks random: letters and digits or marks in one."""
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

FORMS: tuple[tuple[str, str, re.Pattern[str], Callable[[str], bool]], ...] = (
    (
        SECRET,
        "private key",
        re.compile(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE "
            r"KEY-----|\Z)"
        ),
        _always,
    ),
    (
        SECRET,
        "API key",
        re.compile(r"\b(?:sk|rk|pk)[-_](?:ant-|proj-|live_|test_|or-)?[A-Za-z0-9_-]{16,}"),
        _mixed,
    ),
    (SECRET, "AWS access key", re.compile(r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"), _always),
    (
        SECRET,
        "GitHub token",
        re.compile(r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})"),
        _always,
    ),
    (SECRET, "Google API key", re.compile(r"AIza[0-9A-Za-z_-]{35}"), _always),
    (SECRET, "Slack token", re.compile(r"xox[abeoprs]-[A-Za-z0-9-]{10,}"), _always),
    (SECRET, "Hugging Face token", re.compile(r"\bhf_[A-Za-z0-9]{30,}"), _always),
    (
        SECRET,
        "JSON web token",
        re.compile(r"\beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}"),
        _always,
    ),
    (
        SECRET,
        "bearer token",
        re.compile(r"(?i)\bbearer (?P<value>[A-Za-z0-9._~+/=-]{12,})"),
        _mixed,
    ),
    (SECRET, "password or token", re.compile(_NAMED), _mixed),
    (SECRET, "card number", re.compile(r"(?<![\d-])\d(?:[ \u00a0.-]?\d){12,18}(?!\d)"), _luhn),
    (
        PERSONAL,
        "account number",
        re.compile(r"(?i)\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b"),
        _iban,
    ),
    (
        PERSONAL,
        "social security number",
        re.compile(r"\b(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}\b"),
        _always,
    ),
    (
        PERSONAL,
        "e-mail address",
        re.compile(
            r"\b[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b"
        ),
        _always,
    ),
    (
        PERSONAL,
        "phone number",
        re.compile(
            r"(?<![\w+])\+\d{1,3}(?:[ ./-]?\(?\d{1,4}\)?){2,6}(?!\w)|"
            r"(?<!\w)\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\w)"
        ),
        _phone,
    ),
)
"""A rule, what is found, its form, and what must hold of the match besides."""


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
    at, pieces = 0, []
    for one in sensitive(text):
        pieces.append(text[at : one.start])
        at = one.end
    return "".join([*pieces, text[at:]])


def mask(one: Sensitive, text: str) -> str:
    """What is shown instead: enough to recognise it, too little to use it."""
    found = text[one.start : one.end]
    if one.what == "e-mail address":
        name, _, domain = found.partition("@")
        return f"{name[0]}***@{domain}"
    if one.what == "card number":
        return f"****{''.join(filter(str.isdigit, found))[-4:]}"
    shown = found[:4] if len(found) >= 16 else found[:2] if len(found) >= 9 else ""
    return f"{shown}*** ({len(found)} characters)"


def masked(text: str) -> str:
    """The text with everything sensitive masked."""
    return "".join(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    at = 0
    for one in sensitive(text):
        yield text[at : one.start]
        yield mask(one, text)
        at = one.end
    yield text[at:]
