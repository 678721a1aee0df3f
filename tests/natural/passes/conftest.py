"""Two conversations are built once for many tests."""

import pytest

from tests.models.server import serving
from tests.natural.passes.building import FinishedBuild, live, make
from tests.natural.passes.fake_model import plays


@pytest.fixture(scope="package")
def built(tmp_path_factory: pytest.TempPathFactory) -> FinishedBuild:
    """Two embedded conversations with adjudication and spot-check, over the wire."""
    folder = tmp_path_factory.mktemp("built")
    with serving(plays) as served:
        return FinishedBuild(folder, make(folder, live(served.url)), served)
