"""A lint report as JSON, with a model for whoever reads it, and as SARIF."""

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any, Literal
from urllib.parse import quote

from memaudit.kernel.exact import plain
from memaudit.kernel.io.file_model import Count, ExactText, FileModel, WithinOne
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.number_text import rounded
from memaudit.kernel.version import VERSION as PROGRAM
from memaudit.linting.findings import RULES, Finding, LintReport
from memaudit.linting.smallest_store import SmallestStore

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


SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def lint_data(report: LintReport) -> dict[str, Any]:
    """The report as `LintFile` reads it."""
    smallest = report.smallest
    return {
        "format": FORMAT,
        "version": VERSION,
        "store": report.store,
        "digest": report.digest,
        "package": report.package or None,
        "memories": report.memories,
        "cost": plain(report.cost),
        "cost_rule": report.cost_rule,
        "units": report.units,
        "unweighted_units": report.unweighted_units,
        "is_estimate": report.is_estimate,
        "value": plain(smallest.value) if smallest is not None else None,
        "notes": list(report.notes),
        "rules": [_rule(report, name) for name in RULES],
        "findings": [
            {
                "rule": finding.rule,
                "severity": finding.severity,
                "memories": list(finding.memories),
                "message": finding.message,
                "evidence": [asdict(text) for text in finding.evidence],
                "cost": plain(finding.cost),
                "keep": finding.keep,
            }
            for finding in report.findings
        ],
        "smallest": [_smallest(report, store) for store in smallest.stores] if smallest else [],
    }


def _rule(report: LintReport, name: str) -> dict[str, Any]:
    rule = RULES[name]
    data: dict[str, Any] = {
        "rule": name,
        "title": rule.title,
        "severity": rule.severity,
        "meaning": rule.meaning,
    }
    if name in report.unmeasured:
        return {**data, "findings": None, "unmeasured": report.unmeasured[name]}
    memories, cost = report.share(name)
    return {
        **data,
        "findings": report.counts[name],
        "memories": memories,
        "memory_share": _share(memories, report.memories),
        "cost": plain(cost),
        "cost_share": _share(cost, report.cost),
    }


def _smallest(report: LintReport, store: SmallestStore) -> dict[str, Any]:
    return {
        "share": plain(store.share),
        "value": plain(store.value),
        "cost": plain(store.cost),
        "cost_share": _share(store.cost, report.cost),
        "memories": list(store.memories),
        "certified": store.certified,
        "proven": report.proven(store),
        "at_least": plain(store.at_least),
    }


def _share(part: Fraction | int, whole: Fraction | int) -> float:
    return min(1.0, rounded(Fraction(part) / whole)) if whole else 0.0


def sarif(report: LintReport, store: ExportedStore) -> dict[str, Any]:
    """The findings as SARIF 2.1.0; entries of documents with their lines."""
    places = {memory.id: memory for memory in store.memories}
    first = next(iter(store.origin.files), store.name)

    def location(id: str) -> dict[str, Any]:
        memory = places.get(id)
        lines = memory.lines if memory is not None else None
        file = (
            memory.document
            if memory is not None and memory.document in store.origin.files
            else first
        )
        region = {"region": {"startLine": lines[0], "endLine": lines[1]}} if lines else {}
        return {
            "physicalLocation": {"artifactLocation": {"uri": quote(file)}, **region},
            "logicalLocations": [{"name": id, "kind": "member"}],
        }

    rules: list[Mapping[str, Any]] = [
        {
            "id": name,
            "name": rule.title,
            "shortDescription": {"text": rule.meaning},
            "defaultConfiguration": {"level": rule.severity},
        }
        for name, rule in RULES.items()
    ]

    def text_of(finding: Finding) -> str:
        return " | ".join([finding.message, *(text.text for text in finding.evidence)])

    results = [
        {
            "ruleId": finding.rule,
            "ruleIndex": list(RULES).index(finding.rule),
            "level": finding.severity,
            "message": {
                "text": " | ".join([finding.message, *(text.text for text in finding.evidence)])
            },
            "locations": [location(id) for id in finding.memories] or [location("")],
        }
        for finding in report.findings
    ]
    driver = {"name": "memaudit lint", "version": PROGRAM, "rules": rules}
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        ],
    }
