"""A judge is never asked about what it cannot read, and nothing is scored 0 for it."""

from pathlib import Path

import pytest

import memaudit
from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import NotJudged
from tests.cli.running import done, failure, import_texts, printed_json
from tests.conversations.files import FIXTURES
from tests.proofs import package as made


class LatinJudge(LexicalJudge):
    name = "latin"
    reads = frozenset({"Latin"})


class AnyJudge(LexicalJudge):
    name = "any"
    reads = None  # type: ignore[assignment]


@pytest.fixture(scope="module")
def chinese() -> Package:
    return memaudit.build(FIXTURES["memdaily_chinese"])[0]


RIGHT = ["用户的表哥陈立\uff1a32岁\uff0c生日9月14日\uff0c180厘米"]
UNRELATED = ["林燕喜欢陶艺\uff0c周六去工作室", "下周三下午3点在五楼会议室开产品评审会"]
ENGLISH = ["Chen Li, the cousin, is 32 years old and 180 cm tall"]


def test_chinese_memories_score_by_what_they_say(chinese: Package) -> None:
    stores = [memaudit.texts(RIGHT, "right"), memaudit.texts(UNRELATED, "unrelated")]
    result = memaudit.score(chinese, stores, "own", "lexical")
    assert [row.score_text for row in result.rows] == ["1.000", "0.000"]


def test_a_script_that_a_judge_cannot_read_is_refused(chinese: Package) -> None:
    """In one line that says what to use instead; a judge of every script is asked. The
    offline judge was not checked in Thai."""
    store = memaudit.texts(RIGHT, "zh")
    with pytest.raises(NotJudged) as refused:
        memaudit.score(chinese, store, "own", LatinJudge())
    assert str(refused.value) == (
        "store 'zh': the package 'simple/roles/0' is written in Han, which latin cannot read; use "
        "lexical, model:NAME or labels:FILE"
    )
    with pytest.raises(NotJudged, match="the store is written in Latin and the package"):
        memaudit.score(chinese, memaudit.texts(ENGLISH), "own", "lexical")
    assert memaudit.score(chinese, memaudit.texts(ENGLISH), "own", AnyJudge())
    unit = {"text": "ภูมิแพ้ถั่วลิสงตั้งแต่เด็ก", "weight": 1}
    package = made("", {"u": unit}, cost_rule="unicode_words")
    store = memaudit.texts(["ภูมิแพ้ถั่วลิสงอย่างรุนแรง"])
    with pytest.raises(
        NotJudged, match="is written in Thai, which offline cannot read; use lexical"
    ):
        memaudit.score(package, store, "own")


def test_from_a_chinese_dataset_to_a_score(tmp_path: Path) -> None:
    """The build says which rule it took; an explicit rule wins; the package names its rule."""
    path = FIXTURES["memdaily_chinese"]
    built = done("build", path, "--out", tmp_path / "zh")
    assert built.stderr == (
        "costs are by unicode_words: the conversations are written without spaces\n"
    )
    explicit = done("build", path, "--out", tmp_path / "words", "--cost-rule", "words")
    assert explicit.stderr == ""
    packages = [
        memaudit.build(path, tmp_path / folder, cost_rule=rule)[0]
        for folder, rule in (("zh", None), ("words", "words"))
    ]
    costs = {package.cost_rule: package.candidate["1/raw"].cost for package in packages}
    # A date of three, the speaker, 18 Han characters and 3 numbers; by spaces 3.
    assert costs == {"unicode_words": 25, "words": 3}
    package = next((tmp_path / "zh").glob("simple_roles_0*"))
    store = import_texts(tmp_path / "store.json", RIGHT)
    lexical = ("--judge", "lexical")
    (row,) = printed_json("score", package, store, "--budget", "own", *lexical)["scores"]
    assert float(row["score"]) == 1
    (row,) = printed_json("score", package, store, "--budget", "own")["scores"]
    assert row["interval"] is not None
    assert not row["unrelated"]
    assert float(row["score"]) > 0.4
    english = import_texts(tmp_path / "english.json", ENGLISH)
    for judge in ("lexical", "offline"):
        refused = failure("score", package, english, "--judge", judge)
        assert f"{judge} compares words of one script" in refused
