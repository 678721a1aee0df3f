"""All scores of one package: every store at every budget, with losses and unit kinds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.adapters.store import ExportedStore
from memaudit.audits.account import account_row
from memaudit.audits.diagnosis import Diagnosis, NoDiagnosis, diagnose
from memaudit.audits.exported import ExportAudit, StoreScore
from memaudit.audits.judges.protocol import Judge
from memaudit.audits.kinds import KindRow, kind_data, kind_rows
from memaudit.audits.salience import OWN_SALIENCE, Salience
from memaudit.audits.scorecard import diagnosis_row, scorecard
from memaudit.audits.union import WrittenStore
from memaudit.audits.written import written
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package

FORMAT = "memaudit-scores"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Scoring:
    """How stores are scored, whatever the package. Judges are by store: one for all, or one each
    where files of labels name memories by ids that stores share."""

    budgets: tuple[Fraction, ...]
    judges: Mapping[str, Judge]
    salience: Salience = OWN_SALIENCE
    group_cap: int | None = None
    seconds: float | None = None

    @property
    def judge_name(self) -> str:
        """The judge, or the judges; files of one kind are listed after it."""
        return ", ".join(dict.fromkeys(judge.name for judge in self.judges.values()))

    @property
    def is_estimate(self) -> bool:
        """Whether any coverage is a guess."""
        return any(judge.is_estimate for judge in self.judges.values())


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One store at one budget."""

    score: StoreScore
    diagnosis: Diagnosis | NoDiagnosis
    kinds: tuple[KindRow, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One package, its stores as they were exported and as they are scored, and their rows."""

    package: Package
    digest: str
    scoring: Scoring
    exported: tuple[ExportedStore, ...]
    stores: tuple[WrittenStore, ...]
    rows: tuple[SheetRow, ...]


def sheet(package: Package, exported: Sequence[ExportedStore], scoring: Scoring) -> Sheet:
    """Score stores against one package and each other."""
    refuse_equal_names(exported)
    stores = tuple(
        written(package, store, scoring.judges[store.name], scoring.salience) for store in exported
    )
    return scored(package, exported, stores, scoring)


def scored(
    package: Package,
    exported: Sequence[ExportedStore],
    stores: Sequence[WrittenStore],
    scoring: Scoring,
) -> Sheet:
    """The same for stores that are judged already."""
    audit = ExportAudit(package, stores, scoring.group_cap, scoring.seconds)
    rows = tuple(_row(audit, store, budget) for budget in scoring.budgets for store in audit.stores)
    digest = audit.package_optimum(scoring.budgets[0]).digest
    return Sheet(package, digest, scoring, tuple(exported), audit.stores, rows)


def refuse_equal_names(stores: Sequence[ExportedStore]) -> None:
    """Stores are told apart by name."""
    if len({store.name for store in stores}) < len(stores):
        raise MemAuditError("two stores have the same name; import one of them with another --name")


def _row(audit: ExportAudit, store: WrittenStore, budget: Fraction) -> SheetRow:
    score = audit.score(store, budget)
    found: Diagnosis | NoDiagnosis
    try:
        found = diagnose(audit, store, budget)
    except NoDiagnosis as reason:
        found = reason
    told = None if isinstance(found, NoDiagnosis) else found
    return SheetRow(score, found, tuple(kind_rows(audit.package, score.score.unit_values, told)))


def sheet_data(found: Sheet) -> dict[str, Any]:
    """As plain data: what `--json` prints of one package."""
    scoring, package = found.scoring, found.package
    cap = package.group_cap if scoring.group_cap is None else scoring.group_cap
    return {
        "format": FORMAT,
        "version": VERSION,
        "package": package.name,
        "digest": found.digest,
        "cost_rule": package.cost_rule,
        "group_cap": cap,
        "judge": scoring.judge_name,
        "coverage_is_an_estimate": scoring.is_estimate,
        "undecided_cells": sum(len(store.account.undecided) for store in found.stores),
        "stores": [
            account_row(store, kept.account)
            for store, kept in zip(found.exported, found.stores, strict=True)
        ],
        "scores": [
            {
                **scorecard(row.score),
                "unit_kinds": {one.kind: kind_data(one) for one in row.kinds},
                "diagnosis": diagnosis_row(row.diagnosis),
            }
            for row in found.rows
        ],
    }
