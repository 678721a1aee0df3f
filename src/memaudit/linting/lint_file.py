"""What `memaudit lint --json` prints, as a model for whoever reads it."""

from typing import Literal

from memaudit.kernel.io.file_model import Count, ExactText, FileModel, WithinOne

FORMAT: Literal["memaudit-lint"] = "memaudit-lint"
VERSION: Literal[1] = 1


class EvidenceRow(FileModel):
    """A text that a finding rests on; secrets are masked."""

    what: str
    id: str
    text: str


class FindingRow(FileModel):
    rule: str
    severity: Literal["error", "warning", "note"]
    memories: tuple[str, ...]
    message: str
    evidence: tuple[EvidenceRow, ...] = ()
    cost: ExactText
    keep: str | None = None


class RuleRow(FileModel):
    """What was looked for, and what was found; `unmeasured` says what is missing otherwise."""

    rule: str
    title: str
    severity: Literal["error", "warning", "note"]
    meaning: str
    findings: Count | None
    memories: Count = 0
    memory_share: WithinOne = 0.0
    cost: ExactText = 0
    cost_share: WithinOne = 0.0
    unmeasured: str | None = None


class SmallestRow(FileModel):
    """The cheapest part of the store that keeps a share of its value."""

    share: ExactText
    value: ExactText
    cost: ExactText
    cost_share: WithinOne
    memories: tuple[str, ...]
    certified: bool
    proven: str
    """How sure it is, in words."""
    at_least: ExactText


class LintFile(FileModel):
    """The report on one store."""

    format: Literal["memaudit-lint"]
    version: Literal[1]
    store: str
    digest: str
    package: str | None = None
    memories: Count
    cost: ExactText
    cost_rule: str
    units: Count = 0
    unweighted_units: Count = 0
    is_estimate: bool = False
    """Whether units were judged by a guess: proofs hold for the guessed cells."""
    value: ExactText | None = None
    notes: tuple[str, ...] = ()
    rules: tuple[RuleRow, ...]
    findings: tuple[FindingRow, ...]
    smallest: tuple[SmallestRow, ...] = ()
