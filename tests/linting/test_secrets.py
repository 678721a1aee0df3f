"""Secrets and personal data: found by their form, masked wherever they are shown."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.linting.secrets import PERSONAL, SECRET, masked, sensitive

# Made up, in the forms that the services document.
KEY = "sk-proj-" + "aB3dE6gH9jK2mN5pQ8sT" * 2
FOUND = [
    (SECRET, "API key", f"The key is {KEY}.", KEY),
    (SECRET, "AWS access key", "uses AKIAIOSFODNN7EXAMPLE for S3", "AKIAIOSFODNN7EXAMPLE"),
    (SECRET, "GitHub token", "token ghp_" + "a1B2c3D4e5" * 4, "ghp_" + "a1B2c3D4e5" * 4),
    (SECRET, "password or token", "Wi-Fi password is Tr0ub4dor&3, guests off", "Tr0ub4dor&3"),
    (SECRET, "card number", "Pays with 4111 1111 1111 1111 by default", "4111 1111 1111 1111"),
    (PERSONAL, "e-mail address", "Reach Ann at ann.lee@example.org", "ann.lee@example.org"),
    (PERSONAL, "account number", "IBAN DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"),
    (PERSONAL, "phone number", "Call +44 20 7946 0958 after six", "+44 20 7946 0958"),
    (PERSONAL, "social security number", "SSN 078-05-1120", "078-05-1120"),
]


@pytest.mark.parametrize(("rule", "what", "text", "secret"), FOUND)
def test_found_and_masked(rule: str, what: str, text: str, secret: str) -> None:
    (one,) = sensitive(text)
    assert (one.rule, one.what, text[one.start : one.end].rstrip(".")) == (rule, what, secret)
    assert secret not in masked(text)
    assert masked(text).startswith(text[: one.start])


@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD=hunter2hunter2",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG",
        "password for the wifi is Tr0ub4dor93xx",
        "the password is now Tr0ub4dor93xx",
        "password => Tr0ub4dor93xx",
        "token: 9f8e7d6c5b4a",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
        "sk-" + "aB3dE6gH9j" * 40,
        "password is xx!!sk-abcdefghij1234567890$rest99",
    ],
)
def test_more_forms(text: str) -> None:
    """Nothing of the value is left, however long it is and whatever else matches inside it."""
    last = text.split()[-1].rpartition("=")[2]
    assert last[-6:] not in masked(text)


@pytest.mark.parametrize("text", ["password" + " " * 50_000, "a@b.co " * 20_000, "1" * 50_000])
def test_long_texts_take_no_time(text: str) -> None:
    """What took minutes by trying every pair of places."""
    started = time.process_time()
    sensitive(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        "User forgot the password again",
        "Password manager: uses one",
        "Order number 4111 1111 1111 1112 was delivered",  # no checksum of a card
        "On 2024-05-03 at 12:30 the price was 1,250.00 euros",
        "Ticket 12345-6789, version 1.2.3, 555 people",
        "skating-practice-on-wednesday-evenings",
        "",
    ],
)
def test_not_everything_is_a_secret(text: str) -> None:
    assert sensitive(text) == []
    assert masked(text) == text


@given(st.text(max_size=60), st.sampled_from(FOUND), st.text(max_size=60))
def test_masked_among_anything(before: str, found: tuple[str, str, str, str], after: str) -> None:
    """Whatever stands around it, a secret between spaces is gone; nothing else breaks."""
    assert found[3] not in masked(f"{before} {found[2]} {after}").removesuffix(f" {after}")
