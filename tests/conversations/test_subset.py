"""Subsets: in proportion, the same whatever the file's order, tied to the file's bytes."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.conversations.conversation import Conversation, Question
from memaudit.conversations.records import LoadedConversation
from memaudit.conversations.registry import read_conversations
from memaudit.conversations.subset import (
    Subset,
    apply_subset,
    choose,
    read_subset,
    shares,
    subset_text,
)
from memaudit.conversations.transcripts import dataset_hash
from memaudit.kernel.errors import MemAuditError
from tests.conversations.files import FIXTURES

QUOTAS = {"a": 47, "b": 16, "c": 37}
"""10 of 100: shares 4.7, 1.6 and 3.7; floors 4 + 1 + 3, and the two largest rests are a and c."""


def talks(counts: dict[str, int]) -> list[LoadedConversation]:
    return [
        LoadedConversation(Conversation(f"{kind}-{number}", (), (Question("q", "?", None, kind),)))
        for kind, count in counts.items()
        for number in range(count)
    ]


def subset_of(rows: list[LoadedConversation], size: int, seed: int = 0, by: str = "kind") -> Subset:
    return choose(rows, size, seed, by, "0" * 64, "chat")


def test_largest_remainder_by_hand() -> None:
    assert shares(QUOTAS, 10) == {"a": 5, "b": 1, "c": 4}
    assert shares({"b": 1, "a": 1, "c": 1}, 2) == {"a": 1, "b": 1, "c": 0}


@given(st.dictionaries(st.text(max_size=2), st.integers(1, 50), min_size=1), st.data())
def test_shares_add_up(sizes: dict[str, int], data: st.DataObject) -> None:
    total = sum(sizes.values())
    size = data.draw(st.integers(1, total))
    taken = shares(sizes, size)
    assert sum(taken.values()) == size
    for name, count in sizes.items():
        assert abs(taken[name] * total - size * count) < total
        assert taken[name] <= count


def test_the_order_of_the_file_does_not_matter() -> None:
    rows = talks(QUOTAS)
    first = subset_of(rows, 10)
    random.Random(1).shuffle(rows)
    assert subset_of(rows, 10) == first
    assert first.strata == {"a": (47, 5), "b": (16, 1), "c": (37, 4)}
    assert subset_of(rows, 10, seed=1).questions != first.questions
    assert first.sha256 != subset_of(rows, 10, seed=1).sha256


def test_a_known_choice() -> None:
    """Pinned, so that no release changes it: ids by SHA-256 of [seed, conversation, question]."""
    assert subset_of(talks({"a": 5}), 2).questions == (("a-1", "q"), ("a-2", "q"))


def test_by_conversation() -> None:
    found = subset_of(talks({"a": 2}), 1, by="conversation").strata
    assert found == {"a-0": (1, 1), "a-1": (1, 0)}
    with pytest.raises(MemAuditError, match="cannot balance by 'mood'; choose kind or conversa"):
        subset_of(talks({"a": 2}), 1, by="mood")
    for size in (0, -1, 3):
        with pytest.raises(MemAuditError, match=f"cannot take {size} of 2 questions"):
            subset_of(talks({"a": 2}), size)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = FIXTURES["locomo"]
    chosen = choose(read_conversations(path), 3, 5, "kind", dataset_hash(path), "locomo")
    (tmp_path / "subset.json").write_text(subset_text(chosen))
    return tmp_path / "subset.json"


def test_there_and_back(manifest: Path) -> None:
    """The manifest says everything, and cuts the dataset down to the chosen questions."""
    subset = read_subset(manifest)
    assert subset_text(subset) == manifest.read_text()
    (loaded,) = apply_subset(subset, FIXTURES["locomo"])
    chosen = [("conv-a", question.id) for question in loaded.conversation.questions]
    assert sorted(chosen) == sorted(subset.questions)
    assert len(chosen) == 3
    assert sum(1 for _ in loaded.conversation.turns) == 6


def test_another_file_is_refused(manifest: Path, tmp_path: Path) -> None:
    other = tmp_path / "locomo.json"
    other.write_bytes(FIXTURES["locomo"].read_bytes() + b"\n")
    with pytest.raises(MemAuditError, match=r"locomo.json: is not the file the subset was made"):
        apply_subset(read_subset(manifest), other)


def test_a_question_that_is_not_there() -> None:
    path = FIXTURES["locomo"]
    subset = Subset(dataset_hash(path), "locomo", "kind", 0, {}, (("conv-a", "qa99"),))
    with pytest.raises(MemAuditError, match="has no question 'qa99' in 'conv-a'"):
        list(apply_subset(subset, path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 6}, "was edited"),
        ({"size": 4}, "was edited"),
        ({"sha256": None}, "was edited"),
        ({"questions": []}, "was edited"),
        ({"format": "x"}, "is not a subset manifest"),
        ({"version": 2}, "unknown version"),
        ({"seed": "5"}, "seed: input should be a valid"),
        ({"strata": []}, "strata: input should be a valid dictionary"),
        ({"strata": {"a": {"of": 1}}}, r"strata.a.taken: field required"),
        ({"questions": {}}, "questions: input should be a valid list"),
        ({"questions": [{"conversation": 1}]}, "questions.0.conversation: input should be a valid"),
        ({"by": None}, "by: input should be a valid string"),
        ({"dataset_sha256": 1.5}, "dataset_sha256: input should be a valid string"),
    ],
)
def test_bad_manifests(manifest: Path, change: dict[str, object], message: str) -> None:
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **change}))
    with pytest.raises(MemAuditError, match=message):
        read_subset(manifest)


@pytest.mark.parametrize("text", ["", "[]", "{", "null"])
def test_other_files_are_no_manifest(text: str, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(MemAuditError, match=r"^s.json: (is not a subset manifest|the file ends)"):
        read_subset(tmp_path / "s.json")
