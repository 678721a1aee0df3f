"""Where every pass hands in its requests: estimated, asked, counted, and stopped if pending."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memaudit.core.counting import counted
from memaudit.core.errors import MemAuditError
from memaudit.models.cache import Cache
from memaudit.models.contents import spent_text
from memaudit.models.estimate import confirm, estimate
from memaudit.models.fan_out import Progress, ask_all
from memaudit.models.outcome import Failure, FailureKind, ReplyT
from memaudit.models.price import Price
from memaudit.models.providers import Asking, Settings, open_client
from memaudit.models.request import Parameters, Request
from memaudit.natural.passes.ledger import Ledger

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
class Talk:
    """How a desk talks to the user: lines, a question before spending, and progress."""

    show: Callable[[str], None] = _silent
    agree: Callable[[], bool] = _agreed
    yes: bool = False
    progress: Callable[[str, Progress], None] | None = None


@dataclass(slots=True)
class Desk:
    """One run's client, cache and ledger; requests of all passes go through it."""

    asking: Asking
    cache: Cache
    provider: str = "live"
    price: Price | None = None
    batch_file: Path = Path("memaudit-batch.jsonl")
    concurrency: int = 8
    parameters: Parameters = field(default_factory=Parameters)
    talk: Talk = field(default_factory=Talk)
    ledger: Ledger = field(default_factory=Ledger)

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
        show = self.talk.progress
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
            self.talk.show(f"pass {stage}: {share} failed, the first with: {lost[0].detail}")
        for (conversation, _), outcome in zip(asked, outcomes, strict=True):
            self.ledger.add(conversation, stage, outcome)
        return [None if isinstance(one, Failure) else one.value for one in outcomes]

    def _announce(self, stage: str, requests: Sequence[Request]) -> None:
        """The estimate, and a yes before money is spent; a replay spends none."""
        if self.provider == "offline" or not requests:
            return
        found = estimate(requests, self.cache, self.price)
        models = ", ".join(sorted(Counter(one.model for one in requests)))
        self.talk.show(f"pass {stage}, {models}:")
        confirm(
            found, self.talk.show, self.talk.agree, yes=self.talk.yes or self.provider == "batch"
        )


def open_desk(
    settings: Settings,
    cache: Cache,
    batch_file: Path,
    talk: Talk | None = None,
    concurrency: int = 8,
    parameters: Parameters | None = None,
) -> Desk:
    """A desk for a provider."""
    return Desk(
        open_client(settings, cache), cache, settings.provider, settings.price, batch_file,
        concurrency, parameters or Parameters(), talk or Talk(),
    )  # fmt: skip


def progress_text(stage: str, state: Progress) -> str:
    """One line of progress, with what was spent."""
    return (
        f"pass {stage}: {state.done:,} of {state.total:,}, {state.from_cache:,} from the cache, "
        f"{state.failed:,} failed, used {spent_text(state.spent)}"
    )
