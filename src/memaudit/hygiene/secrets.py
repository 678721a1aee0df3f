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


FORMS: tuple[tuple[str, str, re.Pattern[str], Callable[[str], bool]], ...] = (
    (SECRET, "private key",
     re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[\s\S]{0,8000}?-----END [A-Z ]{0,30}"
                r"PRIVATE KEY-----)?"), _always),
    (SECRET, "API key",
     re.compile(r"\b(?:sk|rk|pk)[-_](?:ant-|proj-|live_|test_|or-)?[A-Za-z0-9_-]{16,200}"), _mixed),
    (SECRET, "AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"), _always),
    (SECRET, "GitHub token",
     re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})"), _always),
    (SECRET, "Google API key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}"), _always),
    (SECRET, "Slack token", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,250}"), _always),
    (SECRET, "Hugging Face token", re.compile(r"\bhf_[A-Za-z0-9]{30,100}"), _always),
    (SECRET, "JSON web token",
     re.compile(r"\beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}"),
     _always),
    (SECRET, "password or token",
     re.compile(r"(?i)\b(?:password|passwort|passphrase|passcode|pwd|api[ _-]?key|secret[ _-]?key|"
                r"access[ _-]?token|auth[ _-]?token|bearer)\b['\"]?\s*(?:is|was|to|=|:|set to)?\s*"
                r"['\"`]?(?P<value>[^\s'\"`,;]{6,200})"), _mixed),
    (SECRET, "card number", re.compile(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])"), _luhn),
    (PERSONAL, "account number",
     re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b"), _iban),
    (PERSONAL, "social security number",
     re.compile(r"\b(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}\b"), _always),
    (PERSONAL, "mail address",
     re.compile(r"\b[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b"),
     _always),
    (PERSONAL, "phone number",
     re.compile(r"(?<![\w+])\+\d{1,3}(?:[ ./-]?\(?\d{1,4}\)?){2,6}(?!\w)|"
                r"(?<!\w)\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\w)"), _phone),
)  # fmt: skip
"""A rule, what is found, its form, and what must hold of the match besides."""


def sensitive(text: str) -> list[Sensitive]:
    """What is found in a text, in order; of two that overlap the first in FORMS."""
    found: list[Sensitive] = []
    for rule, what, form, holds in FORMS:
        for match in form.finditer(text):
            named = "value" in form.groupindex
            start, end = match.span("value") if named else match.span()
            free = all(end <= one.start or one.end <= start for one in found)
            if free and holds(text[start:end]):
                found.append(Sensitive(rule, what, start, end))
    return sorted(found, key=lambda one: one.start)


def mask(one: Sensitive, text: str) -> str:
    """What is shown instead: enough to recognise it, too little to use it."""
    found = text[one.start : one.end]
    if one.what == "mail address":
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
