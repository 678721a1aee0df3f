"""What lint looks for in a store, what it reports, and which findings break a gate."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from memaudit.kernel.errors import ParameterError
from memaudit.kernel.io.store_file import Memory
from memaudit.kernel.number_text import short_exact
from memaudit.kernel.words.text import one_line, shortened
from memaudit.linting.secrets import masked
from memaudit.linting.smallest_store import SmallestStore, SmallestStores

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

LONGEST_TEXT = 300
"""Characters of a memory or turn that a finding quotes."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that lint looks for."""

    title: str
    severity: Severity
    needs: str
    meaning: str


STORE, CONVERSATION, UNITS = "the store", "the conversation", "a package with units"
RULES: Mapping[str, Rule] = {
    "secrets": Rule("Secrets", "error", STORE, "A key, token, password or card number is stored."),
    "personal-data": Rule(
        "Personal data",
        "warning",
        STORE,
        "An e-mail address, phone number or account number is stored.",
    ),
    "limits": Rule("Limits", "warning", STORE, "A limit of the system cuts memories off."),
    "duplicates": Rule(
        "Duplicates", "warning", STORE, "Several memories say the same. All copies but one can go."
    ),
    "contradictions": Rule(
        "Contradictions",
        "warning",
        STORE,
        "Two active memories give one attribute two values, so one of them is stale or wrong.",
    ),
    "unsupported": Rule(
        "Unsupported",
        "warning",
        CONVERSATION,
        "Nothing in the conversation says this, or only a part of it.",
    ),
    "stale": Rule(
        "Stale",
        "warning",
        UNITS,
        "An active memory says what no longer holds, and nothing about the change.",
    ),
    "retired": Rule(
        "Wrongly retired",
        "warning",
        UNITS,
        "A deleted or superseded memory says what still holds, and no active memory does.",
    ),
    "lost-updates": Rule(
        "Lost updates",
        "warning",
        f"{UNITS} and an earlier export",
        "An earlier export covered a unit, and this one does not.",
    ),
    "junk": Rule(
        "Junk for these units",
        "note",
        UNITS,
        "The memory covers no unit. It is worthless for these units, not in general.",
    ),
    "redundant": Rule(
        "Redundant for these units",
        "note",
        UNITS,
        "The memory adds nothing beside the rest. One may go; whether all may, the smallest store "
        "tells.",
    ),
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """A text that a finding rests on: a memory, a turn or a unit. Secrets are masked."""

    what: str
    id: str
    text: str


def evidence(what: str, id: str, text: str) -> Evidence:
    """A quoted text, with secrets masked before it is cut."""
    return Evidence(what, id, shortened(masked(one_line(text)), LONGEST_TEXT))


def quoted(memory: Memory) -> Evidence:
    return evidence("memory", memory.id, memory.text)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found, with the memories it is about."""

    rule: str
    memories: tuple[str, ...]
    message: str
    evidence: tuple[Evidence, ...] = ()
    cost: Fraction = Fraction(0)
    """What would be saved by doing something about it."""
    keep: str | None = None
    """The copy to keep, of memories that say the same; the newer one, of two that disagree."""

    @property
    def severity(self) -> Severity:
        return RULES[self.rule].severity


@dataclass(frozen=True, slots=True)
class LintReport:
    """Everything that was found in a store, and what could not be looked for."""

    store: str
    digest: str
    memories: int
    cost: Fraction
    cost_rule: str
    findings: tuple[Finding, ...]
    unmeasured: Mapping[str, str]
    """By rule, what is missing to look for it."""
    notes: tuple[str, ...] = ()
    """Who judged, and how far that can be trusted."""
    package: str = ""
    smallest: SmallestStores | None = None
    units: int = 0
    unweighted_units: int = 0
    """Units that no question requires: nothing is said about them."""
    model: str = ""
    """Who compared memories with each other and with turns; by words if it is empty."""
    is_estimate: bool = False
    """Whether the units were judged by a guess, so that nothing may be deleted for it."""
    costs: Mapping[str, Fraction] = field(default_factory=dict)
    """By id, what each memory that was looked over takes: of an entry of a file, its own lines."""

    @property
    def counts(self) -> dict[str, int]:
        """Findings by rule, for every rule that was looked for."""
        found = Counter(finding.rule for finding in self.findings)
        return {rule: found[rule] for rule in RULES if rule not in self.unmeasured}

    def proven(self, store: SmallestStore) -> str:
        """How sure a smallest store is, in words."""
        least = short_exact(store.at_least)
        known = "certified" if store.certified else f"not proven: at least {least} are needed"
        if not self.is_estimate:
            return known
        return (
            "solved exactly, but from estimated labels"
            if store.certified
            else (f"{known}, from estimated labels")
        )

    def of(self, rule: str) -> list[Finding]:
        return [finding for finding in self.findings if finding.rule == rule]

    def share(self, rule: str) -> tuple[int, Fraction]:
        """How many memories the findings of a rule are about, and what they would save."""
        found = self.of(rule)
        ids = {id for finding in found for id in finding.memories}
        return len(ids), sum((finding.cost for finding in found), Fraction(0))


MOST_DIGITS = 9


def check_gate(fail_on: Sequence[str]) -> None:
    """Refuse what is no entry of a gate, before anything is looked for."""
    for entry in fail_on:
        name, equals, most = entry.partition("=")
        if name not in SEVERITIES and name not in RULES:
            known = ", ".join((*SEVERITIES, *RULES))
            raise ParameterError(
                "{fail_on} {entry}: {name} is none of {known}",
                entry=repr(entry),
                name=repr(name),
                known=known,
            )
        if equals and not (most.isdecimal() and len(most) <= MOST_DIGITS):
            raise ParameterError(
                "{fail_on} {entry}: what follows = is not a number", entry=repr(entry[:60])
            )


def failing(report: LintReport, fail_on: Sequence[str]) -> list[str]:
    """What breaks a gate, in words. An entry is a rule, a severity, or RULE=N for more than N."""
    check_gate(fail_on)
    broken: dict[str, str] = {}
    for entry in fail_on:
        name, _, most = entry.partition("=")
        rules = [rule for rule in RULES if name in (rule, RULES[rule].severity)]
        allowed = int(most or 0)
        # A gate that cannot be decided must not pass.
        missing = [rule for rule in rules if name in RULES and rule in report.unmeasured]
        if missing:
            raise ParameterError(
                "{fail_on} {entry}: cannot be decided, {what}",
                entry=entry,
                what=report.unmeasured[missing[0]],
            )
        number = sum(len(report.of(rule)) for rule in rules)
        if number > allowed:
            broken[name] = f"{name}: {number} found" + (f", {allowed} allowed" if allowed else "")
    return list(broken.values())


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """By rule, the most expensive first."""
    place = {rule: at for at, rule in enumerate(RULES)}
    return tuple(
        sorted(findings, key=lambda finding: (place[finding.rule], -finding.cost, finding.memories))
    )
