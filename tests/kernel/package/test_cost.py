"""Costs by rule, and changing the rule."""

import importlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError, MissingTool
from memaudit.kernel.package.cost import cost_rule
from memaudit.kernel.package.package import Package


@pytest.mark.parametrize(
    ("rule", "text", "cost"),
    [
        ("words", " a  b\nc ", 3),
        ("words", "", 0),
        ("bytes", "", 8),
        ("bytes", "x" * 24, 9),
        ("bytes", "é" * 13, 10),
        ("tokens:simple", "it's 3.5!", 7),
    ],
)
def test_rules(rule: str, text: str, cost: int) -> None:
    """bytes: 8 + ceil(utf8 bytes / 24); simple tokens: word runs and single marks."""
    assert cost_rule(rule)(text) == cost


def test_hugging_face_file(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "t.json"))
    assert cost_rule(f"tokens:hf/{tmp_path / 't.json'}")("a b a!") == 4


def test_missing_parts_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingTool, match="no tokenizer file at"):
        cost_rule("tokens:hf/nowhere.json")
    with pytest.raises(MemAuditError, match="unknown cost rule 'letters'; known rules: words"):
        cost_rule("letters")

    def absent(name: str, *_: Any) -> Any:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(MissingTool) as missing:
        cost_rule("tokens:tiktoken/absent")
    assert str(missing.value).endswith(
        "needs tiktoken: in MemAudit's checkout, pip install '.[tiktoken]'"
    )


def test_recost(tiny: Package) -> None:
    """Every candidate pays for its own text; the rule is declared; the rest stays."""
    recosted = tiny.recost("words")
    assert [candidate.cost for candidate in recosted.candidates] == [2, 2, 1]
    assert (recosted.cost_rule, recosted.coverage) == ("words", tiny.coverage)
    assert tiny.candidates[2].cost == Fraction(1, 3)
    assert recosted.recost("words") == recosted
    with pytest.raises(MemAuditError, match="recost needs a rule"):
        tiny.recost("declared")


def test_sums() -> None:
    """A sum charges the record, its kind and its fields; lists by their items."""
    assert cost_rule("words+5")("a b") == 7
    assert cost_rule("8+utf8/24")("x" * 25) == cost_rule("bytes")("x" * 25) == 10
    rule = cost_rule("words+kind:edge=4+field:links=2+field:tag=3")
    assert rule("a", "edge") == 5
    assert rule("a", "fact", {"links": ["x", "y"], "tag": "z", "other": 1}) == 1 + 4 + 3
    assert rule("a", "fact", {"links": [], "tag": None}) == 1


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ("3+kind:edge=4", "does not measure the text"),
        ("words+utf8/0", "divides by zero"),
        ("words+kind:a=1+kind:a=2", "names kind:a twice"),
        ("words+1234567890", "more than 9 digits"),
        ("words+letters", "unknown cost rule 'letters'"),
        ("words+", "unknown cost rule ''"),
    ],
)
def test_sums_that_say_nothing(rule: str, fault: str) -> None:
    with pytest.raises(MemAuditError, match=fault):
        cost_rule(rule)


def test_recost_by_kind(tiny: Package) -> None:
    """Candidates pay for their kind, and a package by such a rule is valid."""
    kind = tiny.candidates[0].kind
    extra = [one.cost for one in tiny.recost(f"words+kind:{kind}=4").candidates]
    plain = [one.cost for one in tiny.recost("words").candidates]
    charged = [4 * (one.kind == kind) for one in tiny.candidates]
    assert [more - less for more, less in zip(extra, plain, strict=True)] == charged
