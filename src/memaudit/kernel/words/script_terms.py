"""Terms of scripts that have no spaces or that spell one word in several ways.

Where words are not set apart, pairs of neighbouring characters stand for them: a word of two
characters is always one of the pairs, whatever is around it. Words of grammar are cut out first.
Korean and Arabic words lose particles, endings and the article; Indic words stay as they are.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise

from memaudit.kernel.words.scripts import script_class

_INDIC = (
    "Devanagari",
    "Bengali",
    "Gurmukhi",
    "Gujarati",
    "Oriya",
    "Tamil",
    "Telugu",
    "Kannada",
    "Malayalam",
    "Sinhala",
    "Tibetan",
)
_SYLLABIC = ("Thai", "Lao", "Khmer", "Myanmar")
_WIDE = "\uff01-\uff5e"
"""Full-width letters, digits and punctuation."""

_HERE = re.compile(
    f"[{_WIDE}"
    + script_class("Han", "Hiragana", "Katakana", "Hangul", "Arabic", "Hebrew", *_INDIC, *_SYLLABIC)
    + "]"
)


def has_script_terms(text: str) -> bool:
    """Whether a text has a character that is treated here."""
    return not text.isascii() and _HERE.search(text) is not None


def split_terms(text: str) -> tuple[str, set[str]]:
    """The text without its runs of these scripts, and their terms."""
    # Full-width letters and half-width Katakana become the usual ones, digits of all scripts 0 to
    # 9: the same word typed another way must be the same term.
    text = "".join(map(_plain_digit, unicodedata.normalize("NFKC", text)))
    # Han characters alone do not tell the two languages apart, and what is grammar in one is a noun
    # in the other. Japanese of any length has some Hiragana.
    grammar = _JAPANESE if _KANA.search(text) else _CHINESE
    text = _NUMERAL.sub(_number, _VOWEL_POINTS.sub("", text))
    terms: set[str] = set()

    def take(run: re.Match[str]) -> str:
        if run.lastgroup == "han":
            terms.update(_pairs_between(grammar, run[0]))
        else:
            terms.update(_TERMS[run.lastgroup or ""](run[0]))
        return " "

    return _RUN.sub(take, _kana_without_grammar(text)), terms


def _plain_digit(character: str) -> str:
    return str(unicodedata.digit(character)) if character.isdecimal() else character


_DIGITS = {character: place for place, character in enumerate("零一二三四五六七八九")}
_DIGITS |= {"\u3007": 0, "两": 2, "兩": 2}
_COUNTED = "年月日号號岁歲点點時时周週天次个個只隻位名件本张張台辆輛杯块塊元斤米层層楼樓口条條人"
_NUMERAL = re.compile(
    rf"(?<![期周週拜])(?:一(?=[月日号號岁歲])|(?:[\u3007零二两兩三四五六七八九十百]|一(?=[\u3007零一二三四五六七八九十百]))"
    rf"[\u3007零一二三四五六七八九十百]*(?=[{_COUNTED}]))"
)
"""A number before what is counted. A bare 一 is mostly an article."""


def _number(match: re.Match[str]) -> str:
    text = match[0]
    if not {"十", "百"} & set(text):
        return "".join(str(_DIGITS[character]) for character in text)
    total, digit = 0, None
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        else:
            total += (1 if digit is None else digit) * (10 if character == "十" else 100)
            digit = None
    return str(total + (digit or 0))


_CHINESE = re.compile(
    "一[个個只隻条條位名件本张張台辆輛杯家次种種份间間座部支块塊双雙些下点點起直样樣]|什么|什麼|怎么|怎麼|"
    "因为|因為|所以|但是|如果|自己|非常|已经|已經|可以|以及|或者|然后|然後|还是|還是|没有|沒有|请问|請問|谢谢|"
    "謝謝|你好|哪里|哪裡|[我你您他她它们們的了吗嗎呢吧啊呀嘛是在也很这這那有叫跟给給从從让讓还還又才每]"
)
_JAPANESE = re.compile("私|僕|俺|彼女|彼|何")
_KANA = re.compile(f"[{script_class('Hiragana')}]")

_KANA_GRAMMAR = re.compile(
    "(?:でした|かった|ました|ません|ています|ていました|ている|ていた|でいます|でいる|ましょう|です|ます|から|まで|より|"
    "など|ので|のに|けど|けれど|でも|という|こと|もの|これ|それ|あれ|この|その|あの|ここ|そこ|して|した|する|します|"
    "いる|います|いた|ある|あります|あった|なる|なった|なり|だった|ない|なかった|たい|とても|には|では|とは|への|"
    "にも|での|との)"
)
_PARTICLES = "はがをにでともへやのかねよだなてた"
_KANA_RUN = re.compile(
    f"(?P<before>[^\\W{script_class('Hiragana')}])?[{script_class('Hiragana')}]+"
)


def _kana_without_grammar(text: str) -> str:
    return _KANA_RUN.sub(_content_kana, text)


def _content_kana(run: re.Match[str]) -> str:
    """A run of Hiragana without grammar. What is left of up to two after a noun is an ending."""
    before = run["before"] or ""
    pieces = []
    for place, piece in enumerate(_KANA_GRAMMAR.split(run[0][len(before) :])):
        follows = bool(before) and not place
        bare = piece[1:] if follows and piece[:1] in _PARTICLES else piece
        bare = bare[:-1] if bare[-1:] in _PARTICLES else bare
        pieces.append(bare if len(bare) > (2 if follows else 1) else "")
    return f"{before} {' '.join(pieces)} "


def _pairs_between(grammar: re.Pattern[str], run: str) -> Iterator[str]:
    for piece in grammar.split(run):
        yield from _pairs(piece)


def _pairs(units: str | list[str]) -> list[str]:
    """Neighbours; a single one as it is."""
    return [first + second for first, second in pairwise(units)] if len(units) > 1 else list(units)


_SYLLABLE = re.compile(
    "[เ-ไເ-ໄ]?.(?:[\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece"
    "\u17b4-\u17d1\u17d3\u17dd\u102b-\u1038\u103a-\u103e\u1056-\u1059\u105e-\u1060]"
    "|[\u17d2\u1039].|[\u1000-\u1021]\u103a)*"
)
"""A letter with the vowels and tones around it, and what is written below it."""

_THAI = re.compile("ครับ|ค่ะ|ดิฉัน|ฉัน|ผม|คุณ|และ|ของ|เป็น|แล้ว|ด้วย|ที่|จะ|ได้|ว่า")


def _syllables(run: str) -> Iterator[str]:
    for piece in _THAI.split(run):
        yield from _pairs(_SYLLABLE.findall(piece))


_KOREAN_ENDINGS = re.compile(
    "(?:했습니다|합니다|했어요|했었어요|해요|했다|한다|하는|하고|하다|입니다|이에요|예요|이다|습니다|었어요|았어요|어요|아요)$"
)
_KOREAN_PARTICLES = re.compile(
    "(?<=.)(?:에서는|에서|에게|으로|까지|부터|처럼|한테|이랑|은|는|을|를|에)$|(?<=..)(?:이|가|의|와|과|도|로|만|랑)$"
)
_KOREAN_GRAMMAR = "저 제 나 내 우리 너 그 이 저희 그리고 그래서 하지만 것 수 더 네 아니요"
_KOREAN = frozenset(_KOREAN_GRAMMAR.split())


def _korean(run: str) -> Iterator[str]:
    word = _KOREAN_ENDINGS.sub("", run) or run
    # Particles are stacked (from + topic), so one pass is not enough.
    while (shorter := _KOREAN_PARTICLES.sub("", word)) != word:
        word = shorter
    if word not in _KOREAN:
        yield word


_VOWEL_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200c]"
)
"""Of Hebrew and Arabic, which few texts write, and the stretched line between Arabic letters."""

_ARABIC_LETTERS = str.maketrans("أإآٱىةیک", "اااايهيك")
_ARABIC_ARTICLE = re.compile("^(?:[وفبك]?ال|و?لل)(?=...?)")
_ARABIC_GRAMMAR = (
    "في من علي الي عن مع هذا هذه التي الذي ان كان كانت هو هي انا نحن انت لا ما هل قد ثم او و لم لن "
    "كل ذلك تلك هناك كما لقد اي يا نعم"
)
_ARABIC = frozenset(_ARABIC_GRAMMAR.split())


def _arabic(run: str) -> Iterator[str]:
    word = run.translate(_ARABIC_LETTERS)
    if word not in _ARABIC:
        yield _ARABIC_ARTICLE.sub("", word)


_TERMS: dict[str, Callable[[str], Iterator[str] | list[str]]] = {
    "hiragana": _pairs,
    "syllabic": _syllables,
    "hangul": _korean,
    "arabic": _arabic,
    "whole": lambda run: [run],
}
_RUN = re.compile(
    f"(?P<han>[{script_class('Han')}]+)|(?P<hiragana>[{script_class('Hiragana')}]+)"
    f"|(?P<syllabic>[{script_class(*_SYLLABIC)}]+)|(?P<hangul>[{script_class('Hangul')}]+)"
    f"|(?P<arabic>[{script_class('Arabic')}]+)"
    f"|(?P<whole>[{script_class('Katakana')}]+|[{script_class('Hebrew')}]+|[{script_class(*_INDIC)}]+)"
)

_WHEN = (
    "昨天 今天 明天 后天 後天 前天 昨日 今日 明日 今晚 昨晚 明晚 今早 早上 上午 中午 下午 晚上 "
    "凌晨 午前 午後 现在 刚才 剛才 最近 上周 下周 本周 上週 下週 本週 先週 来週 今週 周末 週末 "
    "个月 個月 上月 下月 本月 先月 来月 今月 去年 今年 明年 前年 来年 月 日 星期 礼拜 禮拜 "
    "周一 周二 周三 周四 周五 周六 周日 周天 週一 週二 週三 週四 週五 週六 週日 "
    "期一 期二 期三 期四 期五 期六 期日 期天 月曜 火曜 水曜 木曜 金曜 土曜 日曜 曜日 "
    "어제 오늘 내일 지난주 이번주 다음주 지난달 다음달 작년 올해 내년 "
    "월요일 화요일 수요일 목요일 금요일 토요일 일요일 "
    "امس يوم غدا صباح مساء اسبوع شهر سنه"
)
SCRIPT_TIMES = frozenset(_WHEN.split())
"""Terms that say when."""
