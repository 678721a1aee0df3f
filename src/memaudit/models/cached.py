"""A client in front of which the cache answers first, and behind which it remembers."""

from collections.abc import Callable
from datetime import UTC, datetime

from memaudit.models.cache import Cache
from memaudit.models.client import ModelClient
from memaudit.models.outcome import RECORDED, Failure, FailureKind, Reply, ReplyT, Usage
from memaudit.models.reply_text import Invalid
from memaudit.models.request import Request


def now() -> str:
    """The time in UTC, to the microsecond, in a form that sorts."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class CachedClient:
    """Asks the inner client only what the cache does not know; a failure is asked again."""

    def __init__(self, inner: ModelClient, cache: Cache, clock: Callable[[], str] = now) -> None:
        self._inner = inner
        self._cache = cache
        self._clock = clock

    @property
    def spent(self) -> Usage:
        """What the inner client used."""
        return self._inner.spent

    def stop(self) -> None:
        """Stop the inner client."""
        self._inner.stop()

    def ask(self, request: Request, reply_type: type[ReplyT]) -> Reply[ReplyT] | Failure:
        """The stored reply, or a new one, stored before it is returned."""
        known = self._cache.reply(request, reply_type)
        if isinstance(known, Reply):
            return known
        if isinstance(known, Invalid):
            self._retract(request, known)
        outcome = self._inner.ask(request, reply_type)
        if isinstance(outcome, Failure):
            if outcome.kind in RECORDED and not outcome.from_cache:
                self._cache.fail(request, outcome, self._clock())
            return outcome
        if not self._cache.keep(request, outcome, self._clock()):
            # Another process was faster: both go on with the same answer.
            other = self._cache.reply(request, reply_type)
            if isinstance(other, Reply):
                return other
        return outcome

    def _retract(self, request: Request, reason: Invalid) -> None:
        """An answer imported by its schema alone may still break a rule of its type."""
        answer = self._cache.answer(request.key)
        if answer is not None:
            failure = Failure(
                request.key, FailureKind.INVALID, reason.reason, answer.raw, answer.usage,
                answer.provider,
            )  # fmt: skip
            self._cache.retract(request, failure, answer.at)
