"""`memaudit build --method model` against a real HTTP server."""

import json
from http.server import BaseHTTPRequestHandler
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from memaudit.natural.build_folder import packages_at
from memaudit.solvers.solve import solve
from tests.cli.running import failure, run
from tests.models.server import send, serving
from tests.natural.passes.fake_model import plays

pytest.importorskip("openai", reason="pip install 'memaudit[models]'")


def conversations() -> str:
    """The embedded set's file."""
    with as_file(files("memaudit.examples.natural") / "conversations.jsonl") as path:
        return str(path)


def test_build_then_replay(tmp_path: Path) -> None:
    """Live with one model and another that checks; again from the cache with no server."""
    common = (
        conversations(), "--method", "model", "--conversation", "hotel-rooms",
        "--model", "one", "--adjudicator", "other", "--cache", tmp_path / "cache.sqlite",
    )  # fmt: skip
    with serving(plays) as served:
        asked = run(
            "build", *common, "--base-url", served.url, "--out", tmp_path / "live", "--yes",
            "--price-in", "0.1", "--price-out", "0.4", "--max-cost", "5",
        )  # fmt: skip
    assert asked.exit_code == 0, asked.output
    assert "pass memories" in asked.stderr
    assert "1 package in" in asked.stdout
    (package,) = packages_at(tmp_path / "live")
    assert solve(package, 40).certified
    again = run("build", *common, "--provider", "offline", "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output
    for name in ("hotel-rooms.json", "manifest.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "live" / name).read_bytes()


def test_saying_no_spends_nothing(tmp_path: Path) -> None:
    """The estimate comes first; without a yes no request is sent."""
    with serving(plays) as served:
        result = run(
            "build", conversations(), "--method", "model", "--conversation", "hotel-rooms",
            "--model", "one", "--base-url", served.url, "--out", tmp_path / "out",
            "--cache", tmp_path / "cache.sqlite",
        )  # fmt: skip
        assert result.exit_code != 0
        assert "1 request to ask" in result.stderr
        assert served.bodies == []
    assert not (tmp_path / "out").exists()


def test_batch_stops_with_a_file(tmp_path: Path) -> None:
    """Requests as OpenAI Batch JSONL, and a line that says what to do."""
    result = run(
        "build", conversations(), "--method", "model", "--conversation", "hotel-rooms",
        "--model", "one", "--provider", "batch", "--out", tmp_path / "out",
        "--cache", tmp_path / "cache.sqlite",
    )  # fmt: skip
    assert result.exit_code == 1
    assert "batch import" in result.stderr
    rows = [json.loads(line) for line in (tmp_path / "out-requests.jsonl").read_text().splitlines()]
    assert {"custom_id", "method", "url", "body"} <= rows[0].keys()


def test_wrong_options(tmp_path: Path) -> None:
    """One clear line each."""
    out = ("--out", tmp_path / "out")
    assert "give --model NAME" in failure("build", conversations(), "--method", "model", *out)
    assert "need --method model" in failure("build", conversations(), "--model", "one", *out)
    assert "unknown method" in failure("build", conversations(), "--method", "magic", *out)
    units = tmp_path / "units.jsonl"
    units.write_text('{"unit_id": "u1", "text": "x"}\n')
    line = failure(
        "build", conversations(), "--method", "model", "--model", "m", "--units", units, *out
    )
    assert "are for --method annotations" in line


def test_a_server_that_only_fails(tmp_path: Path) -> None:
    """Nothing can be scored: what failed is kept, and the exit code says so."""

    def broken(handler: BaseHTTPRequestHandler, *_: object) -> None:
        send(handler, 500, {"error": "no"})

    with serving(broken) as served:
        result = run(
            "build", conversations(), "--method", "model", "--conversation", "hotel-rooms",
            "--model", "one", "--base-url", served.url, "--out", tmp_path / "out", "--yes",
            "--cache", tmp_path / "cache.sqlite", "--retries", "0", "--timeout", "5",
        )  # fmt: skip
    assert result.exit_code == 1
    assert "no package can be scored" in result.stderr
    assert (tmp_path / "out" / "failures.jsonl").read_text()
