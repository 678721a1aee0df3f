"""The libraries, their sites and their bundles, made once."""

from functools import partial
from pathlib import Path

import pytest

from memaudit.lab.explorer.bundle import write_bundle
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import Site
from tests.lab.explorer.libraries import (
    IN_FIVES,
    hostile_library,
    plain_library,
    records_library,
)
from tests.once import made_once

SECONDS = 20.0
"""More than any package here needs: a bundle must not depend on how busy the machine is."""


def bundled(library: Path, out: Path) -> None:
    write_bundle(Library([library]), out, SECONDS)


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "plain/library", plain_library)


@pytest.fixture(scope="session")
def site(plain: Path) -> Site:
    return Site(Library([plain]), seconds=SECONDS)


@pytest.fixture(scope="session")
def bundle(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "bundle", partial(bundled, plain))


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "records/library", records_library)


@pytest.fixture(scope="session")
def records_site(records: Path) -> Site:
    return Site(Library([records]), seconds=SECONDS)


@pytest.fixture(scope="session")
def records_bundle(records: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "records-bundle", partial(bundled, records))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "hostile/library", hostile_library)


@pytest.fixture(scope="session")
def hostile_few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The attacks in fewer packages and records, for browsers and bundles."""
    return made_once(tmp_path_factory, "few/library", partial(hostile_library, corpus=IN_FIVES))


@pytest.fixture(scope="session")
def hostile_bundle(hostile_few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "hostile-bundle", partial(bundled, hostile_few))
