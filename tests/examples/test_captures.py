"""The captures that ship: their records, their labels, and scores by them."""

import json
from collections import Counter
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from memaudit import api
from memaudit.adapters.capture.record import read_record
from memaudit.adapters.store import ExportedStore, read_store
from memaudit.natural.named_packages import natural_set
from memaudit.scoring.judges import named_judge

CAPTURES = Path(str(files("memaudit"))) / "examples" / "natural" / "captures"
SYSTEMS = ("amem", "langmem", "letta", "mem0")
DIFFER = {"bakery-flour": 9, "greyhound-knee": 3, "moving-mother": 7, "wedding-flowers": 3}

Cell = tuple[str, str, str]


@cache
def labels(name: str) -> dict[Cell, float]:
    rows = map(json.loads, (CAPTURES / f"{name}.jsonl").read_text().splitlines())
    return {(r["conversation"], r["memory_id"], r["unit_id"]): r["coverage"] for r in rows}


def stores(conversation: str) -> list[ExportedStore]:
    return [
        read_store(CAPTURES / system / f"{conversation}.json").model_copy(
            update={"name": system, "times": "none"}
        )
        for system in SYSTEMS
    ]


def test_every_record_is_readable_and_says_how_it_was_made() -> None:
    for conversation in DIFFER:
        for system in SYSTEMS:
            record = read_record(CAPTURES / system / f"{conversation}.json.record.jsonl.gz")
            assert record.settings["system"] == system
            assert record.settings["clock"] == "conversation"
            store = read_store(CAPTURES / system / f"{conversation}.json")
            writing = store.origin.configuration["writing"]
            assert isinstance(writing, dict)
            assert writing["tokens_in"] == "not reported"
            chats = [call for call in record.calls if not call.is_embedding]
            assert writing["calls"] == len(chats)
            assert store.origin.configuration["failed_messages"] == 0


def test_the_passes_differ_where_the_readme_says_and_were_adjudicated_there() -> None:
    first, second, final = map(labels, ("blind_a", "blind_b", "coverage"))
    cells = first.keys() | second.keys()
    apart = [cell for cell in cells if first.get(cell, 0) != second.get(cell, 0)]
    assert Counter(cell[0] for cell in apart) == DIFFER
    assert all(final.get(cell, 0) == first.get(cell, 0) for cell in cells - set(apart))
    assert final.keys() <= cells


def test_every_active_memory_was_labelled() -> None:
    rows = map(json.loads, (CAPTURES / "memories.jsonl").read_text().splitlines())
    known = {(row["conversation"], " ".join(row["text"].split())) for row in rows}
    told = {
        (conversation, " ".join(memory.text.split()))
        for conversation in DIFFER
        for store in stores(conversation)
        for memory in store.active
    }
    assert told == known
    assert len(known) == 437


@pytest.mark.slow
def test_scores_hold_under_either_pass() -> None:
    """Certified optima; the mean of a system at a budget moves by 0.05 at most between passes."""
    packages = {package.name: package for package in natural_set()}
    means: dict[tuple[str, str, str], list[float]] = {}
    for name in ("coverage", "blind_a", "blind_b"):
        judge = named_judge(f"labels:{CAPTURES / name}.jsonl", CAPTURES / "memories.jsonl")
        for conversation in DIFFER:
            result = api.score(packages[conversation], stores(conversation), [120, 250], judge)
            assert all(row.optimum.certified for row in result.rows)
            assert not result.is_estimate
            for row in result.rows:
                best = row.numbers.best.ratio.value
                assert best is not None
                means.setdefault((name, row.store, row.at), []).append(float(best))
    for (name, store, at), found in means.items():
        usual = means["coverage", store, at]
        assert abs(sum(found) - sum(usual)) / len(usual) <= 0.05, (name, store, at)
    order = sorted(SYSTEMS, key=lambda system: -sum(means["coverage", system, "250"]))
    assert order == ["mem0", "letta", "langmem", "amem"]
