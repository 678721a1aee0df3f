"""What a store is linted against: a package that was built, or a conversation as it is."""

from pathlib import Path

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.core.text import counted
from memaudit.io.files import open_regular
from memaudit.natural.build_folder import packages_at
from memaudit.natural.build_plan import BuildJob, plan_build
from memaudit.scoring.fed_turns import written_from

MARK = b'"memaudit-package"'
HEAD = 4096


def subject_of(path: Path, store: ExportedStore) -> Package:
    """The package at a path, or the conversation; of several the one that the store is about."""
    packages = packages_at(path) if path.is_dir() or _is_package(path) else _built(path)
    if len(packages) == 1:
        return packages[0]
    fitting = [one for one in packages if written_from(store, one)]
    if len(fitting) == 1:
        return fitting[0]
    raise MemAuditError(
        f"{path}: has {counted(len(packages), 'conversation')}, and the store {store.name!r} was "
        f"written for {'none' if not fitting else 'several'} of them; give the one to lint against"
    )


def _is_package(path: Path) -> bool:
    with open_regular(path) as file:
        return MARK in file.read(HEAD)


def _built(path: Path) -> list[Package]:
    """The packages of a conversation, with units where it has labelled questions."""
    packages = [one.package for one in plan_build(BuildJob(path)).built()]
    if not packages:
        raise MemAuditError(f"{path}: has no conversation")
    return packages
