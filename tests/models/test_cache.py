"""The cache: what counts as an answer, who may write, and what a killed process leaves."""

import multiprocessing
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.models.cache import Cache, CachedClient
from memaudit.models.client import Failure, FailureKind, Reply, Usage, Valid, validated
from memaudit.models.request import Request
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
    assert (cache.count("answers"), cache.count("attempts")) == (1, 3)


def test_nobody_asked_is_not_recorded(cache: Cache) -> None:
    for kind in (FailureKind.CAP, FailureKind.PENDING, FailureKind.NOT_IN_CACHE):
        with pytest.raises(ValueError, match="no model was asked"):
            cache.fail(request(), Failure(request().key, kind, ""), "now")


def test_the_first_answer_stays(cache: Cache) -> None:
    assert cache.keep(request(), reply_to(request()), "2026-01-01")
    assert not cache.keep(
        request(), reply_to(request(), GOOD.replace("full", "none")), "2026-01-02"
    )
    found = cache.reply(request(), Labels)
    assert isinstance(found, Reply)
    assert found.value.units[0].label == "full"


def test_an_answer_its_type_refuses_is_asked_again(cache: Cache) -> None:
    found = reply_to(request())
    cache.keep(request(), Reply(found.key, found.value, TWICE, TWICE, Usage(), "batch"), "then")
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
        ("theirs", "CREATE TABLE answers (x)"), ("newer", "PRAGMA user_version = 9"),
    ]:  # fmt: skip
        link = sqlite3.connect(tmp_path / name)
        link.execute(statement)
        link.commit()
        link.close()
    for name, message in {
        "text": "not a database", "theirs": "another program",
        "newer": "answers in version 9, this memaudit reads 1",
    }.items():  # fmt: skip
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
