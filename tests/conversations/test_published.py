"""The published files, where someone has them: the facts their authors and users report."""

from memaudit.conversations.records import DatasetCounts, count_dataset
from memaudit.conversations.registry import iter_conversations
from tests.conversations.files import real_file


def counts_of(name: str) -> DatasetCounts:
    return count_dataset(iter_conversations(real_file(name)))


def test_longmemeval_oracle() -> None:
    found = counts_of("longmemeval/longmemeval_oracle_99.json")
    assert (found.conversations, found.sessions, found.turns) == (99, 191, 2234)
    assert (found.references, found.evidence, found.abstentions) == (197, 197, 3)
    assert found.questions == {
        "temporal-reasoning": 28,
        "multi-session": 22,
        "knowledge-update": 21,
        "single-session-user": 12,
        "single-session-preference": 10,
        "single-session-assistant": 6,
    }
    assert round(found.words, -3) == 437_000
    assert {what: number for what, number, _ in found.groups()} == {
        "session after the question": 14,
        "sessions out of order": 9,
        "number for text": 8,
    }


def test_longmemeval_s() -> None:
    found = counts_of("longmemeval/longmemeval_s_e47becba.json")
    assert (found.conversations, found.sessions, found.evidence) == (1, 53, 2)
    assert found.irregularities == []


def test_locomo() -> None:
    """All ten conversations.

    Of 2,815 listed references, five hold 2, 3, 4 and 4 pieces (one of 2): 9 more; D, D:11:26,
    D10:19 and D4:36 name no turn and one is repeated: 5 fewer.
    """
    found = counts_of("locomo/locomo10.json")
    assert (found.conversations, found.sessions, found.turns) == (10, 272, 5882)
    assert (found.references, found.evidence) == (2815, 2815 + 9 - 5)
    assert found.questions == {
        "multi-hop": 282,
        "temporal": 321,
        "open-domain": 96,
        "single-hop": 841,
        "adversarial": 446,
    }
    assert found.abstentions == 444
    assert found.representations["observation"] == 2541
    assert round(found.words, -2) == 133_800
    assert {what: number for what, number, _ in found.groups()} == {
        "date without a session": 16,
        "several references in one": 9,
        "number for text": 6,
        "no evidence": 4,
        "malformed reference": 2,
        "reference to nothing": 2,
        "repeated reference": 1,
        "zero-padded reference": 1,
    }
