"""Two conversations are built once for many tests."""

import pytest

from tests.building.passes.building import FinishedBuild, live, make
from tests.building.passes.fake_model import plays
from tests.models.server import serving


@pytest.fixture(scope="package")
def built(tmp_path_factory: pytest.TempPathFactory) -> FinishedBuild:
    """Two embedded conversations with adjudication and spot-check, over the wire."""
    folder = tmp_path_factory.mktemp("built")
    with serving(plays) as served:
        return FinishedBuild(folder, make(folder, live(served.url)), served)
