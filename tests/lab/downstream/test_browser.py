"""The pages in a real browser: quiet, alone, and fit for a phone."""

from pathlib import Path
from typing import Any

import pytest

from memaudit.lab.downstream.downstream_page import write_downstream
from tests.lab.sweeps.runs.report.test_browser import browser, visit

pytestmark = pytest.mark.slow

__all__ = ["browser"]  # a fixture


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("name", ["diagnosis", "hostile"])
def test_it_is_quiet_and_fits(
    browser: Any, request: pytest.FixtureRequest, tmp_path: Path, name: str, width: int
) -> None:
    """Nothing is said, asked for, or wider than the window, with everything open."""
    path = tmp_path / "page.html"
    write_downstream(request.getfixturevalue(name), path)
    seen = visit(browser, path, width)
    for details in seen.page.query_selector_all("details"):
        details.evaluate("element => element.open = true")
    root = "document.documentElement"
    assert seen.page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
    assert seen.page.locator("img, iframe, object, form, input, base").count() == 0
    assert seen.said == []
    assert seen.asked == [path.as_uri()]
    seen.page.close()
