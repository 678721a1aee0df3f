"""The libraries and their bundles, made once."""

from pathlib import Path

import pytest

from memaudit.web.explorer.bundle import write_bundle
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.site import Site
from tests.web.explorer_records.libraries import hostile_records, records_library

SECONDS = 5.0


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return records_library(tmp_path_factory.mktemp("records") / "library")


@pytest.fixture(scope="session")
def site(records: Path) -> Site:
    return Site(Library([records]), seconds=SECONDS)


@pytest.fixture(scope="session")
def bundle(records: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundle") / "site"
    write_bundle(Library([records]), out, SECONDS)
    return out


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_records(tmp_path_factory.mktemp("hostile") / "library")


@pytest.fixture(scope="session")
def hostile_bundle(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hostile-bundle") / "site"
    write_bundle(Library([hostile]), out, SECONDS)
    return out
