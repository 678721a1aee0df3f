"""The libraries, their sites and their bundles, made once."""

from pathlib import Path

import pytest

from memaudit.web.explorer.bundle import write_bundle
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.site import Site
from tests.web.explorer.libraries import IN_FIVES, hostile_library, plain_library

SECONDS = 20.0
"""More than any package here needs: a bundle must not depend on how busy the machine is."""


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plain_library(tmp_path_factory.mktemp("plain") / "library")


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_library(tmp_path_factory.mktemp("hostile") / "library")


@pytest.fixture(scope="session")
def site(plain: Path) -> Site:
    return Site(Library([plain]), seconds=SECONDS)


@pytest.fixture(scope="session")
def bundle(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundle") / "site"
    write_bundle(Library([plain]), out, SECONDS)
    return out


@pytest.fixture(scope="session")
def hostile_few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The attacks in fewer packages, for browsers."""
    return hostile_library(tmp_path_factory.mktemp("few") / "library", IN_FIVES)


@pytest.fixture(scope="session")
def hostile_bundle(hostile_few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hostile-bundle") / "site"
    write_bundle(Library([hostile_few]), out, SECONDS)
    return out
