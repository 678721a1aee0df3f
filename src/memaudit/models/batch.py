"""Answers from a batch queue: requests go to a file, the run stops, answers come back later."""

import json
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from memaudit.core.counting import counted
from memaudit.core.errors import MemAuditError
from memaudit.io.atomic import write_file
from memaudit.models.cache import Cache
from memaudit.models.outcome import Failure, FailureKind, Reply, ReplyT, Usage
from memaudit.models.records import Attempt
from memaudit.models.request import Request
from memaudit.models.wire import body

PROVIDER = "batch"
URL = "/v1/chat/completions"
MOST_REQUESTS = 50_000
MOST_BYTES = 100 << 20
"""Providers take files up to about these sizes; larger runs are split."""

TRIES = {FailureKind.REFUSED: 1, FailureKind.INVALID: 2, FailureKind.HTTP: 3}
"""So many failures of a kind, and the request counts as failed instead of pending."""


class BatchPending(MemAuditError):
    """The run stops here until the answers are imported."""


class BatchClient:
    """Behind a CachedClient: what is not answered there waits for an answer."""

    def __init__(self, cache: Cache, retry_failures: bool = False) -> None:
        self._cache = cache
        self._retry_failures = retry_failures
        self._lock = threading.Lock()
        self._waiting: dict[str, Request] = {}

    @property
    def spent(self) -> Usage:
        """Nothing: a batch is paid for where it is sent."""
        return Usage()

    def stop(self) -> None:
        """Nothing to stop."""

    def ask(
        self,
        request: Request,
        reply_type: type[ReplyT],  # noqa: ARG002
    ) -> Reply[ReplyT] | Failure:
        """Pending, unless earlier batches failed at it often enough."""
        tried = self._tried(request.key)
        for kind, limit in TRIES.items():
            failures = [attempt for attempt in tried if attempt.kind == kind]
            if len(failures) >= limit and not self._retry_failures:
                self._cache.give_up(request.key)
                return failures[-1].failure
        with self._lock:
            self._waiting[request.key] = request
        return Failure(
            request.key, FailureKind.PENDING, "waits for a batch answer", provider=PROVIDER
        )

    def _tried(self, key: str) -> list[Attempt]:
        return [attempt for attempt in self._cache.attempts(key) if attempt.provider == PROVIDER]

    def stop_if_pending(self, path: Path) -> None:
        """Write what this run waits for, and stop with a message that says what to do; or go on."""
        with self._lock:
            requests = [self._waiting[key] for key in sorted(self._waiting)]
        if not requests:
            return
        self._cache.await_answers(requests)
        paths = write_batch(path, (self._line(request) for request in requests))
        names = " ".join(str(one) for one in paths)
        what = f"{counted(len(requests), 'request')} {'is' if len(requests) == 1 else 'are'}"
        raise BatchPending(
            f"{what} in {names}: have them answered by a batch queue, then "
            f"run `memaudit batch import RESPONSES --cache {self._cache.path}` and this command "
            "again"
        )

    def _line(self, request: Request) -> str:
        """A request; where its last answer was invalid, with that answer and what was wrong."""
        invalid = [one for one in self._tried(request.key) if one.kind == FailureKind.INVALID]
        return batch_line(request, (invalid[-1].raw, invalid[-1].detail) if invalid else None)


def batch_line(request: Request, rejected: tuple[str, str] | None = None) -> str:
    """One line of OpenAI Batch JSONL."""
    data = {
        "custom_id": request.key,
        "method": "POST",
        "url": URL,
        "body": body(request, rejected=rejected),
    }
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")) + "\n"


def write_batch(path: Path, lines: Iterable[str]) -> list[Path]:
    """The file, or numbered files where one would be too large for a queue."""
    parts = list(_parts(lines))
    if len(parts) == 1:
        write_file(path, parts[0])
        return [path]
    paths = [path.with_stem(f"{path.stem}-{number}") for number in range(1, len(parts) + 1)]
    for one, text in zip(paths, parts, strict=True):
        write_file(one, text)
    return paths


def _parts(lines: Iterable[str]) -> Iterator[str]:
    part: list[str] = []
    size = 0
    for line in lines:
        if part and (len(part) == MOST_REQUESTS or size + len(line) > MOST_BYTES):
            yield "".join(part)
            part, size = [], 0
        part.append(line)
        size += len(line)
    if part:
        yield "".join(part)
