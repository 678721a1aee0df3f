"""What a captured store cost to write, beside its score and in a picture."""

from pathlib import Path
from typing import Any

import pytest

from memaudit import api
from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.report.figures.tokens_spent import write_tokens_figure
from memaudit.scoring.score_json import package_scores_data
from memaudit.scoring.writing_cost import writing_cost
from tests.scoring.small_stores import MEALS


def store(name: str, *rows: dict[str, Any]) -> ExportedStore:
    writing = {"calls": 9, "tokens_in": "not reported", "feedings": {MEALS.name: list(rows)}}
    return ExportedStore.model_validate(
        {
            "name": name,
            "origin": {"system": "x", "format": "plain", "configuration": {"writing": writing}},
            "memories": [{"id": "a", "text": "once"}],
        }
    )


def row(calls: int, tokens: int | None) -> dict[str, Any]:
    return {
        "after": "",
        "calls": calls,
        "tokens_in": tokens,
        "tokens_out": tokens,
        "embedding_calls": 1,
        "embedded_texts": 2,
        "seconds": 1.5,
    }


KNOWN, UNKNOWN = store("known", row(0, None), row(2, 100)), store("unknown", row(2, None))


def test_of_the_package_at_hand() -> None:
    """A feeding without a call reports nothing, and has nothing to report."""
    cost = writing_cost(KNOWN, MEALS.name)
    assert cost is not None
    assert (cost.calls, cost.tokens, cost.embedded_texts, cost.seconds) == (2, 200, 4, 3.0)
    assert cost.text == "2 calls, 100 tokens in and 100 out, 4 texts embedded, 3 s"
    other = writing_cost(KNOWN, "another package")
    assert other is not None
    assert (other.calls, other.tokens) == (9, None)
    plain = KNOWN.model_copy(
        update={"origin": KNOWN.origin.model_copy(update={"configuration": {}})}
    )
    assert writing_cost(plain, MEALS.name) is None


def test_tokens_that_nobody_reported() -> None:
    cost = writing_cost(UNKNOWN, MEALS.name)
    assert cost is not None
    assert cost.tokens is None
    assert "tokens not reported" in cost.text


def test_in_json_and_in_a_picture(tmp_path: Path) -> None:
    result = api.score(MEALS, [KNOWN, UNKNOWN], [5], judge="lexical", cost_rule="words")
    data = package_scores_data(result)
    assert data["stores"][0]["writing"]["tokens_in"] == 100
    write_tokens_figure(result, tmp_path / "t.svg")
    drawn = (tmp_path / "t.svg").read_text()
    assert "known/5" in drawn
    assert "unknown/5" not in drawn
    with pytest.raises(MemAuditError, match="no store says how many tokens"):
        write_tokens_figure(
            api.score(MEALS, [UNKNOWN], [5], judge="lexical", cost_rule="words"), tmp_path / "u.svg"
        )
