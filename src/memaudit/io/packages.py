"""Packages on disk: one JSON file, a folder of tables, or the published artifact's folder."""

import os
from pathlib import Path

from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.core.package import Package
from memaudit.io.folder import write_package_folder
from memaudit.io.single import write_single
from memaudit.io.validate import examine

PathLike = str | os.PathLike[str]


def read_packages(path: PathLike) -> list[Package]:
    """Every package at a path; the published layout holds many."""
    packages, problems = examine(Path(path))
    if problems:
        raise InvalidPackage(problems, str(path))
    if not packages:
        raise MemAuditError(f"{path} holds no package")
    return packages


def read_package(path: PathLike) -> Package:
    """The one package at a path."""
    packages = read_packages(path)
    if len(packages) > 1:
        names = ", ".join(repr(package.name) for package in packages[:3])
        raise MemAuditError(
            f"{path} holds {len(packages)} packages ({names}, ...) where one was expected; "
            "convert the one you want, or read them all"
        )
    return packages[0]


def write_package(package: Package, path: PathLike) -> None:
    """One JSON file where the path ends in .json, else a folder of tables."""
    if Path(path).suffix.lower() == ".json":
        write_single(package, Path(path))
    else:
        write_package_folder(package, Path(path))
