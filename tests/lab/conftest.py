"""One browser for the tests of a file."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium; what it needs is imported here, so that other tests run without it."""
    from tests.lab.explorer.browsing import chromium

    with chromium() as found:
        yield found
