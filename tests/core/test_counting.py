"""Numbers of things in words."""

import pytest

from memaudit.core.text import counted


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (1, "cell", "1 cell"),
        (0, "cell", "0 cells"),
        (1000, "memory", "1,000 memories"),
        (2, "diagnosis", "2 diagnoses"),
    ],
)
def test_counted(number: int, noun: str, words: str) -> None:
    assert counted(number, noun) == words


def test_a_plural_of_its_own() -> None:
    assert counted(2, "leaf", "leaves") == "2 leaves"
