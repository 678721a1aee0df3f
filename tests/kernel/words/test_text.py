"""Sentences, terms and quotes of a text."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memaudit
from memaudit.kernel.words.text import (
    Terms,
    contains,
    content_key,
    counted,
    numbers,
    one_line,
    sentences,
    stem,
    terms,
    times,
)

TEXTS = st.text(st.sampled_from("aB .!?\n\t\"')…1"), max_size=60) | st.text(max_size=40)


def test_sentences() -> None:
    """Titles, initials and numbers of a list do not end one; a closing quote belongs to it."""
    text = 'Dr. Smith said "Go!" Then J. Doe left.\n1. Eggs, e.g. two\nBye…  Now?'
    assert sentences(text) == [
        'Dr. Smith said "Go!"',
        "Then J. Doe left.",
        "1. Eggs, e.g. two",
        "Bye…",
        "Now?",
    ]


@given(TEXTS)
def test_sentences_are_the_whole_text(text: str) -> None:
    """Nothing is lost, added or moved but white space."""
    pieces = sentences(text)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    for sentence in pieces:
        assert sentence in text
        assert sentence == sentence.strip() != ""


def test_a_quote_is_found_whatever_the_spacing() -> None:
    """But not in other words, and nothing is not a quote."""
    assert contains("I eat\n fish  now.", "eat fish now")
    assert not contains("I eat fish now.", "Eat fish")
    assert not contains("anything", " ")
    assert one_line(" a\n b ") == "a b"


def test_terms() -> None:
    """Without grammar, in one form each; number words are numbers."""
    words = terms("I've painted nine of the lake's sunrises at 7:30, Mel!")
    assert words == {"paint", "9", "lak", "sunris", "7:30", "mel"}
    assert numbers(words) == {"9", "7:30"}
    assert terms("Yes, you really can.") == frozenset()


@pytest.mark.parametrize(
    "forms",
    [
        "paint painted painting paints",
        "plan planned planning",
        "hike hiked hiking hikes",
        "city cities",
    ],
)
def test_forms_of_a_word_are_one_term(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


def test_counted() -> None:
    assert (counted(1, "cell"), counted(0, "cell")) == ("1 cell", "0 cells")
    assert counted(1000, "memory") == "1,000 memories"
    assert counted(2, "diagnosis") == "2 diagnoses"
    assert counted(2, "leaf", "leaves") == "2 leaves"


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _strings(part)]


def test_latin_texts_keep_their_terms() -> None:
    """Published numbers rest on the terms, sentences and keys of the shipped conversations."""
    folder = Path(memaudit.__path__[0]) / "examples" / "short"
    found = {name: hashlib.sha256() for name in ("terms", "sentences", "keys")}
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            for text in _strings(json.loads(line)):
                found["terms"].update(repr(sorted(terms(text))).encode())
                found["sentences"].update(repr(sentences(text)).encode())
                found["keys"].update(content_key(text).encode())
    assert {name: hash.hexdigest()[:16] for name, hash in found.items()} == {
        "terms": "f4804feeef95c455",
        "sentences": "99195b706a08af4e",
        "keys": "7a7b5a3c3054f355",
    }


def test_sentences_end_without_a_space() -> None:
    """A closing mark belongs to the sentence; marks in a row end one; a narrow mark ends one only
    where no spaces are written."""
    text = "\u4f60好\uff01\uff1f去吧……好\uff1b他说\uff1a「不。」然后走了!再见 Mr. Li"
    assert sentences(text) == [
        "\u4f60好\uff01\uff1f",
        "去吧……",
        "好\uff1b",
        "他说\uff1a「不。」",
        "然后走了!",
        "再见 Mr. Li",
    ]
    assert sentences("今日は晴れ。明日は雨。") == ["今日は晴れ。", "明日は雨。"]
    assert sentences("كيف حالك؟أنا بخير. شكرا") == ["كيف حالك؟", "أنا بخير.", "شكرا"]
    assert sentences("मैं ठीक हूँ।तुम?") == ["मैं ठीक हूँ।", "तुम?"]
    assert sentences("Well…then wait!here") == ["Well…then wait!here"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我的老板叫张伟\uff0c四十四岁", {"老板", "张伟", "44", "岁"}),
        ("我养了一只橘猫", {"养", "橘猫"}),
        ("用ＰＹＴＨＯＮ写", {"用", "python", "写"}),
        ("二\u3007二四年三月十二日", {"2024", "3", "12", "年", "月", "日"}),
        ("私は毎朝コーヒーを飲みます。", {"毎朝", "コーヒー", "飲"}),
        ("서울에서 고양이를 좋아합니다", {"서울", "고양", "좋아"}),
        ("في القاهرةِ ١٢", {"قاهره", "12"}),
        ("שָׁלוֹם", {"שלום"}),
        ("हिन्दी में", {"हिन्दी", "में"}),
    ],
)
def test_terms_of_other_scripts(text: str, expected: Terms) -> None:
    """Pairs of characters, words without particles, articles and vowel points, plain digits."""
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("first", "second", "other"),
    [
        ("我妹妹喜欢喝乌龙茶", "妹妹爱喝乌龙茶", "老板昨天去上海开会"),
        ("妹は大阪の病院で働いています", "妹:大阪の病院で働く", "昨日、京都で和食を食べた"),
        ("제 여동생은 고양이를 좋아합니다", "여동생이 고양이를 좋아해요", "어제 부산에서 일했어요"),
        ("น้องสาวทำงานเป็นวิศวกรที่เชียงใหม่", "น้องสาวเป็นวิศวกรที่เชียงใหม่", "ฉันชอบดื่มกาแฟตอนเช้า"),
        ("أختي ممرضة في مستشفى القاهرة", "ممرضة بالقاهرة، مستشفى", "أحب القهوة صباحا"),
    ],
)
def test_a_paraphrase_shares_terms(first: str, second: str, other: str) -> None:
    """At least half of them; a statement about something else shares hardly any."""
    wanted = terms(first)
    assert 2 * len(wanted & terms(second)) >= len(wanted)
    assert len(wanted & terms(other)) <= 1


def test_words_of_time_in_other_scripts() -> None:
    assert times(terms("上周三下午开会")) == {"上周", "周三", "下午"}
    assert times(terms("어제 부산에 갔어요")) == {"어제"}
    assert times(terms("昨日、京都で食べた")) == {"昨日"}


def test_a_quote_without_spaces_is_found_in_any_type() -> None:
    """Spaces, width and kinds of quotation marks aside; other words and marks are not."""
    text = "他说\uff1a「我 喜欢 喝茶」\uff0c真的。"
    assert contains(text, '他说:"我喜欢喝茶",真的')
    assert contains(text, "我喜欢喝 茶")
    assert not contains(text, "我喜欢喝水")
    assert not contains(text, "他说我喜欢喝茶")
    assert not contains("say “hi” now", 'say "hi" now')  # as ever
    assert content_key("我 喜欢茶\uff01") == content_key("我喜欢茶。") != content_key("我喜欢水。")
