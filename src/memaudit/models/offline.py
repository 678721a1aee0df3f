"""A client that calls nobody: for replaying a run from its cache."""

from memaudit.models.cache import Cache
from memaudit.models.outcome import Failure, FailureKind, Reply, ReplyT, Usage
from memaudit.models.request import Request


class OfflineClient:
    """Behind a CachedClient: what is not answered there fails as it failed then, or is unknown."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    @property
    def spent(self) -> Usage:
        """Nothing, ever."""
        return Usage()

    def stop(self) -> None:
        """Nothing to stop."""

    def ask(
        self,
        request: Request,
        reply_type: type[ReplyT],  # noqa: ARG002
    ) -> Reply[ReplyT] | Failure:
        """The last recorded failure, else "not in cache"."""
        attempts = self._cache.attempts(request.key)
        if attempts:
            return attempts[-1].failure
        return Failure(
            request.key, FailureKind.NOT_IN_CACHE,
            f"not in cache: {self._cache.path.name} has no answer to request {request.key[:16]} "
            f"({request.template.id}); run with a live model, or import the cache it was made with",
        )  # fmt: skip
