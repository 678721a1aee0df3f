"""Batch files: what is written, and every kind of line that may come back."""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import Waiting
from memaudit.models import batch as batch_module
from memaudit.models.batch import BatchRowKind, import_batch, write_batch
from memaudit.models.cache import Cache
from memaudit.models.request import Failure, FailureKind, Reply
from memaudit.models.session import ModelSettings, ProviderClient, ask_all, open_client
from memaudit.models.spending import price_of
from tests.models.asking import GOOD, TWICE, WRONG, Labels, request
from tests.models.server import completion


def opened(cache: Cache, **more: Any) -> ProviderClient:
    return open_client(ModelSettings(provider="batch", **more), cache)


def ask(cache: Cache, texts: str, file: Path) -> tuple[list[Reply[Labels] | Failure], str]:
    """One run over some requests: the outcomes, and the message it stops with."""
    asking = opened(cache)
    assert asking.batch is not None
    outcomes = ask_all(asking.client, [request(text) for text in texts], Labels)
    try:
        asking.batch.stop_if_waiting(file)
    except Waiting as stop:
        return outcomes, str(stop)
    return outcomes, ""


def line(text: str, content: object = GOOD, **more: Any) -> str:
    response = {"status_code": 200, "request_id": "r", "body": completion(content, **more)}
    row = {"id": "b", "custom_id": request(text).key, "response": response, "error": None}
    return json.dumps(row) + "\n"


def test_the_file_is_openai_batch_jsonl(tmp_path: Path) -> None:
    """custom_id, method, url, body; sorted by key; the run stops and says what to do."""
    file = tmp_path / "requests.jsonl"
    with Cache(tmp_path / "cache") as cache:
        outcomes, message = ask(cache, "abca", file)
        assert cache.count("pending") == 3
    assert [getattr(one, "kind", None) for one in outcomes] == [FailureKind.WAITING] * 4
    rows = [json.loads(one) for one in file.read_text().splitlines()]
    assert [set(row) for row in rows] == [{"custom_id", "method", "url", "body"}] * 3
    assert [row["custom_id"] for row in rows] == sorted(request(one).key for one in "abc")
    assert {(row["method"], row["url"]) for row in rows} == {("POST", "/v1/chat/completions")}
    assert rows[0]["body"]["response_format"]["type"] == "json_schema"
    assert message == (
        f"waiting for 3 replies of m (coverage): submit {file} to a batch queue if you have "
        f"not, run `memaudit model batch RESPONSES --set model.cache={tmp_path / 'cache'}`, "
        "then run this command again"
    )


def test_every_kind_of_line(tmp_path: Path) -> None:
    error = {"custom_id": request("e").key, "response": None, "error": {"message": "expired"}}
    status = {"custom_id": request("s").key, "response": {"status_code": 500, "body": {}}}
    lines = [
        line("a"),
        line("a", GOOD.replace("full", "none")),
        line("r", None, refusal="no"),
        line("j", "not json"),
        line("w", WRONG),
        json.dumps(error) + "\n",
        json.dumps(status) + "\n",
        line("never asked"),
        "{}\n",
        "[1]\n",
        '{"custom_id": \n',
        line("c", "{", finish_reason="length"),
        line("c"),
        line("l", [{"text": GOOD}]),
    ]
    responses = tmp_path / "responses.jsonl"
    responses.write_text("".join(lines))
    with Cache(tmp_path / "cache") as cache:
        ask(cache, "arjwesmcl", tmp_path / "requests.jsonl")
        result = import_batch(cache, responses, price_of("1", "2"))
        answer = cache.answer(request("a").key)
        assert answer is not None
        assert (answer.raw, answer.provider) == (GOOD, "batch")
        kinds = {one: [try_.kind for try_ in cache.attempts(request(one).key)] for one in "rjwesmc"}
        again = import_batch(cache, responses)
    assert result.counts == {
        "answered": 3,
        "duplicate id": 1,
        "refused": 1,
        "reply is not JSON": 2,
        "reply breaks its schema": 1,
        "error row": 2,
        "unknown id": 1,
        "unreadable line": 3,
    }
    assert result.counts.total() == len(lines)
    assert kinds == {
        "r": ["refused"],
        "j": ["invalid"],
        "w": ["invalid"],
        "e": ["http"],
        "s": ["http"],
        "m": [],
        "c": ["invalid"],
    }
    assert result.unanswered == [request("m").key]
    assert result.failed == sorted(request(one).key for one in "rjwes")
    assert result.waiting == 6
    # seven lines carried a completion that was read: a, r, j, w, c twice, l; 10 + 2 * 5 millionths
    assert (result.usage.calls, result.usage.cost) == (7, price_of("1", "2").cost(70, 35))  # type: ignore[union-attr]
    assert len(result.problems) == 11
    assert again.counts[BatchRowKind.ALREADY_ANSWERED] == 5
    assert again.counts[BatchRowKind.ANSWERED] == 0


def test_pass_by_pass(tmp_path: Path) -> None:
    """Answers in, the run goes on; what is still missing is written again, the rest is not."""
    file, responses = tmp_path / "requests.jsonl", tmp_path / "responses.jsonl"
    with Cache(tmp_path / "cache") as cache:
        ask(cache, "ab", file)
        responses.write_text(line("a"))
        import_batch(cache, responses)
        outcomes, message = ask(cache, "ab", file)
        assert [type(one) for one in outcomes] == [Reply, Failure]
        assert message.startswith("waiting for 1 reply of ")
        assert len(file.read_text().splitlines()) == 1
        responses.write_text(line("b"))
        assert import_batch(cache, responses).waiting == 0
        outcomes, message = ask(cache, "ab", file)
        assert [type(one) for one in outcomes] == [Reply, Reply]
        assert message == ""


@pytest.mark.parametrize("bad", [WRONG, TWICE])
def test_an_invalid_answer_is_asked_again_with_its_error_once(tmp_path: Path, bad: str) -> None:
    """By schema at the import, or by type in the run: the same re-ask, then a counted failure."""
    file, responses = tmp_path / "requests.jsonl", tmp_path / "responses.jsonl"
    responses.write_text(line("a", bad))
    with Cache(tmp_path / "cache") as cache:
        ask(cache, "a", file)
        import_batch(cache, responses)
        (outcome,), message = ask(cache, "a", file)
        assert isinstance(outcome, Failure)
        assert (outcome.kind, message[:19]) == (FailureKind.WAITING, "waiting for 1 reply")
        messages = json.loads(file.read_text())["body"]["messages"]
        assert messages[2] == {"role": "assistant", "content": bad}
        assert "did not validate" in messages[3]["content"]
        responses.write_text(line("a", bad.replace("u1", "u2")))
        import_batch(cache, responses)
        (outcome,), message = ask(cache, "a", file)
        assert isinstance(outcome, Failure)
        assert (outcome.kind, message) == (FailureKind.INVALID, "")
        assert outcome.raw == bad.replace("u1", "u2")
        assert cache.count("pending") == 0
        asking = opened(cache, retry_failures=True)
        last = asking.client.ask(request("a"), Labels)
        assert isinstance(last, Failure)
        assert last.kind is FailureKind.WAITING


def test_large_runs_are_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_module, "MOST_REQUESTS", 2)
    a, b, c = (f'{{"custom_id":"{key}"}}\n' for key in "abc")
    paths = write_batch(tmp_path / "r.jsonl", [a, b, c])
    assert [one.read_text() for one in paths] == [a + b, c]
    assert [one.name for one in paths] == ["r-1.jsonl", "r-2.jsonl"]
    monkeypatch.setattr(batch_module, "MOST_BYTES", len(a) + 1)
    assert len(write_batch(tmp_path / "r.jsonl", [a, b, c])) == 3
