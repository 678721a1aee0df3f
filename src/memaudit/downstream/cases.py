"""Packages and stores put together: every store for every package, or an error that says why."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from memaudit.adapters.store import ExportedStore, store_digest
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.package import Package
from memaudit.downstream.holding import Holding
from memaudit.downstream.spec import Case
from memaudit.downstream.stores import exported_holding, writer_holding
from memaudit.formats.export_warnings import missing_memories
from memaudit.scoring.caveats import unread_rows
from memaudit.scoring.judged_store import examples_of, is_out_of_pool
from memaudit.scoring.judges import Judge
from memaudit.scoring.pruning import POLICIES, Policy
from memaudit.writers.protocol import Writer


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which stores are diagnosed within which budget, and how one that does not fit is cut."""

    budget: Fraction
    stores: Sequence[ExportedStore] = ()
    judge: Judge | None = None
    writers: Sequence[Writer] = ()
    policy: Policy = "recency"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases, packages that were left out and why, and the settings that made them."""

    cases: tuple[Case, ...]
    settings: dict[str, Any]
    left_out: dict[str, str] = field(default_factory=dict)


def named_policy(name: str) -> Policy:
    """The way of cutting a store of that name."""
    # Cutting with the question in sight would hide what retrieval has to find.
    known: dict[str, Policy] = {one: one for one in POLICIES if one != "query_salience"}
    if name not in known:
        raise MemAuditError(f"unknown policy {name!r}; choose from {', '.join(known)}")
    return known[name]


def make_cases(packages: Sequence[Package], wanted: Wanted) -> Cases:
    """Every package of the scoring pool that has questions, with what every store holds for it."""
    left_out = {package.name: why for package in packages if (why := _unfit(package))}
    fit = [package for package in packages if package.name not in left_out]
    if not fit:
        raise MemAuditError(f"there is nothing to diagnose: {next(iter(left_out.values()))}")
    if len(fit) > 1:
        for store in wanted.stores:
            _refuse_unnamed(store)
    cases = tuple(Case(package, tuple(_holdings(package, wanted))) for package in fit)
    return Cases(
        cases,
        {
            "budget": plain(wanted.budget),
            "policy": wanted.policy,
            "kept_by": _kept_by(cases),
            "judge": wanted.judge.name if wanted.judge else None,
            "coverage_is_an_estimate": bool(wanted.judge and wanted.judge.is_estimate),
            "exported": {store.name: _identity(store) for store in wanted.stores},
            "writers": [writer.name for writer in wanted.writers],
            "peeking_writers": [writer.name for writer in wanted.writers if writer.peeks],
            "seed": wanted.seed,
            "left_out": left_out,
        },
        left_out,
    )


def _holdings(package: Package, wanted: Wanted) -> Iterator[Holding]:
    for store in wanted.stores:
        if wanted.judge is None:
            raise MemAuditError("exported stores need a judge of what their memories cover")
        yield exported_holding(package, store, wanted.judge, wanted.budget, wanted.policy)
    for writer in wanted.writers:
        yield writer_holding(package, writer, wanted.budget, wanted.seed)


def _kept_by(cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    """By store, in how many packages it came to fit the budget in which way."""
    ways: dict[str, Counter[str]] = {}
    for case in cases:
        for holding in case.holdings:
            ways.setdefault(holding.name, Counter())[holding.kept_by] += 1
    return {name: dict(sorted(found.items())) for name, found in ways.items()}


def _identity(store: ExportedStore) -> dict[str, Any]:
    """Which store it is, and what of its export is not there."""
    return {
        "digest": store_digest(store),
        "unread_rows": unread_rows(store),
        "incomplete": list(missing_memories(store.warnings)),
    }


def _unfit(package: Package) -> str:
    if is_out_of_pool(package):
        return f"{package.name!r} is out of the scoring pool"
    return "" if package.queries else f"{package.name!r} has no question"


def _refuse_unnamed(store: ExportedStore) -> None:
    """Of several packages, a store must say which one a memory was written for."""
    if store.memories and not examples_of(store):
        raise MemAuditError(
            f"{store.name!r} does not say which package its memories were written for; diagnose "
            "one package at a time"
        )
