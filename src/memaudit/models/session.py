"""A session with a model: requests are estimated, confirmed, asked and counted."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.text import counted
from memaudit.models.cache import Cache, spent_text
from memaudit.models.client import Failure, FailureKind, Reply, ReplyT, Usage
from memaudit.models.fan_out import Progress, ask_all
from memaudit.models.providers import ModelSettings, ProviderClient, open_client
from memaudit.models.request import Parameters, Request
from memaudit.models.spending import Price, confirm, estimate

MOST_DETAIL = 2_000
"""Letters of a refused item that are kept; raw replies are kept whole."""


@dataclass(frozen=True, slots=True)
class ReplyProblem:
    """One reply that never came, or one item of a reply that was refused."""

    conversation: str
    stage: str
    what: str
    """The failure's kind, or the name of the rejection."""
    detail: str
    raw: str = ""
    key: str = ""
    failure: bool = False

    def to_json(self) -> dict[str, str | bool]:
        """A row of the side file."""
        return {
            "conversation": self.conversation, "pass": self.stage, "what": self.what,
            "whole_reply": self.failure, "detail": self.detail, "raw": self.raw,
            "request": self.key,
        }  # fmt: skip


@dataclass(slots=True)
class SessionLedger:
    """Everything that is counted while packages are built."""

    troubles: list[ReplyProblem] = field(default_factory=list)
    usage: defaultdict[tuple[str, str], Usage] = field(default_factory=lambda: defaultdict(Usage))
    """By conversation and pass: what the replies cost when they were asked for, replayed or not."""
    replies: Counter[tuple[str, str]] = field(default_factory=Counter)
    served: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    """The models the servers say they used."""

    def add(self, conversation: str, stage: str, outcome: Reply[ReplyT] | Failure) -> None:
        """Count one outcome."""
        place = (conversation, stage)
        self.usage[place] += outcome.usage
        if isinstance(outcome, Failure):
            self.troubles.append(
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
        self.troubles.append(ReplyProblem(conversation, stage, what, detail[:MOST_DETAIL]))

    def of(self, conversation: str) -> list[ReplyProblem]:
        """The troubles of one conversation, in a fixed order."""
        own = [one for one in self.troubles if one.conversation == conversation]
        return sorted(own, key=lambda one: (one.stage, one.what, one.key, one.detail))

    def counts(self, conversation: str, failure: bool) -> dict[str, dict[str, int]]:
        """Whole replies that failed, or items that were refused: by pass and kind."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for one in self.of(conversation):
            if one.failure is failure:
                found[one.stage][one.what] += 1
        return {stage: dict(sorted(kinds.items())) for stage, kinds in sorted(found.items())}

    def spent(self, conversation: str) -> dict[str, dict[str, int | str]]:
        """Tokens and cost by pass."""
        return {
            stage: usage_json(usage)
            for (owner, stage), usage in sorted(self.usage.items())
            if owner == conversation
        }


def usage_json(usage: Usage) -> dict[str, int | str]:
    """A usage for a manifest; the cost is of the calls with a known price."""
    return {
        "calls": usage.calls, "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens, "cost": str(plain(usage.cost)),
        "unpriced": usage.unpriced, "unmeasured": usage.unmeasured,
    }  # fmt: skip


_NOBODY_ASKED = {
    FailureKind.NOT_IN_CACHE: "run with a live model, or import the cache the build was made with",
    FailureKind.CAP: "what was answered is in the cache: raise the cap and run again",
}
"""Failures that say nothing about the model: to build on without the replies would be wrong."""


def _silent(_: str) -> None:
    """Show nothing."""


def _agreed() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class SessionCallbacks:
    """How a session talks to the user: lines, a question before spending, and progress."""

    show: Callable[[str], None] = _silent
    agree: Callable[[], bool] = _agreed
    yes: bool = False
    progress: Callable[[str, Progress], None] | None = None


@dataclass(slots=True)
class ModelSession:
    """One run's client, cache and ledger; requests of all passes go through it."""

    asking: ProviderClient
    cache: Cache
    provider: str = "live"
    price: Price | None = None
    batch_file: Path = Path("memaudit-batch.jsonl")
    concurrency: int = 8
    parameters: Parameters = field(default_factory=Parameters)
    callbacks: SessionCallbacks = field(default_factory=SessionCallbacks)
    ledger: SessionLedger = field(default_factory=SessionLedger)

    def ask(
        self,
        stage: str,
        asked: Sequence[tuple[str, Request]],
        reply_type: type[ReplyT],
        hold: bool = False,
    ) -> list[ReplyT | None]:
        """The replies in order, None where there is none; each is asked for a conversation.

        A failed reply is in the ledger. With a batch queue, `hold` waits for the next pass before
        the run stops, so that passes that do not need each other go into one file.
        """
        requests = [request for _, request in asked]
        self._announce(stage, requests)
        show = self.callbacks.progress
        outcomes = ask_all(
            self.asking.client, requests, reply_type, self.concurrency,
            None if show is None else (lambda state: show(stage, state)),
        )  # fmt: skip
        if not hold and self.asking.batch is not None:
            self.asking.batch.stop_if_pending(self.batch_file)
        lost = [one for one in outcomes if isinstance(one, Failure)]
        for kind, hint in _NOBODY_ASKED.items():
            if number := sum(one.kind is kind for one in lost):
                first = next(one.detail for one in lost if one.kind is kind)
                raise MemAuditError(
                    f"pass {stage}: {number} of {len(outcomes)} requests were not answered "
                    f"({first}); {hint}"
                )
        if lost:
            share = f"{len(lost):,} of {counted(len(outcomes), 'request')}"
            self.callbacks.show(f"pass {stage}: {share} failed, the first with: {lost[0].detail}")
        for (conversation, _), outcome in zip(asked, outcomes, strict=True):
            self.ledger.add(conversation, stage, outcome)
        return [None if isinstance(one, Failure) else one.value for one in outcomes]

    def _announce(self, stage: str, requests: Sequence[Request]) -> None:
        """The estimate, and a yes before money is spent; a replay spends none."""
        if self.provider == "offline" or not requests:
            return
        found = estimate(requests, self.cache, self.price)
        models = ", ".join(sorted(Counter(one.model for one in requests)))
        self.callbacks.show(f"pass {stage}, {models}:")
        confirm(
            found,
            self.callbacks.show,
            self.callbacks.agree,
            yes=self.callbacks.yes or self.provider == "batch",
        )


def open_session(
    settings: ModelSettings,
    cache: Cache,
    batch_file: Path,
    callbacks: SessionCallbacks | None = None,
    concurrency: int = 8,
    parameters: Parameters | None = None,
) -> ModelSession:
    """A session for a provider."""
    return ModelSession(
        open_client(settings, cache), cache, settings.provider, settings.price, batch_file,
        concurrency, parameters or Parameters(), callbacks or SessionCallbacks(),
    )  # fmt: skip


def progress_text(stage: str, state: Progress) -> str:
    """One line of progress, with what was spent."""
    return (
        f"pass {stage}: {state.done:,} of {state.total:,}, {state.from_cache:,} from the cache, "
        f"{state.failed:,} failed, used {spent_text(state.spent)}"
    )
