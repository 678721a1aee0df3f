"""A lint report as JSON, and as SARIF for code scanning."""

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any
from urllib.parse import quote

from memaudit.adapters.store import ExportedStore
from memaudit.core.exact import plain
from memaudit.core.number_text import rounded
from memaudit.core.version import VERSION as PROGRAM
from memaudit.formats.lint_file import FORMAT, VERSION
from memaudit.hygiene.findings import RULES, LintReport
from memaudit.hygiene.smallest_store import SmallestStore

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SARIF_LEVELS = {"error": "error", "warning": "warning", "note": "note"}


def lint_data(report: LintReport) -> dict[str, Any]:
    """The report in the form of formats/lint_file.py."""
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
                "rule": one.rule,
                "severity": one.severity,
                "memories": list(one.memories),
                "message": one.message,
                "evidence": [asdict(text) for text in one.evidence],
                "cost": plain(one.cost),
                "keep": one.keep,
            }
            for one in report.findings
        ],
        "smallest": [_smallest(report, one) for one in smallest.stores] if smallest else [],
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


def _smallest(report: LintReport, one: SmallestStore) -> dict[str, Any]:
    return {
        "share": plain(one.share),
        "value": plain(one.value),
        "cost": plain(one.cost),
        "cost_share": _share(one.cost, report.cost),
        "memories": list(one.memories),
        "certified": one.certified,
        "proven": report.proven(one),
        "at_least": plain(one.at_least),
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
            "defaultConfiguration": {"level": SARIF_LEVELS[rule.severity]},
        }
        for name, rule in RULES.items()
    ]
    results = [
        {
            "ruleId": one.rule,
            "ruleIndex": list(RULES).index(one.rule),
            "level": SARIF_LEVELS[one.severity],
            "message": {"text": " | ".join([one.message, *(text.text for text in one.evidence)])},
            "locations": [location(id) for id in one.memories] or [location("")],
        }
        for one in report.findings
    ]
    driver = {"name": "memaudit lint", "version": PROGRAM, "rules": rules}
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        ],
    }
