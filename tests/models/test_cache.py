"""The cache: what counts as an answer, who may write, what a kill leaves, and its JSONL export."""

import json
import multiprocessing
import os
import signal
import socket
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.models.cache import Cache, CachedClient, export_cache, import_cache
from memaudit.models.request import Failure, FailureKind, Reply, Request, Usage, Valid, validated
from memaudit.models.session import ModelSettings, ask_all, open_client
from tests.models.asking import GOOD, TWICE, Labels, client, request
from tests.models.server import fails, says, serving


def reply_to(asked: Request, text: str = GOOD) -> Reply[Labels]:
    valid = validated(text, Labels)
    assert isinstance(valid, Valid)
    return Reply(asked.key, valid.value, text, valid.parsed, Usage(1, 10, 5), "test", "served")


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    with Cache(tmp_path / "cache.sqlite") as opened:
        yield opened


def test_an_answer_is_asked_for_once(cache: Cache) -> None:
    with serving(says(GOOD), fails(500)) as served:
        live = client(served)
        first = CachedClient(live, cache).ask(request(), Labels)
        second = CachedClient(live, cache).ask(request(), Labels)
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert (first.from_cache, second.from_cache, len(served.bodies)) == (False, True, 1)
    assert (second.value, second.raw, second.usage) == (first.value, first.raw, first.usage)
    assert live.spent.calls == 1


def test_failures_are_kept_apart_and_asked_again(cache: Cache) -> None:
    """Unparseable twice: two attempts at rest, no answer, and the next run asks anew."""
    script = [says("x"), says("y"), says(None, refusal="no"), fails(403), says(GOOD)]
    with serving(*script) as served:
        one = CachedClient(client(served), cache)
        kinds = [getattr(one.ask(request(), Labels), "kind", "reply") for _ in range(5)]
    assert kinds == ["invalid", "refused", "http", "reply", "reply"]
    assert len(served.bodies) == 5
    attempts = cache.attempts(request().key)
    assert [attempt.raw for attempt in attempts] == ["y", "no", ""]
    assert attempts[0].failure.usage == Usage(2, 20, 10, unpriced=2)
    assert (len(cache.all_answers()), len(cache.all_attempts())) == (1, 3)


def test_nobody_asked_is_not_recorded(cache: Cache) -> None:
    for kind in (FailureKind.CAP, FailureKind.NOT_IN_CACHE):
        with pytest.raises(ValueError, match="no model was asked"):
            cache.fail(request(), Failure(request().key, kind, ""), "now")


def test_the_first_answer_stays(cache: Cache) -> None:
    assert cache.keep(request(), reply_to(request()), "2026-01-01")
    assert not cache.keep(
        request(), reply_to(request(), GOOD.replace("full", "none")), "2026-01-02"
    )
    kept = cache.reply(request(), Labels)
    assert isinstance(kept, Reply)
    assert kept.value.units[0].label == "full"


def test_an_answer_its_type_refuses_is_asked_again(cache: Cache) -> None:
    found = reply_to(request())
    cache.keep(request(), Reply(found.key, found.value, TWICE, TWICE, Usage(), "other"), "then")
    with serving(says(GOOD)) as served:
        outcome = CachedClient(client(served), cache).ask(request(), Labels)
    assert isinstance(outcome, Reply)
    assert len(served.bodies) == 1
    (attempt,) = cache.attempts(request().key)
    assert (attempt.kind, attempt.raw) == ("invalid", TWICE)
    answer = cache.answer(request().key)
    assert answer is not None
    assert answer.raw == GOOD


def test_odd_text_survives(cache: Cache) -> None:
    raw = "\0é😀" + "x" * 1_000_000
    cache.fail(request("\0"), Failure("", FailureKind.INVALID, "\0", raw), "now")
    (attempt,) = cache.attempts(request("\0").key)
    assert attempt.raw == raw


def write_many(path: Path, first: int, last: int) -> None:
    """A process of its own, storing one answer after another."""
    with Cache(path) as opened:
        for number in range(first, last):
            one = request(str(number))
            opened.keep(one, reply_to(one), "now")
            opened.fail(one, Failure(one.key, FailureKind.HTTP, str(number)), "now")


@pytest.mark.slow
def test_processes_write_at_once_and_one_is_killed(tmp_path: Path) -> None:
    """Three finish, one dies by SIGKILL in the middle; nothing is torn, nothing else is lost."""
    path = tmp_path / "cache.sqlite"
    context = multiprocessing.get_context("spawn")
    ranges = [(0, 40), (20, 60), (40, 80), (1000, 1_000_000)]
    processes = [context.Process(target=write_many, args=(path, *one)) for one in ranges]
    for process in processes:
        process.start()
    victim = processes[-1]
    last = request("1005").key
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:  # until the victim is in the middle of its work
        if path.exists():
            with Cache(path) as opened:
                if opened.answer(last) is not None:
                    break
        time.sleep(0.01)
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0, -signal.SIGKILL]
    link = sqlite3.connect(path)
    assert link.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert link.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    link.close()
    with Cache(path) as opened:
        assert all(opened.answer(request(str(number)).key) for number in range(80))
        for answer in opened.all_answers():
            assert validated(answer.raw, Labels) == Valid(reply_to(request()).value, answer.parsed)
        opened.keep(request("after"), reply_to(request("after")), "now")


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    """A text file, another program's database, another version; an empty file becomes a cache."""
    (tmp_path / "text").write_bytes(b"not a database at all, but long enough" * 40)
    Cache(tmp_path / "newer").close()
    for name, statement in [
        ("theirs", "CREATE TABLE answers (x)"),
        ("newer", "PRAGMA user_version = 9"),
    ]:
        link = sqlite3.connect(tmp_path / name)
        link.execute(statement)
        link.commit()
        link.close()
    for name, message in {
        "text": "not a database",
        "theirs": "another program",
        "newer": "answers in version 9, this memaudit reads 1",
    }.items():
        before = (tmp_path / name).read_bytes()
        with pytest.raises(MemAuditError, match=message):
            Cache(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
    (tmp_path / "empty").touch()
    Cache(tmp_path / "empty").close()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MemAuditError, match="unable to open database file"):
        Cache(tmp_path / "no" / "cache.sqlite")
    with pytest.raises(MemAuditError, match="no cache found"):
        Cache(tmp_path / "none.sqlite", must_exist=True)


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
        client = open_client(ModelSettings(provider="offline"), cache)
        x, refused, unknown, y = ask_all(client, [request(one) for one in "xr?y"], Labels)
        assert client.spent == Usage()
        assert len(cache.all_attempts()) == 1
    assert (type(x), type(y)) == (Reply, Reply)
    assert isinstance(refused, Failure)
    assert isinstance(unknown, Failure)
    assert (refused.kind, refused.raw, refused.from_cache) == (FailureKind.REFUSED, "no", True)
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
        (["request"], "x", "request: is missing or no object"),
        (["raw"], GOOD.replace("full", "none"), "is not what the raw reply says"),
        (["raw"], "[]", "is not what the raw reply says"),
        (["model"], "better", "beside the request is not"),
        (["type"], "pending", "expected answer or attempt"),
        (["calls"], -1, "calls: input should be greater than or equal to 0"),
        (["calls"], True, "calls: input should be a valid integer"),
        (["at"], None, "at: input should be a valid string"),
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
        assert len(cache.all_answers()) == 1
    (problem,) = result.problems
    assert problem.startswith("bad.jsonl:1: ")
    assert reason in problem


def test_an_imported_reply_is_read_by_its_type_where_it_is_used(tmp_path: Path) -> None:
    """A reply that breaks its schema becomes a failed attempt; half a line is refused."""
    fill(tmp_path / "a", ["x"])
    row = json.loads(exported(tmp_path / "a").splitlines()[0])
    row["raw"] = row["parsed"] = '{"units":[{"id":"u1","label":"sure"}]}'
    file = tmp_path / "bad.jsonl"
    file.write_text(json.dumps(row) + "\n" + '{"type": "answer"\n')
    with Cache(tmp_path / "b") as cache:
        result = import_cache(cache, file)
        assert (result.counts["answers"], result.counts["refused"]) == (1, 1)
        outcome = open_client(ModelSettings(provider="offline"), cache).ask(request("x"), Labels)
        assert isinstance(outcome, Failure)
        assert (outcome.kind, len(cache.all_answers())) == (FailureKind.INVALID, 0)
