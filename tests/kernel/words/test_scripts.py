"""Scripts of texts, and words of any script."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.package.cost import cost_rule, default_rule, text_words
from memaudit.kernel.words.scripts import OTHER, script_of, script_shares, written_without_spaces
from memaudit.kernel.words.unicode_words import unicode_words

MIXED = st.text(
    st.sampled_from("aB 9.,:'_-\u2019。我人あアーｶ한שم٣ไท\u0e34\u0301👍\u200d🏽"), max_size=30
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # Each Han character is a word; a number is one; punctuation is none.
        ("我的老板叫张伟\uff0c今年44岁。", 7 + 2 + 1 + 1),
        ("我用Python 3.5写代码", 2 + 1 + 1 + 3),
        # 私 は 毎 朝 コーヒー を 飲 み ま す
        ("私は毎朝コーヒーを飲みます。", 10),
        ("クマ・ネコ", 2),
        ("ｶﾞｷﾞ", 1),
        ("저는 서울에서 일해요.", 3),
        ("أنا أحبُّ القهوة.", 3),
        ('עברית צה"ל', 2),
        ("हिन्दी में लिखा", 3),
        ("Москва — столица", 2),
        # An estimate: 9 letters without vowel signs and tone marks.
        ("ฉันชอบกาแฟ", 3),
        ("don't 1,000.5 foo_bar a.b", 4),
        ("fish,meat 7:30", 4),
        ("👩\u200d👩\u200d👧 👍🏽 🇫🇷🇩🇪 ❤\ufe0f", 5),
        ("", 0),
        ("—!? %", 0),
    ],
)
def test_unicode_words(text: str, words: int) -> None:
    """Counted by hand, by UAX #29."""
    assert unicode_words(text) == cost_rule("unicode_words")(text) == words


@given(MIXED, MIXED)
def test_costs_add_up_over_a_space(first: str, second: str) -> None:
    together = unicode_words(f"{first} {second}")
    assert together == unicode_words(first) + unicode_words(second)


@given(st.text(st.sampled_from("abcXYZ019 \n"), max_size=60))
def test_plain_words_are_the_same_by_both_rules(text: str) -> None:
    """They differ where punctuation stands alone or joins words."""
    assert unicode_words(text) == cost_rule("words")(text)


def test_shares() -> None:
    """A Han character is as much text as four letters, Katakana and Hangul two; signs are none."""
    assert script_shares(["我们 Python", "12!"]) == {
        "Han": Fraction(8, 14),
        "Latin": Fraction(6, 14),
    }
    assert script_shares(["12 ..."]) == {}
    assert [script_of(letter) for letter in "aéяあ한ไ@3ꦗ"] == [
        "Latin",
        "Latin",
        "Cyrillic",
        "Hiragana",
        "Hangul",
        "Thai",
        None,
        None,
        OTHER,
    ]


def test_the_default_rule_follows_the_script() -> None:
    """Korean and Arabic have spaces; a few names in an English text change nothing."""
    for text in ("我住在杭州", "私は寝ます", "ฉันชอบกาแฟ", "我用Python写代码"):
        assert written_without_spaces([text])
        assert default_rule([text]) == "unicode_words"
    for text in (
        "저는 서울에서 일해요",
        "أنا أحب القهوة",
        "I met 张伟 at the station today",
        "",
        "12",
    ):
        assert default_rule([text]) == "words"
    assert (text_words("我住在杭州"), text_words("I'm here, now")) == (5, 3)
