"""Words for labels."""

from decimal import Decimal

import pytest

from memaudit.label_audit.cells import label_of


@pytest.mark.parametrize(
    ("words", "label"),
    [
        (("full", "1", "1.0", "Yes", "y", "TRUE", " covered ", True, 1, Decimal("1.0")), "full"),
        (("partial", "0.5", "1/2", "Partially covered", Decimal("0.5")), "partial"),
        (("none", "0", "0.0", "no", "n", "false", "not covered", "not-covered", False, 0), "none"),
        (("cannot_tell", "Cannot tell", "can't tell", "unsure", "?"), "cannot_tell"),
        (("", "  ", None), None),
    ],
)
def test_known(words: tuple[object, ...], label: str | None) -> None:
    """Case, blanks and hyphens do not matter; numbers count as coverage; nothing is no label."""
    assert [label_of(word) for word in words] == [label] * len(words)


@pytest.mark.parametrize("word", ["maybe", "0.7", "2", "-1", "nan", "fulll", ["full"], {}])
def test_unknown(word: object) -> None:
    """Never taken for none."""
    with pytest.raises(ValueError, match="label"):
        label_of(word)
