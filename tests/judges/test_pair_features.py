"""What the offline judge goes by: plain dates and numbers, passages, nothing for length."""

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memaudit.judges.pair_features import (
    FEATURES,
    PairFeatures,
    StatedUnit,
    names_in,
    passages,
    with_plain_numbers,
)

UNITS = (
    StatedUnit("Maren's choir meets on Tuesdays at half past six.", "Tuesdays at half six"),
    StatedUnit("Oskar ran ten kilometres on 13 October 2024.", "I ran the ten K yesterday"),
    StatedUnit("Oskar does not like sweet things."),
    StatedUnit("Maren pays 290 euros a year for plot 41."),
)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("told 2024-06-09", "told 9 june 2024"),
        ("since 2024-06", "since june 2024"),
        ("Sept. 3rd and Dec 12th", "september 3 and december 12"),
        ("2024-13-01 is no date", "2024-13-01 is no date"),
        ("thirty-five guests at half past eight", "35 guests at 8:30"),
        ("07:00 and 18:30, 4.20 euros", "7 and 18:30, 4.20 euros"),
        ("12\u201314 May", "12 14 May"),
        ("someone, often, a tent", "someone, often, a tent"),
    ],
)
def test_dates_and_numbers_are_written_alike(text: str, plain: str) -> None:
    assert with_plain_numbers(text) == plain


def test_a_heading_belongs_to_every_passage() -> None:
    """So does a speaker with a date; a long clause before a colon does not."""
    assert passages("Maren: Health: her right wrist hurts badly; operation planned for July.") == (
        "Maren: Health: ",
        ["her right wrist hurts badly;", "operation planned for July."],
    )
    assert passages("A wrist. An operation in July.")[1] == ["A wrist. An operation in July."]
    assert passages("[2024-09-03] Maren: I sing. I dig.")[0] == "[2024-09-03] Maren: "
    assert (
        passages("What she told us all in that long night was this one thing: she quit.")[0] == ""
    )
    assert passages("Only a heading: ") == ("", ["Only a heading:"])


def test_names_are_words_that_are_always_capitalised() -> None:
    found = names_in(["The choir likes Maren.", "Maren sings. Choir is on Tuesday.", "Ask Oskar."])
    assert found == {"maren", "oskar"}


def table(memories: list[str]) -> dict[str, NDArray[np.floating[Any]]]:
    parts = [part for _, part in PairFeatures(UNITS).tables(memories)]
    numbers = np.concatenate(parts, axis=1)
    return {name: numbers[..., at] for at, name in enumerate(FEATURES)}


def test_length_earns_nothing() -> None:
    """A statement in a long text looks as it does alone; words scattered over one do not count."""
    stated = "Oskar ran ten kilometres on 13 October 2024."
    padding = " ".join(f"Item {number} of the list was a kettle." for number in range(60))
    scattered = f"Oskar came. {padding} She ran. {padding} Ten of them. {padding} October."
    found = table([stated, f"{padding} {stated} {padding}", scattered])
    alone, inside, apart = found["content"][1]
    assert alone == inside == 1
    assert apart < 0.5
    for name in FEATURES:
        if name != "memory size":
            assert found[name][1, 0] == pytest.approx(found[name][1, 1]), name


def test_numbers_names_and_negation() -> None:
    found = table(
        ["Oskar ran ten kilometres on 14 October 2024.", "Maren likes sweet things.", "A plot."]
    )
    assert found["numbers lost"][1, 0] == 1
    assert found["numbers differ"][1, 0] == 1
    assert found["other named"][2, 1] == 1
    assert found["negation lost"][2, 1] == 1
    assert found["nobody named"][3, 2] == 1
    assert found["subject named"][1, 0] == 1


def test_other_memories_change_nothing() -> None:
    """In any company and in any part of a large store."""
    texts = [f"Maren planted {number} beans." for number in range(300)]
    together, alone = table([*texts, "Oskar dislikes sweets."]), table(["Oskar dislikes sweets."])
    for name in FEATURES:
        np.testing.assert_array_equal(together[name][:, -1:], alone[name])


def test_long_texts_stay_quick() -> None:
    """White space of any length is looked at once; clauses without new words go with the next one
    to the end of the text, which takes no square of time."""
    start = time.monotonic()
    assert passages("A tent" + " " * 100_000 + "was lent to Max in June.")[0] == ""
    assert passages("%2e%2e.. " * 30_000)[1] == [" ".join(["%2e%2e.."] * 30_000)]
    assert time.monotonic() - start < 20
