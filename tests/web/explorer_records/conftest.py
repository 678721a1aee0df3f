"""The libraries and their bundles, made once."""

from functools import partial
from pathlib import Path

import pytest

from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.site import Site
from tests.once import made_once
from tests.web.explorer.conftest import SECONDS, bundled
from tests.web.explorer_records.libraries import hostile_records, records_library


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "records/library", records_library)


@pytest.fixture(scope="session")
def site(records: Path) -> Site:
    return Site(Library([records]), seconds=SECONDS)


@pytest.fixture(scope="session")
def bundle(records: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "records-bundle", partial(bundled, records))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "hostile-records/library", hostile_records)


@pytest.fixture(scope="session")
def hostile_bundle(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "hostile-records-bundle", partial(bundled, hostile))
