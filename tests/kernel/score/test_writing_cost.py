"""What a captured store cost to write, beside its score."""

from typing import Any

from memaudit import api
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.score.score_json import package_scores_data
from memaudit.kernel.score.writing_cost import writing_cost
from tests.kernel.score.small_stores import MEALS


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
    """A feeding without a call reports nothing, and has nothing to report; tokens that nobody
    reported are not known. The JSON of a score has the figures."""
    cost, unknown = writing_cost(KNOWN, MEALS.name), writing_cost(UNKNOWN, MEALS.name)
    assert cost is not None
    assert (cost.calls, cost.tokens, cost.embedded_texts, cost.seconds) == (2, 200, 4, 3.0)
    assert cost.text == "2 calls, 100 tokens in and 100 out, 4 texts embedded, 3 s"
    assert unknown is not None
    assert unknown.tokens is None
    assert "tokens not reported" in unknown.text
    other = writing_cost(KNOWN, "another package")
    assert other is not None
    assert (other.calls, other.tokens) == (9, None)
    origin = KNOWN.origin.model_copy(update={"configuration": {}})
    assert writing_cost(KNOWN.model_copy(update={"origin": origin}), MEALS.name) is None
    result = api.score(MEALS, [KNOWN, UNKNOWN], [5], judge="lexical", cost_rule="words")
    assert package_scores_data(result)["stores"][0]["writing"]["tokens_in"] == 100
