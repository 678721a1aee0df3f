"""Stores of many packages: one sheet a package, and what could not be scored, counted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memaudit.adapters.store import ExportedStore
from memaudit.audits.judges.protocol import NotJudged
from memaudit.audits.sheet import Scoring, Sheet, refuse_equal_names, scored
from memaudit.audits.written import examples_of, out_of_pool, written
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package

OUT_OF_POOL = "out of the scoring pool"
NO_STORE = "no store was written for it"
NO_PACKAGE = "no such package"


@dataclass(frozen=True, slots=True)
class Unscored:
    """A package, or one store of it, without scores; `store` is None for all of them."""

    package: str
    store: str | None
    reason: str


def sheets(
    packages: Sequence[Package], stores: Sequence[ExportedStore], scoring: Scoring
) -> Iterator[Sheet | Unscored]:
    """Every package with the stores that were written for it, in order; what is missing is said."""
    refuse_equal_names(stores)
    names = {package.name for package in packages}
    for store in stores:
        examples = examples_of(store)
        if not examples:
            raise MemAuditError(
                f"{store.name!r} does not say which package each memory was written for (the "
                "field example); score it on one package"
            )
        yield from (Unscored(name, store.name, NO_PACKAGE) for name in sorted(examples - names))
    for package in packages:
        yield from _one(package, stores, scoring)


def _one(
    package: Package, stores: Sequence[ExportedStore], scoring: Scoring
) -> Iterator[Sheet | Unscored]:
    if out_of_pool(package):
        yield Unscored(package.name, None, OUT_OF_POOL)
        return
    there = [store for store in stores if package.name in examples_of(store)]
    if not there:
        yield Unscored(package.name, None, NO_STORE)
        return
    exported, kept = [], []
    for store in there:
        try:
            kept.append(written(package, store, scoring.judges[store.name], scoring.salience))
            exported.append(store)
        except NotJudged as reason:
            yield Unscored(package.name, store.name, str(reason))
    if kept:
        yield scored(package, exported, kept, scoring)
