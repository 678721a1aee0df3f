"""What the passes used, what failed and what was refused, conversation by conversation."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from memaudit.core.exact import plain
from memaudit.models.outcome import Failure, Reply, ReplyT, Usage

MOST_DETAIL = 2_000
"""Letters of a refused item that are kept; raw replies are kept whole."""


@dataclass(frozen=True, slots=True)
class Trouble:
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
class Ledger:
    """Everything that is counted while packages are built."""

    troubles: list[Trouble] = field(default_factory=list)
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
                Trouble(
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
        self.troubles.append(Trouble(conversation, stage, what, detail[:MOST_DETAIL]))

    def of(self, conversation: str) -> list[Trouble]:
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
