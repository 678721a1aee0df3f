"""`memaudit build --model` against a real HTTP server."""

from http.server import BaseHTTPRequestHandler
from importlib.resources import as_file, files
from pathlib import Path

from typer.testing import Result

from tests.building.passes.fake_model import plays
from tests.cli.running import failure, run
from tests.models.server import send, serving

with as_file(files("memaudit.examples.short") / "conversations.jsonl") as path:
    CONVERSATIONS = str(path)


def built(folder: Path, *options: object, out: str = "out") -> Result:
    return run(
        "build",
        CONVERSATIONS,
        "--conversation",
        "hotel-rooms",
        "--model",
        "one",
        "--set",
        f"model.cache={folder / 'cache.sqlite'}",
        "--out",
        folder / out,
        *options,
    )


def test_build_then_replay(tmp_path: Path) -> None:
    """Live with one model and another that checks; again from the cache with no server."""
    check = ("--model", "adjudicator=other")
    with serving(plays) as served:
        live = built(
            tmp_path,
            *check,
            "--set",
            f"model.base_url={served.url}",
            "--set",
            "model.yes=true",
            "--set",
            "model.price_in=0.1",
            "--set",
            "model.price_out=0.4",
            "--set",
            "model.max_cost=5",
            out="live",
        )
    assert live.exit_code == 0, live.output
    assert "pass memories" in live.stderr
    assert "1 package in" in live.stdout
    replayed = built(tmp_path, *check, "--set", "model.provider=offline", out="replayed")
    assert replayed.exit_code == 0, replayed.output
    first, second = (tmp_path / out / "hotel-rooms.json" for out in ("live", "replayed"))
    assert first.read_bytes() == second.read_bytes()


def test_saying_no_spends_nothing(tmp_path: Path) -> None:
    """The estimate comes first; without a yes no request is sent."""
    with serving(plays) as served:
        result = built(tmp_path, "--set", f"model.base_url={served.url}")
        assert result.exit_code != 0
        assert "1 request to ask" in result.stderr
        assert served.bodies == []
    assert not (tmp_path / "out").exists()


def test_wrong_options(tmp_path: Path) -> None:
    out = ("--out", tmp_path / "out")
    for options, message in {
        ("--model", "judge=one"): "give --model NAME as well",
        ("--model", "one", "--model", "two"): "'one' is the model already",
    }.items():
        assert message in failure("build", CONVERSATIONS, *options, *out)
    units = tmp_path / "units.jsonl"
    units.write_text('{"unit_id": "u1", "text": "x"}\n')
    line = failure("build", CONVERSATIONS, "--model", "m", "--units", units, *out)
    assert "the model writes them" in line


def test_a_server_that_only_fails(tmp_path: Path) -> None:
    """Nothing can be scored: failures are written, and the exit code says so."""

    def broken(handler: BaseHTTPRequestHandler, *_: object) -> None:
        send(handler, 500, {"error": "no"})

    with serving(broken) as served:
        result = built(
            tmp_path,
            "--set",
            f"model.base_url={served.url}",
            "--set",
            "model.yes=true",
            "--set",
            "model.retries=0",
            "--set",
            "model.timeout=5",
        )
    assert result.exit_code == 1
    assert "no package can be scored" in result.stderr
    assert (tmp_path / "out" / "failures.jsonl").read_text()
