"""The server: who may ask, what it answers, and what it refuses."""

import http.client
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memaudit.board.board_of_scores import board_of_scores
from memaudit.board.board_page import write_board_page
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.score_files import read_scores
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import ONE_FILE, SERVED, Site
from memaudit.lab.sweeps.generators.registry import named_distribution
from tests.lab.explorer.libraries import large_package
from tests.lab.explorer.serving import exploring
from tests.lab.explorer.site_pages import slug_of
from tests.lab.labels.annotate.small_frames import Served
from tests.show.board.scores import row, write


@pytest.fixture(scope="module")
def server(plain: Path) -> Iterator[Served]:
    with exploring(plain) as found:
        yield found


def get(server: Served, path: str) -> tuple[int, Any]:
    status, headers, body = server.get(path)
    assert headers["content-security-policy"] == SERVED
    assert headers["x-content-type-options"] == "nosniff"
    is_json = headers.get("content-type", "").startswith("application/json")
    return status, json.loads(body) if is_json else body.decode()


def test_it_says_what_it_serves(server: Served) -> None:
    assert server.first_line == (
        "1 run, 6 packages, 1 store, 1 certificate, 2 unreadable; press Ctrl-C to stop"
    )


def test_nothing_without_the_token(server: Served) -> None:
    for path in ("/", "/index.html", "/static/explorer.css"):
        assert server.send("GET", path, {})[0] == 401


def test_pages_files_and_data(server: Served, site: Site) -> None:
    hotel = slug_of(site, "package", "hotel-rooms")
    assert "What is here" in get(server, "/")[1]
    for path in (
        "index.html",
        f"package/{hotel}/index.html",
        "static/house.css",
        "static/common.js",
        "search.html?q=lift",
    ):
        assert get(server, f"/{path}")[0] == 200
    status, package = get(server, f"/package/{hotel}/package.json")
    assert (status, package["name"]) == (200, "hotel-rooms")
    status, certificate = get(server, f"/package/{hotel}/certificate/12.json")
    assert (certificate["budget"], certificate["value"]) == ("12", "3")


def test_the_frontier_and_stores(server: Served, site: Site) -> None:
    hotel = slug_of(site, "package", "hotel-rooms")
    for _ in range(20):
        status, found = get(server, f"/package/{hotel}/frontier.json")
        assert status == 200
        if found["whole"]:
            break
    assert [step["budget"] for step in found["steps"]][:3] == ["0", "3", "8"]
    status, store = get(server, f"/package/{hotel}/store.json?writer=mem0_style&budget=12")
    assert status == 200
    assert store["cost"] <= 12
    assert len(store["store"]) > 0
    (system,) = [entry.slug for entry in site.library.of("store")]
    status, store = get(server, f"/package/{hotel}/store.json?system={system}")
    assert (store["estimate"], len(store["memories"])) == (True, 2)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("writer=opt&budget=3", 422),
        ("writer=nobody&budget=3", 422),
        ("writer=mem0_style", 422),
        ("writer=mem0_style&budget=-1", 422),
        ("writer=mem0_style&budget=1e999", 422),
        ("system=x", 404),
        ("", 422),
    ],
)
def test_wishes_that_make_no_sense(server: Served, site: Site, query: str, status: int) -> None:
    """Not OPT itself, no file of somebody's choice, no number that is none."""
    hotel = slug_of(site, "package", "hotel-rooms")
    found, answer = get(server, f"/package/{hotel}/store.json?{query}")
    assert found == status
    assert len(answer["error"]) < 200


@pytest.mark.parametrize(
    "path",
    [
        "/package/../../etc/passwd",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/package/x",
        "/package/%00/index.html",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/package/nobody-0/frontier.json",
        "/" + "a/" * 2000,
    ],
)
def test_paths_that_lead_nowhere(server: Served, path: str) -> None:
    status, answer = get(server, path)
    assert status == 404
    assert "root:" not in str(answer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "request_path", "seconds"),
    [
        (
            lambda: named_distribution("event_graph:experiences=120").package(1),
            "frontier.json",
            0.4,
        ),
        (
            lambda: large_package(4000, 2000),
            "store.json?writer=estimated_gvt&budget=900",
            1.5,
        ),
    ],
    ids=["frontier", "writer"],
)
def test_ctrl_c_ends_it_in_the_middle_of_work(
    tmp_path: Path, make: Callable[[], Package], request_path: str, seconds: float
) -> None:
    """Neither a frontier nor a writer that takes long holds the server up."""
    write_package(make(), tmp_path / "large.json")
    (entry,) = Library([tmp_path]).of("package")
    with exploring(tmp_path) as server:
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        link.request("GET", f"/package/{entry.slug}/{request_path}", headers=server.cookie())
        time.sleep(seconds)
        code, out, err = server.interrupt()
        link.close()
    assert (code, out, err) == (0, "", "")


def test_a_report_of_the_folder_is_served_in_a_sandbox(tmp_path: Path) -> None:
    """Its own style, and nothing else: no script, no form, no frame."""
    write(tmp_path, "p", row("a", "1/2"))
    write_board_page(board_of_scores(read_scores(tmp_path)), tmp_path / "board.html")
    (entry,) = Library([tmp_path]).of("page")
    with exploring(tmp_path) as server:
        status, headers, body = server.get(f"/page/{entry.slug}.html")
        assert server.get("/index.html")[1]["content-security-policy"] == SERVED
    assert (status, body) == (200, (tmp_path / "board.html").read_bytes())
    assert headers["content-security-policy"] == ONE_FILE
    assert "sandbox" in ONE_FILE
    assert "script-src" not in ONE_FILE
    assert headers["x-content-type-options"] == "nosniff"
