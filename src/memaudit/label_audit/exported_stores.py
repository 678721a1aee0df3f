"""Exported stores beside the packages they were written for."""

from collections.abc import Iterator, Sequence

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.scoring.judged_store import examples_of, written
from memaudit.scoring.judges.protocol import Judge
from memaudit.scoring.package_scores import refuse_equal_names
from memaudit.scoring.union import WrittenStore


def written_for(
    packages: Sequence[Package], stores: Sequence[ExportedStore], judge: Judge
) -> Iterator[tuple[Package, list[WrittenStore]]]:
    """Every package with its stores; a store of many examples may lack some of the packages.

    A store that names no examples is about one conversation, so there must be one package.
    """
    refuse_equal_names(stores)
    for store in stores:
        if len(packages) > 1 and not examples_of(store):
            raise MemAuditError(
                f"{store.name!r} does not say which package a memory was written for; give the "
                "one package it is about"
            )
        if not any(_is_for(store, package) for package in packages):
            raise MemAuditError(f"{store.name!r} was written for none of these packages")
    for package in packages:
        own = [store for store in stores if _is_for(store, package)]
        yield package, [written(package, store, judge) for store in own]


def _is_for(store: ExportedStore, package: Package) -> bool:
    return package.name in (examples_of(store) or {package.name})
