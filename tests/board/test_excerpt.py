"""The part of a text that is about something."""

from memaudit.board.excerpt import excerpt


def test_an_excerpt_is_the_part_that_shares_most_terms() -> None:
    text = "The old code was 2093.\n" + "They talked about bees. " * 9 + "Since August it is 6158."
    assert excerpt(text, "old code", 30) == "The old code was 2093. They..."
    found = excerpt(text, "Since August the code is 6158", 60)
    assert found.startswith("... ")
    assert "August it is 6158." in found
    common = "a code, a gate, " * 3 + "and many bees then. It was 6158 in the end."
    assert "bees then. It was 6158" in excerpt(common, "gate code 6158", 45)
    dated = "On 7 May 2025 they talked about all the bees of the town and about a hedgehog."
    assert "hedgehog" in excerpt(dated, "Ann saw a hedgehog in May 2025", 40)
    assert excerpt("short\ntext", "code", 40) == "short text"
    assert excerpt("x" * 50, "code", 40) == "x" * 40 + "..."
    assert excerpt("", "code", 40) == ""
