"""The box that hostile files are opened in."""

from collections.abc import Iterator

import pytest

from tests.hardening.box import Box


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    made = Box(tmp_path_factory.mktemp("hardening") / "around" / "box")
    yield made
    made.close()
