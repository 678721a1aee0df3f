"""A session with a model, live or offline: requests are estimated, confirmed, asked and counted."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.words.text import counted
from memaudit.models.cache import Cache, CachedClient
from memaudit.models.defaults import BASE_URL, CONCURRENCY, PROVIDERS, TIMEOUT
from memaudit.models.live import LiveClient, OpenAITransport, RetryPolicy
from memaudit.models.prompts import Quotable, long_reply, pass_prompt, pass_request
from memaudit.models.request import (
    Failure,
    FailureKind,
    ModelClient,
    ModelParameters,
    Reply,
    ReplyT,
    Request,
    Usage,
)
from memaudit.models.secret import checked_address, key_for
from memaudit.models.spending import Meter, Price, confirm, estimate

# More than twice what is in flight by default: a restart of the server fails those and no more.
GIVE_UP_AFTER = 20
"""Requests in a row without an HTTP answer before the server counts as gone."""

MOST_DETAIL = 2_000
"""Characters of a refused item that are stored; raw replies are stored in full."""


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


def open_client(settings: ModelSettings, cache: Cache) -> ModelClient:
    """The client for a provider, with the cache in front."""
    if settings.provider == "offline":
        return CachedClient(OfflineClient(cache), cache)
    if settings.provider != "live":
        raise MemAuditError(
            f"unknown provider {settings.provider!r}; choose one of {', '.join(PROVIDERS)}"
        )
    base_url = checked_address(settings.base_url)
    key = key_for(base_url)
    meter = Meter(settings.max_total_tokens, settings.max_cost, settings.price)
    transport = OpenAITransport(base_url, key, settings.timeout)
    live = LiveClient(transport, meter, key, settings.retry, provider=base_url)
    return CachedClient(live, cache)


@dataclass(frozen=True, slots=True)
class ReplyProblem:
    """A reply that failed, or an item of a reply that was refused."""

    conversation: str
    stage: str
    what: str
    """The failure's kind, or the name of the rejection."""
    detail: str
    raw: str = ""
    key: str = ""
    failure: bool = False

    def to_json(self) -> dict[str, str | bool]:
        return {
            "conversation": self.conversation,
            "pass": self.stage,
            "what": self.what,
            "whole_reply": self.failure,
            "detail": self.detail,
            "raw": self.raw,
            "request": self.key,
        }


@dataclass(slots=True)
class SessionLedger:
    """Everything that is counted while packages are built."""

    problems: list[ReplyProblem] = field(default_factory=list)
    usage: defaultdict[tuple[str, str], Usage] = field(default_factory=lambda: defaultdict(Usage))
    """By conversation and pass: what the replies cost when they were asked for, replayed or not."""
    replies: Counter[tuple[str, str]] = field(default_factory=Counter)
    served: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    """The models the servers say they used."""

    def add(self, conversation: str, stage: str, outcome: Reply[ReplyT] | Failure) -> None:
        place = (conversation, stage)
        self.usage[place] += outcome.usage
        if isinstance(outcome, Failure):
            self.problems.append(
                ReplyProblem(
                    conversation,
                    stage,
                    outcome.kind.value,
                    outcome.detail,
                    outcome.raw,
                    outcome.key,
                    failure=True,
                )
            )
            return
        self.replies[place] += 1
        if outcome.served_model:
            self.served[place].add(outcome.served_model)

    def refuse(self, conversation: str, stage: str, what: str, detail: str) -> None:
        """Count one item of a valid reply that a check refused."""
        self.problems.append(ReplyProblem(conversation, stage, what, detail[:MOST_DETAIL]))

    def of(self, conversation: str) -> list[ReplyProblem]:
        """The problems of one conversation, in a fixed order."""
        own = [problem for problem in self.problems if problem.conversation == conversation]
        return sorted(own, key=lambda it: (it.stage, it.what, it.key, it.detail))

    def counts(self, conversation: str, failure: bool) -> dict[str, dict[str, int]]:
        """Replies that failed, or items that were refused, by pass and kind."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for problem in self.of(conversation):
            if problem.failure is failure:
                counts[problem.stage][problem.what] += 1
        return {stage: dict(sorted(kinds.items())) for stage, kinds in sorted(counts.items())}

    def spent(self, conversation: str) -> dict[str, dict[str, int | str]]:
        return {
            stage: usage_json(usage)
            for (owner, stage), usage in sorted(self.usage.items())
            if owner == conversation
        }


def usage_json(usage: Usage) -> dict[str, int | str]:
    """A usage for a manifest; the cost is of the calls with a known price."""
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": str(plain(usage.cost)),
        "unpriced": usage.unpriced,
        "unmeasured": usage.unmeasured,
    }


_NOT_ASKED = {
    FailureKind.NOT_IN_CACHE: "run with a live model, or import the cache of the original run",
    FailureKind.CAP: "the answers so far are in the cache: raise the cap and run again",
}
"""Failures that say nothing about the model: without these replies the run must stop."""


@dataclass(frozen=True, slots=True)
class AskProgress:
    """How many requests are done, and what they used."""

    done: int
    total: int
    from_cache: int
    failed: int
    spent: Usage


@dataclass(frozen=True, slots=True)
class SessionCallbacks:
    """How a session addresses the user: lines, a question before spending, and progress."""

    show: Callable[[str], object] = lambda _: None
    agree: Callable[[], bool] = lambda: True
    yes: bool = False
    progress: Callable[[str, AskProgress], None] | None = None


@dataclass(slots=True)
class ModelSession:
    """One run's client, cache and ledger; requests of all passes go through it."""

    client: ModelClient
    cache: Cache
    provider: str = "live"
    price: Price | None = None
    concurrency: int = CONCURRENCY
    parameters: ModelParameters = field(default_factory=ModelParameters)
    callbacks: SessionCallbacks = field(default_factory=SessionCallbacks)
    ledger: SessionLedger = field(default_factory=SessionLedger)

    def ask(
        self,
        stage: str,
        asked: Sequence[tuple[str, Request]],
        reply_type: type[ReplyT],
    ) -> list[ReplyT | None]:
        """The replies in order, None for a failure; each request belongs to a conversation.

        A failed reply is in the ledger.
        """
        requests = [request for _, request in asked]
        self._announce(stage, requests)
        show = self.callbacks.progress
        outcomes = ask_all(
            self.client,
            requests,
            reply_type,
            self.concurrency,
            None if show is None else (lambda state: show(stage, state)),
        )
        failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
        # Scores over the requests that happened to be answered would depend on the cap, so nothing
        # is scored.
        for kind, hint in _NOT_ASKED.items():
            if details := [failure.detail for failure in failures if failure.kind is kind]:
                raise MemAuditError(
                    f"pass {stage}: {len(details)} of {len(outcomes)} requests were not answered "
                    f"({details[0]}); {hint}"
                )
        if failures:
            share = f"{len(failures):,} of {counted(len(outcomes), 'request')}"
            self.callbacks.show(
                f"pass {stage}: {share} failed, the first with: {failures[0].detail}"
            )
        for (conversation, _), outcome in zip(asked, outcomes, strict=True):
            self.ledger.add(conversation, stage, outcome)
        return [outcome.value if isinstance(outcome, Reply) else None for outcome in outcomes]

    def ask_pass(
        self,
        prompt: str,
        work: Sequence[tuple[str, Mapping[str, Quotable]]],
        reply_type: type[ReplyT],
        model: str,
        *,
        again: bool = False,
        long: bool = False,
    ) -> list[ReplyT | None]:
        """The replies to a prompt file with each conversation's data blocks: the shape of a pass.

        `again` is a second asking, which the prompts know by its block; `long` a long reply.
        """
        parameters = long_reply(self.parameters) if long else self.parameters
        more: dict[str, Quotable] = {"asked_before": "yes"} if again else {}
        asked = [
            (
                owner,
                pass_request(pass_prompt(prompt), reply_type, model, parameters, **blocks, **more),
            )
            for owner, blocks in work
        ]
        return self.ask(f"{prompt} again" if again else prompt, asked, reply_type)

    def _announce(self, stage: str, requests: Sequence[Request]) -> None:
        """Show the estimate, and ask before money is spent; a replay spends none."""
        if self.provider == "offline" or not requests:
            return
        models = ", ".join(sorted({request.model for request in requests}))
        self.callbacks.show(f"pass {stage}, {models}:")
        confirm(
            estimate(requests, self.cache, self.price),
            self.callbacks.show,
            self.callbacks.agree,
            yes=self.callbacks.yes,
        )


def open_session(
    settings: ModelSettings,
    cache: Cache,
    callbacks: SessionCallbacks | None = None,
    concurrency: int = CONCURRENCY,
    parameters: ModelParameters | None = None,
) -> ModelSession:
    return ModelSession(
        open_client(settings, cache),
        cache,
        settings.provider,
        settings.price,
        concurrency,
        parameters or ModelParameters(),
        callbacks or SessionCallbacks(),
    )


def progress_text(stage: str, state: AskProgress) -> str:
    return (
        f"pass {stage}: {state.done:,} of {state.total:,}, {state.from_cache:,} from the cache, "
        f"{state.failed:,} failed, used {state.spent.text()}"
    )


def ask_all(
    client: ModelClient,
    requests: Sequence[Request],
    reply_type: type[ReplyT],
    concurrency: int = CONCURRENCY,
    progress: Callable[[AskProgress], None] | None = None,
) -> list[Reply[ReplyT] | Failure]:
    """The outcome of each request, in the order given; equal requests are asked once.

    An error that every request would meet, or Ctrl-C, cancels the requests that have not started.
    Earlier answers are in the cache by then.
    """
    if concurrency < 1:
        raise MemAuditError(f"concurrency is {concurrency}; it must be at least 1")
    # Equal memories in two stores are one request; asked at once, both would be paid for.
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
            # Failures replayed from the cache say nothing about the server of today.
            in_a_row = in_a_row + 1 if lost and not outcome.from_cache else 0
            if progress is not None:
                done = len(outcomes)
                progress(AskProgress(done, len(unique), cached, failed, client.spent))
            if in_a_row >= GIVE_UP_AFTER and isinstance(outcome, Failure):
                raise MemAuditError(
                    f"{in_a_row} requests in a row failed, the last with: {outcome.detail}; the "
                    "answers so far are in the cache: run again when the server is back"
                )
    except BaseException:
        client.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [outcomes[request.key] for request in requests]
