"""Asking a model over HTTP: retries, one re-ask with the validation error, the cap."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memaudit.core.errors import MemAuditError
from memaudit.models.abilities import Abilities, Ability
from memaudit.models.completion import Completion, MalformedBody, read_completion
from memaudit.models.meter import Meter
from memaudit.models.outcome import Failure, FailureKind, Reply, ReplyT, Usage
from memaudit.models.reply_text import Invalid, validated
from memaudit.models.request import Request
from memaudit.models.retry import RetryPolicy, is_transient
from memaudit.models.secret import Secret
from memaudit.models.transport import CallFailed, Transport
from memaudit.models.wire import body, prompt_bound

_HOPELESS = {
    401: "check the API key in the environment (MEMAUDIT_API_KEY)",
    402: "the account has no credit left",
    404: "check --model and --base-url",
}
"""Statuses that every other request would get as well."""

_HOPELESS_CODES = {"insufficient_quota": "the account has no credit left"}


class ModelUnavailable(MemAuditError):
    """The server turns every request away."""


class CapReached(Exception):
    """No further call may start."""


@dataclass(slots=True)
class _Exchange:
    """One request on its way: what it used so far and how it is being asked."""

    request: Request
    ability: Ability
    usage: Usage = field(default_factory=Usage)


class LiveClient:
    """A client of one server; safe to share between threads."""

    def __init__(
        self,
        transport: Transport,
        meter: Meter | None = None,
        key: Secret | None = None,
        retry: RetryPolicy | None = None,
        provider: str = "live",
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.provider = provider
        self._transport = transport
        self._meter = meter or Meter()
        self._key = key or Secret("")
        self._retry = retry or RetryPolicy()
        self._stopped = threading.Event()
        self._sleep = sleep or self._stopped.wait
        self._abilities = Abilities()

    @property
    def spent(self) -> Usage:
        """Everything this client's calls have used."""
        return self._meter.spent

    def stop(self) -> None:
        """Start no more calls and end every pause: the run is over."""
        self._stopped.set()

    def ask(self, request: Request, reply_type: type[ReplyT]) -> Reply[ReplyT] | Failure:
        """Ask, and once more with the validation error if the reply does not validate."""
        began = time.monotonic()
        exchange = _Exchange(request, self._abilities.best(request.model))
        rejected: tuple[str, str] | None = None
        try:
            for _ in range(2):
                completion = self._completion(exchange, rejected)
                raw = self._key.hidden_in(completion.text)
                if completion.refusal:
                    refusal = self._key.hidden_in(completion.refusal)
                    return self._failure(exchange, FailureKind.REFUSED, refusal, raw or refusal)
                found = validated(raw, reply_type)
                if not isinstance(found, Invalid):
                    return Reply(
                        request.key, found.value, raw, found.parsed, exchange.usage, self.provider,
                        self._key.hidden_in(completion.served_model), exchange.ability.format.label,
                        time.monotonic() - began,
                    )  # fmt: skip
                cut = f"cut off at max_tokens = {request.parameters.max_tokens}; "
                rejected = (raw, f"{cut if completion.cut_off else ''}{found.reason}")
        except CapReached as reached:
            kind, detail = FailureKind.CAP, str(reached)
        except CallFailed as error:
            kind, detail = FailureKind.HTTP, str(error)
        else:
            kind, detail = FailureKind.INVALID, rejected[1] if rejected else ""
        return self._failure(exchange, kind, detail, rejected[0] if rejected else "")

    def _failure(self, exchange: _Exchange, kind: FailureKind, detail: str, raw: str) -> Failure:
        return Failure(exchange.request.key, kind, detail, raw, exchange.usage, self.provider)

    def _completion(self, exchange: _Exchange, rejected: tuple[str, str] | None) -> Completion:
        """The completion after as many retries as it takes and the policy allows."""
        attempt = 0
        while True:
            try:
                completion = self._call(exchange, rejected)
            except CallFailed as error:
                other = self._abilities.next_after(exchange.request.model, exchange.ability, error)
                if other is not None:
                    exchange.ability = other
                    continue
                _stop_if_hopeless(error)
                pause = self._retry.wait(exchange.request.key, attempt, error.pause)
                if not is_transient(error.status) or pause is None:
                    asked = f" (asks to wait {error.pause:g} s)" if error.pause else ""
                    error.message += f"{asked}, after {attempt} retries"
                    raise
                self._sleep(pause)
                attempt += 1
            else:
                self._abilities.worked(exchange.request.model, exchange.ability)
                return completion

    def _call(self, exchange: _Exchange, rejected: tuple[str, str] | None) -> Completion:
        """One call, within the cap and counted whatever comes of it."""
        if self._stopped.is_set():
            raise CapReached("the run was stopped")
        request, ability = exchange.request, exchange.ability
        data = body(request, ability.format, rejected, ability.token_field)
        ticket = self._meter.reserve(prompt_bound(data), request.parameters.max_tokens)
        if ticket is None:
            raise CapReached("the run's token or cost cap leaves no room for it")
        usage = Usage(calls=1, unpriced=1, unmeasured=1)  # unless we learn better
        try:
            completion = read_completion(self._transport.send(data), self._meter.price)
            usage = completion.usage
        except CallFailed as error:
            usage = usage if error.started else Usage(calls=1)
            raise
        except MalformedBody as error:
            message = self._key.hidden_in_message(str(error))
            raise CallFailed(message, error.status) from None
        finally:
            self._meter.settle(ticket, usage)
            exchange.usage += usage
        return completion


def _stop_if_hopeless(error: CallFailed) -> None:
    hint = _HOPELESS_CODES.get(error.code) or _HOPELESS.get(error.status or 0)
    if hint:
        raise ModelUnavailable(f"the model server refuses: {error}; {hint}") from None
