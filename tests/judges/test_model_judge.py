"""A model as the judge of exported memories, over real HTTP to a deterministic model."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.judges.model_judge import JudgedCell, ModelJudge, best_answer
from memaudit.judges.registry import named_judge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.package import EvidenceUnit, Package
from memaudit.kernel.score.judge import MemoryText
from memaudit.models.cache import Cache
from memaudit.models.session import ModelSession, ModelSettings, open_session
from tests.building.passes.building import live
from tests.building.passes.fake_model import answer, blocks, instead, plays, which
from tests.cli.running import done, failure, import_texts, printed_json
from tests.models.server import serving

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
    with Cache(folder / "cache") as cache:
        yield open_session(settings, cache)


def silent_about_soup(body: dict[str, Any]) -> str:
    """The deterministic model's reply without the cells of one memory."""
    data = blocks(body["messages"][1]["content"])
    texts = {row["memory"]: row["text"] for row in data["memories"]}
    rows = [row for row in answer(body)["cells"] if texts[row["memory"]] != SILENT]
    return json.dumps({"cells": rows})


def test_cells_and_provenance(tmp_path: Path) -> None:
    """Full holds the unit, partial is held by it; zeros are cells too, said by the model. It is
    blind: the prompt of package candidates, with texts in it and no id, source or kind."""
    with serving(plays) as served, session(tmp_path, live(served.url)) as asked:
        judge = ModelJudge(asked, "one")
        found = judge.judge(MEMORIES, UNITS)
        again = [MemoryText(f"other/{n}", memory.text) for n, memory in enumerate(MEMORIES)]
        judge.judge(again, UNITS)
    assert {
        id: {unit: str(cell.value) for unit, cell in row.items()} for id, row in found.cells.items()
    } == {
        "mem0/1": {"gold-1": "1", "gold-2": "0"},
        "mem0/2": {"gold-1": "1/2", "gold-2": "0"},
        "mem0/3": {"gold-1": "0", "gold-2": "0"},
    }
    full = found.cells["mem0/1"]["gold-1"]
    assert (full.provenance, full.rationale) == ("model:one:coverage/2", "is full")
    assert found.undecided == ()
    assert (judge.name, judge.is_estimate) == ("model one:coverage/2", False)
    (body,) = served.bodies  # the second store's texts are the first one's: nothing new to ask
    assert which(body) == "coverage"
    sent = blocks(body["messages"][1]["content"])
    assert {row["text"] for row in sent["memories"]} == {memory.text for memory in MEMORIES}
    assert {frozenset(row) for row in sent["memories"]} == {frozenset({"memory", "text"})}
    assert {frozenset(row) for row in sent["units"]} == {frozenset({"unit", "text"})}
    words = json.dumps(body["messages"])
    assert not [word for word in ("mem0/", "gold-", "other/") if word in words]


def test_of_equal_alternatives_the_best_counts(tmp_path: Path) -> None:
    """Both texts are asked about. Without an answer about one, only a full one is certain."""
    move = EvidenceUnit(
        id="u", kind="fact", text="Ann left Oslo.", alternatives=("Ann moved to Rome.",)
    )
    with serving(plays) as served, session(tmp_path, live(served.url)) as asked:
        found = ModelJudge(asked, "one").judge(MEMORIES, [move])
    assert {id: row["u"].value for id, row in found.cells.items()} == {
        "mem0/1": 1,
        "mem0/2": Fraction(1, 2),
        "mem0/3": 0,
    }
    full, partial = JudgedCell("full", ""), JudgedCell("partial", "")
    assert best_answer([None, full]) == full
    assert best_answer([None, partial]) is None
    assert best_answer([partial, full, partial]) == full


def test_undecided_is_counted(tmp_path: Path) -> None:
    """No answer after asking twice is no cell and no zero: it is listed, and in the ledger."""
    with (
        serving(instead("coverage", silent_about_soup)) as served,
        session(tmp_path, live(served.url)) as asked,
    ):
        found = ModelJudge(asked, "one").judge(MEMORIES, UNITS)
    assert found.cells["mem0/3"] == {}
    assert found.undecided == (("mem0/3", "gold-1"), ("mem0/3", "gold-2"))
    assert len(found.cells["mem0/1"]) == len(found.cells["mem0/2"]) == 2
    assert [problem.what for problem in asked.ledger.problems].count("undecided cell") == 2
    assert len(served.bodies) == 2


def test_offline_from_the_cache(tmp_path: Path) -> None:
    """What was asked once is repeated with no call; what was not is an error, not a zero."""
    with serving(plays) as served, session(tmp_path, live(served.url)) as asked:
        before = ModelJudge(asked, "one").judge(MEMORIES, UNITS)
    with session(tmp_path, ModelSettings(provider="offline")) as asked:
        assert ModelJudge(asked, "one").judge(MEMORIES, UNITS) == before
        with pytest.raises(MemAuditError, match="were not answered"):
            ModelJudge(asked, "other").judge(MEMORIES, UNITS)
        assert (
            named_judge("model:org/one:free", session=asked).name == "model org/one:free:coverage/2"
        )
    with pytest.raises(MemAuditError, match="asks no model"):
        named_judge("model:one")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    units = tuple(unit.model_copy(update={"weight": 1}) for unit in UNITS)
    package = Package(name="p", cost_rule="words", experiences=(), candidates=(), units=units)
    write_package(package, tmp_path / "p.json")
    return tmp_path / "p.json", import_texts(tmp_path / "e.json", [row.text for row in MEMORIES])


def test_commands(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Every command that judges asks a model and counts what it left undecided."""
    cache = f"--set model.cache={tmp_path / 'cache'}"
    with serving(instead("coverage", silent_about_soup)) as served:
        there = f"--set model.base_url={served.url} --set model.yes=true --budget 9"
        live = (*files, "--judge model:one", cache, there)
        scored = done("score", *live, "--json")
        gated = done("gate", *live, "--min-score 0.5").stdout
        tried = printed_json("study sensitivity", *live, "--judge lexical")
    data = json.loads(scored.stdout)
    assert (data["judge"], data["undecided_cells"]) == ("model one:coverage/2", 2)
    assert "2 cells got no answer" in scored.stderr
    assert gated.startswith(
        "pass: e at 9 scores 1.0000, minimum 0.5, everything fits; over OPT of package + e; "
    )
    assert "2 cells got no answer and count as not covered" in gated
    assert [judge["name"] for judge in tried["judges"]] == ["model one:coverage/2", "lexical"]
    (package,) = tried["packages"]
    assert package["stores"]["model one:coverage/2"][0]["undecided_cells"] == 2
    assert package["stores"]["lexical"][0]["undecided_cells"] == 0
    offline = ("--budget 9 --judge model:two --set model.provider=offline", cache)
    assert "not answered" in failure("score", *files, *offline)


def test_prices(files: tuple[Path, Path]) -> None:
    """A price gives an estimate of the cost; half a price is an error."""
    cache = files[0].with_name("cache.db")
    how = "--budget 9 --judge model:one --set model.yes=true"
    words = ("score", *files, how, f"--set model.cache={cache}")
    with serving(plays) as served:
        there = f"--set model.base_url={served.url}"
        unpriced = done(*words, there)
        cache.unlink()
        priced = done(*words, there, "--set model.price_in=1 --set model.price_out=2")
    assert "give price_in" in unpriced.stderr
    assert "about $" in priced.stderr
    assert "give both" in failure(*words, "--set model.price_in=1")
