"""The documentation site: it builds without a warning, is made from the code, and is alone."""

import functools
import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

import memaudit
from docs.generator.commands import command_page, paths
from docs.generator.fence_titles import titled
from docs.generator.hook import on_config
from docs.generator.public_names import python_page
from docs.generator.schema_page import schema_page
from memaudit.cli.main import COMMANDS
from tests.cli.running import run
from tests.docs.blocks import ROOT, pages

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; any warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(folder)))
    return folder


def test_every_page_is_built_and_can_be_reached(site: Path) -> None:
    """Those of docs and those made from the code, each in the navigation of the first page."""
    home = (site / "index.html").read_text()
    written = [Path(page).relative_to("docs") for page in pages() if page.startswith("docs/")]
    made = [Path("reference") / f"{name}.md" for name in ("commands", "python", "schema")]
    for page in (*written, *made):
        address = page.with_suffix(".html")
        assert (site / address).is_file()
        assert address == Path("index.html") or f'href="{address}"' in home


def test_nothing_is_asked_of_elsewhere(site: Path) -> None:
    """No page names a script, style, font or picture of another host."""
    loads = re.compile(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"?(?:https?:)?//[^>]*>")
    for page in site.rglob("*.html"):
        assert loads.findall(page.read_text()) == [], page.name
    for style in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text()) == []


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_in_a_browser(address: str, browser: Any) -> None:
    """Pages and the search ask their own host only, and no page is wider than a phone."""
    asked: list[str] = []
    said: list[str] = []
    page = browser.new_page(viewport={"width": 360, "height": 800})
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    for name in ("tutorial/score-a-mem0-store", "reference/python", "reference/commands"):
        page.goto(f"{address}/{name}.html", wait_until="networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
    page.set_viewport_size({"width": 1200, "height": 800})
    page.goto(f"{address}/index.html?q=tombstone")
    page.locator(".md-search-result__link").first.wait_for()
    assert {url.split("/")[2] for url in asked if not url.startswith(("blob:", "data:"))} == {
        address.partition("//")[2]
    }
    assert said == []


def test_the_command_reference_is_complete() -> None:
    """Every command and every command of a group, word for word what --help prints."""
    page = command_page()
    known = list(paths())
    assert {path[0] for path in known} == set(COMMANDS)
    assert ("label", "frame") in known
    for path in known:
        assert f" `memaudit {' '.join(path)}`\n" in page
        shown = re.sub(r"^Usage: \S+", "Usage: memaudit", run(*path, "--help").stdout.strip())
        assert shown in page


def test_the_python_reference_is_complete() -> None:
    page = python_page()
    for name in memaudit.__all__:
        if name != "__version__":
            first = (getattr(memaudit, name).__doc__ or "").strip().splitlines()[0]
            assert f"\n## `{name}`\n" in page
            assert first in page
    assert "| `cost` | `Fraction` | required | storage cost under the package's cost rule |" in page
    assert "- **`total_cost(store: Iterable[str]) -> Fraction`**" in page
    assert " at 0x" not in page
    assert "Annotated" not in page


def test_the_schema_page() -> None:
    shown = json.loads(schema_page().partition("```json\n")[2].partition("\n```")[0])
    assert shown == json.loads((ROOT / "schema" / "package.schema.json").read_text())


@pytest.mark.parametrize(
    ("written", "for_mkdocs"),
    [
        ("```text notes.txt", '```text title="notes.txt"'),
        ("```json package", '```json title="package"'),
        ('```console no-run "x"', '```console title="not run by the tests: x"'),
        ("```console synopsis", "```console"),
        ("```text figure", "```text"),
        ("```python", "```python"),
        ("```", "```"),
    ],
)
def test_fences_for_mkdocs(written: str, for_mkdocs: str) -> None:
    """What a block declares becomes a title that readers see."""
    assert titled(f"Text.\n\n{written}\nx\n```\n") == f"Text.\n\n{for_mkdocs}\nx\n```\n"


def test_a_page_that_nobody_lists(tmp_path: Path) -> None:
    """It goes to the end of the reference instead of being lost."""
    (tmp_path / "how-to").mkdir()
    for name in ("index.md", "new.md", "how-to/one.md"):
        (tmp_path / name).write_text("# Page\n")
    nav = [{"Home": "index.md"}, {"How-to": ["how-to/one.md"]}, {"Reference": ["reference/x.md"]}]
    config = on_config(SimpleNamespace(nav=nav, docs_dir=str(tmp_path)))
    assert config.nav[-1] == {"Reference": ["reference/x.md", "new.md"]}
