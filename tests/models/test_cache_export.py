"""A cache as JSONL: the same bytes every time, and nothing taken over unchecked."""

import json
import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest

from memaudit.models.cache import Cache
from memaudit.models.cache_export import export_cache, import_cache
from memaudit.models.client import Failure, FailureKind, Reply, Usage
from memaudit.models.providers import ModelSettings, open_client
from memaudit.models.session import ask_all
from tests.models.asking import GOOD, Labels, request
from tests.models.test_cache import reply_to


def fill(path: Path, order: list[str]) -> None:
    with Cache(path) as cache:
        for text in order:
            cache.keep(request(text), reply_to(request(text)), "2026-01-01")
        failure = Failure(request("r").key, FailureKind.REFUSED, "no", "no", Usage(1, 3, 2), "test")
        cache.fail(request("r"), failure, "2026-01-02")


def exported(path: Path) -> str:
    with Cache(path) as cache:
        export_cache(cache, path.with_suffix(".jsonl"))
    return path.with_suffix(".jsonl").read_text()


def test_round_trip(tmp_path: Path) -> None:
    fill(tmp_path / "a", ["x", "y", "é"])
    fill(tmp_path / "b", ["é", "y", "x"])
    text = exported(tmp_path / "a")
    assert text == exported(tmp_path / "b")
    with Cache(tmp_path / "c") as cache:
        result = import_cache(cache, tmp_path / "a.jsonl")
        assert (result.counts["answers"], result.counts["attempts"]) == (3, 1)
        again = import_cache(cache, tmp_path / "a.jsonl")
        assert (again.counts["known"], again.counts["answers"], again.problems) == (4, 0, [])
    assert exported(tmp_path / "c") == text


def test_replay_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offline, answers and failures are as they were then; the unknown is said to be unknown."""
    fill(tmp_path / "a", ["x", "y"])
    exported(tmp_path / "a")

    def blocked(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", blocked)
    monkeypatch.setattr(socket, "create_connection", blocked)
    with Cache(tmp_path / "b") as cache:
        import_cache(cache, tmp_path / "a.jsonl")
        client = open_client(ModelSettings(provider="offline"), cache).client
        x, refused, unknown, y = ask_all(client, [request(one) for one in "xr?y"], Labels)
        assert client.spent == Usage()
        assert cache.count("attempts") == 1
    assert isinstance(x, Reply)
    assert isinstance(y, Reply)
    assert isinstance(refused, Failure)
    assert (refused.kind, refused.raw, refused.from_cache) == (FailureKind.REFUSED, "no", True)
    assert isinstance(unknown, Failure)
    assert unknown.kind is FailureKind.NOT_IN_CACHE
    assert unknown.detail.startswith("not in cache: ")


def tamper(row: dict[str, Any], *path: Any, to: object) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(row))
    at = copy
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return copy


@pytest.mark.parametrize(
    ("path", "to", "reason"),
    [
        (["key"], "0" * 64, "is not the request's"),
        (["request", "messages", 1, "content"], "other", "is not the request's"),
        (["request", "parameters", "temperature"], 1.5, "is not the request's"),
        (["request", "base_url"], "x", "is not a request as memaudit writes it"),
        (["request"], "x", "'request' is missing or has the wrong type"),
        (["raw"], GOOD.replace("full", "none"), "is not what the raw reply says"),
        (["raw"], "[]", "is not what the raw reply says"),
        (["model"], "better", "named beside the request"),
        (["type"], "pending", "expected answer or attempt"),
        (["calls"], -1, "'calls' is out of range"),
        (["calls"], True, "'calls' is missing or has the wrong type"),
        (["at"], None, "'at' is missing or has the wrong type"),
        (["cost"], "much", "the cost is not a number"),
    ],
)
def test_tampered_rows_are_refused(
    tmp_path: Path, path: list[Any], to: object, reason: str
) -> None:
    """Keys are computed again, replies are read again; the good row beside is taken."""
    fill(tmp_path / "a", ["x", "y"])
    rows = [json.loads(line) for line in exported(tmp_path / "a").splitlines()]
    rows[0] = tamper(rows[0], *path, to=to)
    file = tmp_path / "bad.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Cache(tmp_path / "b") as cache:
        result = import_cache(cache, file)
        assert (result.counts["answers"], result.counts["refused"]) == (1, 1)
        assert cache.count("answers") == 1
    (problem,) = result.problems
    assert problem.startswith("bad.jsonl:1: ")
    assert reason in problem


def test_a_reply_that_breaks_its_schema_is_refused(tmp_path: Path) -> None:
    fill(tmp_path / "a", ["x"])
    row = json.loads(exported(tmp_path / "a").splitlines()[0])
    row["raw"] = row["parsed"] = '{"units":[{"id":"u1","label":"sure"}]}'
    file = tmp_path / "bad.jsonl"
    file.write_text(json.dumps(row) + "\n" + '{"type": "answer"\n')
    with Cache(tmp_path / "b") as cache:
        result = import_cache(cache, file)
    assert result.counts["refused"] == 2
    assert any("does not fit its schema: reply.units[0].label" in one for one in result.problems)
