"""Many requests at once: bounded, in order, each asked once, with progress."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from memaudit.core.errors import MemAuditError
from memaudit.models.client import Failure, FailureKind, ModelClient, Reply, ReplyT, Usage
from memaudit.models.request import Request

GIVE_UP_AFTER = 20
"""So many requests in a row without any HTTP answer, and the server is taken to be gone."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come, and what it has used."""

    done: int
    total: int
    from_cache: int
    failed: int
    spent: Usage


def ask_all(
    client: ModelClient,
    requests: Sequence[Request],
    reply_type: type[ReplyT],
    concurrency: int = 8,
    progress: Callable[[Progress], None] | None = None,
) -> list[Reply[ReplyT] | Failure]:
    """The outcome of each request, in the order given; equal requests are asked once.

    An error that every request would meet, or Ctrl-C, cancels what has not started; what was
    answered before is in the cache by then.
    """
    if concurrency < 1:
        raise MemAuditError(f"concurrency is {concurrency}; it must be at least 1")
    unique = {request.key: request for request in requests}
    outcomes: dict[str, Reply[ReplyT] | Failure] = {}
    cached = failed = in_a_row = 0
    pool = ThreadPoolExecutor(max_workers=concurrency)
    futures: list[Future[Reply[ReplyT] | Failure]] = []
    try:
        futures += [pool.submit(client.ask, request, reply_type) for request in unique.values()]
        for future in as_completed(futures):
            outcome = future.result()
            outcomes[outcome.key] = outcome
            cached += outcome.from_cache
            failed += isinstance(outcome, Failure)
            lost = isinstance(outcome, Failure) and outcome.kind is FailureKind.HTTP
            in_a_row = in_a_row + 1 if lost and not outcome.from_cache else 0
            if progress is not None:
                done = len(outcomes)
                progress(Progress(done, len(unique), cached, failed, client.spent))
            if in_a_row >= GIVE_UP_AFTER and isinstance(outcome, Failure):
                raise MemAuditError(
                    f"{in_a_row} requests in a row failed, the last with: {outcome.detail}; what "
                    "was answered is in the cache, run again when the server is back"
                )
    except BaseException:
        client.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [outcomes[request.key] for request in requests]


def failure_counts(outcomes: Sequence[Reply[ReplyT] | Failure]) -> dict[str, int]:
    """How many outcomes failed, by kind; every kind is listed."""
    kinds = [outcome.kind for outcome in outcomes if isinstance(outcome, Failure)]
    return {kind.value: kinds.count(kind) for kind in FailureKind}
