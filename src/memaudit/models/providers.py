"""The ways to get answers, by name: live, batch, offline."""

from dataclasses import dataclass, field
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.models.batch import BatchClient
from memaudit.models.cache import Cache, CachedClient
from memaudit.models.client import Failure, FailureKind, ModelClient, Reply, ReplyT, Usage
from memaudit.models.defaults import BASE_URL, PROVIDERS, TIMEOUT
from memaudit.models.live import LiveClient
from memaudit.models.request import Request
from memaudit.models.secret import checked_address, key_for
from memaudit.models.spending import Meter, Price, SpendingCap
from memaudit.models.transport import OpenAITransport, RetryPolicy


class OfflineClient:
    """Behind a CachedClient: replays a run without calls. Failures fail again as recorded."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    @property
    def spent(self) -> Usage:
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
            request.key,
            FailureKind.NOT_IN_CACHE,
            f"not in cache: {self._cache.path.name} has no answer to request {request.key[:16]} "
            f"({request.template.id})",
        )


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What a command says about calling models."""

    provider: str = "live"
    base_url: str = BASE_URL
    timeout: float = TIMEOUT
    price: Price | None = None
    max_total_tokens: int | None = None
    max_cost: Fraction | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    retry_failures: bool = False


@dataclass(frozen=True, slots=True)
class ProviderClient:
    """A client with its cache; `batch` is set if answers come through files."""

    client: ModelClient
    batch: BatchClient | None = None


def open_client(settings: ModelSettings, cache: Cache) -> ProviderClient:
    """The client for a provider, with the cache in front."""
    if settings.provider == "offline":
        return ProviderClient(CachedClient(OfflineClient(cache), cache))
    if settings.provider == "batch":
        batch = BatchClient(cache, settings.retry_failures)
        return ProviderClient(CachedClient(batch, cache), batch)
    if settings.provider != "live":
        raise MemAuditError(
            f"unknown provider {settings.provider!r}; choose one of {', '.join(PROVIDERS)}"
        )
    base_url = checked_address(settings.base_url)
    key = key_for(base_url)
    meter = Meter(SpendingCap(settings.max_total_tokens, settings.max_cost), settings.price)
    transport = OpenAITransport(base_url, key, settings.timeout)
    live = LiveClient(transport, meter, key, settings.retry, provider=base_url)
    return ProviderClient(CachedClient(live, cache))
