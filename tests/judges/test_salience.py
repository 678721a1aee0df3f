"""Salience by a model: what it sees, in which order, and what becomes of bad replies."""

import json
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest

from memaudit.judges.salience import (
    MAX_CHARACTERS,
    MAX_EARLIER,
    MAX_MEMORIES,
    chunks,
    find_salience,
    named_salience,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin
from memaudit.kernel.package.package import EvidenceUnit, Package, Query
from memaudit.kernel.score.priced_store import Salience, price_store
from memaudit.models.cache import Cache
from memaudit.models.session import ModelSession, ModelSettings, open_session
from tests.building.passes.building import live
from tests.building.passes.fake_model import answer, blocks, instead, plays, which
from tests.models.server import serving

TEXTS = ["Ann likes tea", "Bo moved to Rome in May", "hm"]


def opened(folder: Path, settings: ModelSettings) -> ModelSession:
    return open_session(settings, Cache(folder / "cache"))


def test_sees_the_store_in_order_and_no_question(tmp_path: Path) -> None:
    """Write time: texts in order of writing and nothing else. Query-aware: the questions too. A
    second run is answered from the cache."""
    with serving(plays) as served:
        session = opened(tmp_path, live(served.url))
        assert find_salience(TEXTS, session, "one", "s") == [F(3, 10), F(6, 10), F(1, 10)]
        questions = ["Has Bo moved to Rome yet?"]
        aware = find_salience(TEXTS, session, "one", "s", questions)
        assert aware == [F(0), F(4, 10), F(0)]
        assert find_salience(TEXTS, session, "one", "s", questions) == aware
    first, second = (blocks(body["messages"][1]["content"]) for body in served.bodies)
    rows = [{"memory": place, "text": text} for place, text in enumerate(TEXTS, start=1)]
    assert first == {"memories": rows}
    assert second == {"memories": rows, "questions": questions}
    assert [which(body) for body in served.bodies] == ["salience", "query_salience"]


def test_long_stores_are_asked_in_pieces() -> None:
    """Every memory is in one piece, in order; each piece shows the memories before it."""
    texts = [f"memory {place}" for place in range(2 * MAX_MEMORIES + 5)]
    found = list(chunks(texts, range(len(texts))))
    assert [len(one.places) for one in found] == [MAX_MEMORIES, MAX_MEMORIES, 5]
    assert [place for one in found for place in one.places] == list(range(len(texts)))
    assert [len(one.earlier) for one in found] == [0, MAX_EARLIER, MAX_EARLIER]
    assert found[1].earlier[-1] == MAX_MEMORIES - 1
    long = ["x" * MAX_CHARACTERS, "y", "z" * MAX_CHARACTERS]
    assert [one.places for one in chunks(long, range(3))] == [(0,), (1,), (2,)]


def test_memories_without_a_score_are_asked_about_again(tmp_path: Path) -> None:
    """Scores out of range or of nobody are refused. What stays open has no score, not a zero."""

    def spoiled(body: dict[str, Any]) -> str:
        data = blocks(body["messages"][1]["content"])
        rows = answer(body)["scores"]
        kept = [row for row in rows if data["memories"][row["memory"] - 1]["text"] != "hm"]
        if "asked before" not in data:
            kept[0]["salience"] = 11
            kept.append({"memory": 99, "salience": 1, "reason": ""})
        return json.dumps({"scores": kept})

    with serving(instead("salience", spoiled)) as served:
        session = opened(tmp_path, live(served.url))
        assert find_salience(TEXTS, session, "one", "s") == [F(3, 10), F(6, 10), None]
    assert len(served.bodies) == 2
    assert session.ledger.counts("s", failure=False) == {
        "salience": {
            "memory without a score": 1,
            "score nobody asked for": 1,
            "score not from 0 to 10": 1,
        }
    }


PACKAGE = Package(
    name="p",
    experiences=(),
    cost_rule="words",
    candidates=(),
    units=(EvidenceUnit(id="u", kind="fact", text="Bo moved to Rome."),),
    queries=(Query(id="q", text="Has Bo moved to Rome yet?", required=("u",)),),
)


def store(name: str, *texts: str) -> ExportedStore:
    memories = [Memory(id=f"m{place}", text=text) for place, text in enumerate(texts, start=1)]
    return ExportedStore(name=name, origin=Origin(system="x", format="x"), memories=tuple(memories))


def test_a_model_as_the_source_of_a_store(tmp_path: Path) -> None:
    """Both policies can be used, and each goes by its own scores."""
    with serving(plays) as served:
        session = opened(tmp_path, live(served.url))
        salience = named_salience(["model:one", "query:model:one"], ["a"], session)
        found = price_store(PACKAGE, store("a", *TEXTS), salience)
        price_store(PACKAGE, store("a", *TEXTS), salience)
    assert len(served.bodies) == 2
    assert [memory.salience for memory in found.memories] == [F(3, 10), F(6, 10), F(1, 10)]
    assert [memory.query_salience for memory in found.memories] == [F(0), F(4, 10), F(0)]


def calls(folder: Path, **scores: int) -> str:
    path = folder / "calls.jsonl"
    path.write_text(json.dumps({"instance_id": "p", "scores": scores}) + "\n")
    return str(path)


def test_scores_of_one_store_are_never_given_to_another(tmp_path: Path) -> None:
    """Ids match across stores, so a file goes with a named store. A file that scores memories
    which the store does not have was made for another one."""
    file = calls(tmp_path, m1=5, m2=3)
    first, second = store("a", "tea", "Rome"), store("b", "dogs", "cats")
    salience = named_salience([f"a={file}"], ["a", "b"])
    assert [one.salience for one in price_store(PACKAGE, first, salience).memories] == [5, 3]
    other = price_store(PACKAGE, second, salience)
    assert [one.salience for one in other.memories] == [None, None]
    with pytest.raises(MemAuditError, match="does not say which of 2 stores it was made for"):
        named_salience([file], ["a", "b"])
    with pytest.raises(MemAuditError, match="given twice for the store 'a'"):
        named_salience([f"a={file}", f"a={file}"], ["a", "b"])
    file = calls(tmp_path, m1=5, m7=3)
    for salience in (named_salience([file], ["b"]), named_salience([f"query:{file}"], ["b"])):
        with pytest.raises(MemAuditError, match="scores 1 memory that the store 'b' does not have"):
            price_store(PACKAGE, second, salience)
    assert Salience().names == []
