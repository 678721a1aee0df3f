"""A model as the judge of exported memories, over real HTTP to a deterministic model."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit, Package
from memaudit.io.packages import write_package
from memaudit.models.cache import Cache
from memaudit.models.providers import ModelSettings
from memaudit.models.session import ModelSession, open_session
from memaudit.scoring.judges import MemoryText, named_judge
from memaudit.scoring.model_judge import ModelJudge
from tests.cli.running import failure, run
from tests.models.server import serving
from tests.natural.passes.building import live
from tests.natural.passes.fake_model import blocks, cells, instead, plays, which

pytest.importorskip("openai", reason="pip install 'memaudit[models]'")

UNITS = [
    EvidenceUnit(id="gold-1", kind="fact", text="Ann moved to Rome."),
    EvidenceUnit(id="gold-2", kind="fact", text="Bob has a dog."),
]
MEMORIES = [
    MemoryText("mem0/1", "Yes: Ann moved to Rome.", ("t1",)),
    MemoryText("mem0/2", "Ann moved"),
    MemoryText("mem0/3", "Soup."),
]
SILENT = "Soup."
"""The memory that a spoiled model gives no cell for."""


@contextmanager
def session(folder: Path, settings: ModelSettings) -> Iterator[ModelSession]:
    """A session with a cache in a folder."""
    with Cache(folder / "cache") as cache:
        yield open_session(settings, cache, folder / "requests.jsonl")


def silent_about_soup(body: dict[str, Any]) -> str:
    """The deterministic model's reply without the cells of one memory."""
    data = blocks(body["messages"][1]["content"])
    texts = {row["memory"]: row["text"] for row in data["memories"]}
    rows = [row for row in cells(data, strict=False) if texts[row["memory"]] != SILENT]
    return json.dumps({"cells": rows})


def test_cells_and_provenance(tmp_path: Path) -> None:
    """Full holds the unit, partial is held by it; zeros are cells too, said by the model."""
    with serving(plays) as served, session(tmp_path, live(served.url)) as asked:
        judge = ModelJudge(asked, "one")
        said = judge.judge(MEMORIES, UNITS)
        found = said.cells
    assert {
        id: {unit: str(cell.value) for unit, cell in row.items()} for id, row in found.items()
    } == {
        "mem0/1": {"gold-1": "1", "gold-2": "0"},
        "mem0/2": {"gold-1": "1/2", "gold-2": "0"},
        "mem0/3": {"gold-1": "0", "gold-2": "0"},
    }
    assert found["mem0/1"]["gold-1"].provenance == "model:one"
    assert found["mem0/1"]["gold-1"].rationale == "is full"
    assert said.undecided == ()
    assert (judge.name, judge.is_estimate) == ("model one", False)


def test_blind(tmp_path: Path) -> None:
    """The prompt of package candidates, with texts in it and no id, source or kind."""
    with serving(plays) as served, session(tmp_path, live(served.url)) as asked:
        ModelJudge(asked, "one").judge(MEMORIES, UNITS)
        ModelJudge(asked, "one").judge(
            [MemoryText("other/9", memory.text) for memory in MEMORIES], UNITS
        )
    (body,) = served.bodies  # the second store's texts are the first one's: nothing new to ask
    assert which(body) == "coverage"
    sent = blocks(body["messages"][1]["content"])
    assert {row["text"] for row in sent["memories"]} == {memory.text for memory in MEMORIES}
    assert {frozenset(row) for row in sent["memories"]} == {frozenset({"memory", "text"})}
    assert {frozenset(row) for row in sent["units"]} == {frozenset({"unit", "text"})}
    words = json.dumps(body["messages"])
    assert not [word for word in ("mem0/", "gold-", "other/") if word in words]


def test_undecided_is_counted(tmp_path: Path) -> None:
    """No answer after asking twice is no cell and no zero: it is listed, and in the ledger."""
    with (
        serving(instead("coverage", silent_about_soup)) as served,
        session(tmp_path, live(served.url)) as asked,
    ):
        judge = ModelJudge(asked, "one")
        said = judge.judge(MEMORIES, UNITS)
        found = said.cells
    assert found["mem0/3"] == {}
    assert said.undecided == (("mem0/3", "gold-1"), ("mem0/3", "gold-2"))
    assert len(found["mem0/1"]) == len(found["mem0/2"]) == 2
    assert [one.what for one in asked.ledger.problems].count("undecided cell") == 2
    assert len(served.bodies) == 2


def test_offline_from_the_cache(tmp_path: Path) -> None:
    """What was asked once is repeated with no call; what was not is an error, not a zero."""
    with serving(plays) as served, session(tmp_path, live(served.url)) as asked:
        before = ModelJudge(asked, "one").judge(MEMORIES, UNITS)
    with session(tmp_path, ModelSettings(provider="offline")) as asked:
        assert ModelJudge(asked, "one").judge(MEMORIES, UNITS) == before
        with pytest.raises(MemAuditError, match="were not answered"):
            ModelJudge(asked, "other").judge(MEMORIES, UNITS)


def test_by_name(tmp_path: Path) -> None:
    with session(tmp_path, ModelSettings(provider="offline")) as asked:
        assert named_judge("model:org/one:free", session=asked).name == "model org/one:free"
    with pytest.raises(MemAuditError, match="asks no model"):
        named_judge("model:one")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A package of the units and a store of the memories."""
    package = Package.model_validate(
        {
            "name": "p", "cost_rule": "words", "experiences": [{"id": "e"}], "candidates": [],
            "units": [unit.model_copy(update={"weight": 1}) for unit in UNITS],
        }
    )  # fmt: skip
    write_package(package, tmp_path / "p.json")
    lines = [json.dumps({"text": memory.text}) + "\n" for memory in MEMORIES]
    (tmp_path / "e.jsonl").write_text("".join(lines))
    assert run("import", tmp_path / "e.jsonl", "--out", tmp_path / "s.json").exit_code == 0
    return tmp_path / "p.json", tmp_path / "s.json"


def test_commands(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Every command that judges asks a model and counts what it left undecided."""
    words = ("audit", "judges", *files, "--judge", "model:one",
             "--against", "lexical", "--cache", tmp_path / "cache")  # fmt: skip
    with serving(instead("coverage", silent_about_soup)) as served:
        result = run(*words, "--base-url", served.url, "--yes", "--budget", "9", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["judge"]["name"], data["judge"]["is_an_estimate"]) == ("model one", False)
    assert data["judge"]["store"]["undecided_cells"] == 2
    assert (data["agreement"]["judged_cells"], data["agreement"]["undecided_cells"]) == (4, 2)
    assert data["ratios"][0]["kept"]["judge"] == 1
    assert "not answered" in failure(*words[:5], "model:two", *words[6:], "--provider", "offline")
    scored = ("score", *files, "--judge", "model:one",
              "--cache", tmp_path / "cache", "--budget", "9", "--json")  # fmt: skip
    with serving(instead("coverage", silent_about_soup)) as served:
        result = run(*scored, "--base-url", served.url, "--yes")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["judge"], data["undecided_cells"]) == ("model one", 2)
    assert "2 cells got no answer" in result.stderr
    bar = ("gate", *scored[1:-3], "--budget", "9", "--min-ratio")
    with serving(instead("coverage", silent_about_soup)) as served:
        gated = run(*bar, "0.5", "--base-url", served.url, "--yes")
    assert gated.exit_code == 0, gated.output
    assert gated.stdout.startswith("pass: e reaches 1.0000")
    assert "2 cells got no answer and count as not covered" in gated.stdout
    with serving(instead("coverage", silent_about_soup)) as served:
        tried = run(
            "sensitivity", *scored[1:-3], "--judge", "lexical", "--budget", "9", "--noise", "",
            "--base-url", served.url, "--yes", "--json",
        )  # fmt: skip
    assert tried.exit_code == 0, tried.output
    data = json.loads(tried.stdout)
    assert [one["name"] for one in data["judges"]] == ["model one", "lexical"]
    assert data["stores"]["model one"][0]["undecided_cells"] == 2
    assert data["stores"]["lexical"][0]["undecided_cells"] == 0


@pytest.mark.parametrize(
    ("command", "more"),
    [("score", ()), ("gate", ("--min-ratio", "0")), ("audit judges", ("--against", "lexical")),
     ("sensitivity", ("--noise", ""))],
)  # fmt: skip
def test_prices(command: str, more: tuple[str, ...], files: tuple[Path, Path]) -> None:
    """Every command that asks for --price-in has it; half a price is an error."""
    package, store = files
    words = (*command.split(), package, store, "--budget", "9", "--judge", "model:one", "--yes",
             "--cache", package.with_name("cache.db"), *more)  # fmt: skip
    with serving(plays) as served:
        unpriced = run(*words, "--base-url", served.url)
        package.with_name("cache.db").unlink()
        priced = run(*words, "--base-url", served.url, "--price-in", "1", "--price-out", "2")
    assert unpriced.exit_code == priced.exit_code == 0, priced.output
    assert "give --price-in" in unpriced.stderr
    assert "about $" in priced.stderr
    assert "give both" in failure(*words, "--price-in", "1")
