"""What the words of a reply are worth."""

from enum import StrEnum


class Verdict(StrEnum):
    """What the reader's words are worth, looked at alone."""

    RIGHT = "right"
    """Also: abstained where that is the right answer."""
    STALE = "stale"
    WRONG = "wrong"
    ABSTAINED = "abstained"
    """Where an answer was expected."""
    UNCLEAR = "unclear"
    """No reply that can be read, or an answer that the rule cannot score."""
