"""No proxy and no real key reaches these tests; two conversations are built once for many."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.models.server import Served, serving
from tests.natural.passes.building import Made, live, make
from tests.natural.passes.fake_model import plays

KEYS = ("MEMAUDIT_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENAI_ORG_ID")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture(autouse=True, scope="package")
def _clean_environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in (*KEYS, *PROXIES, *(one.lower() for one in PROXIES)):
            patch.delenv(name, raising=False)
        yield


@dataclass(frozen=True)
class Built:
    """A finished live build, and everything that reached the server."""

    folder: Path
    made: Made
    served: Served


@pytest.fixture(scope="package")
def built(tmp_path_factory: pytest.TempPathFactory, _clean_environment: None) -> Built:
    """Two embedded conversations with adjudication and spot-check, over the wire."""
    pytest.importorskip("openai", reason="pip install 'memaudit[models]'")
    folder = tmp_path_factory.mktemp("built")
    with serving(plays) as served:
        return Built(folder, make(folder, live(served.url)), served)
