"""A cache in numbers."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from memaudit.core.counting import counted
from memaudit.models.cache import Cache
from memaudit.models.outcome import Usage
from memaudit.models.records import Answer, Attempt


@dataclass(frozen=True, slots=True)
class Contents:
    """Counts of answers by model and template, of failures by kind, and all that was used."""

    answers: Counter[tuple[str, str, str]]
    attempts: Counter[str]
    pending: int
    used: Usage

    def lines(self) -> list[str]:
        """The counts in words."""
        return [
            f"{self.answers.total():>9,}  answers",
            *(
                f"{number:>9,}    {model}, template {template} {version[:12]}"
                for (model, template, version), number in sorted(self.answers.items())
            ),
            f"{self.attempts.total():>9,}  failed attempts",
            *(f"{number:>9,}    {kind}" for kind, number in sorted(self.attempts.items())),
            f"{self.pending:>9,}  pending",
            f"used {spent_text(self.used)}",
        ]


def contents(cache: Cache) -> Contents:
    """What a cache holds."""
    answers, attempts = list(cache.all_answers()), list(cache.all_attempts())
    return Contents(
        Counter((one.model, one.template, one.template_version) for one in answers),
        Counter(one.kind for one in attempts),
        cache.count("pending"),
        _total(answers) + _total(attempts),
    )


def _total(rows: Iterable[Answer] | Iterable[Attempt]) -> Usage:
    return sum((row.usage for row in rows), Usage())


def spent_text(usage: Usage) -> str:
    """Calls, tokens and cost in one line, with what is not known."""
    text = (
        f"{counted(usage.calls, 'call')}, {usage.prompt_tokens:,} prompt and "
        f"{usage.completion_tokens:,} reply tokens"
    )
    if usage.calls > usage.unpriced:
        text += f", ${float(usage.cost):.4f}"
    if usage.unpriced:
        text += f", {counted(usage.unpriced, 'call')} of unknown price"
    if usage.unmeasured:
        text += f", {counted(usage.unmeasured, 'call')} of unknown size"
    return text
