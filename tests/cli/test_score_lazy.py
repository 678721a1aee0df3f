"""`memaudit score --lazy`: live, in batches and offline, with the same result."""

import json
from pathlib import Path
from typing import Any

import pytest

from memaudit.cli.errors import WAITING
from memaudit.core.package import Package
from memaudit.io.packages import read_package, write_package
from tests.cli.running import done, failure, import_texts, printed_json, run
from tests.models.server import completion, serving
from tests.natural.passes.fake_model import answer, plays

UNITS = ("Ann has a red dog", "Bo eats blue fish", "Cy owns three cats", "Dee sold her old car")
TURNS = (
    "Today Ann has a red dog indeed",
    "Ann has a blue dog",
    "Bo eats blue fish and rice",
    "Bo eats red fish",
    "Cy owns three red cats",
    "So Dee sold her old car",
    "Dee sold",
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Turns that nobody judged, and a store. The model gives full to a text that holds a unit."""
    package = Package.model_validate(
        {
            "name": "p",
            "cost_rule": "words",
            "equal_texts_once": True,
            "experiences": [{"id": f"e{n}"} for n in range(len(TURNS))],
            "candidates": [
                {
                    "id": f"c{n}",
                    "experience": f"e{n}",
                    "kind": "raw",
                    "text": text,
                    "cost": len(text.split()),
                    "generator": "rule:raw",
                }
                for n, text in enumerate(TURNS)
            ],
            "units": [
                {"id": f"u{n}", "kind": "fact", "text": text, "weight": 1 + n}
                for n, text in enumerate(UNITS)
            ],
        }
    )
    write_package(package, tmp_path / "p.json")
    return tmp_path / "p.json", import_texts(
        tmp_path / "s.json", ["Cy owns three cats", "a red dog"]
    )


def words(files: tuple[Path, Path], cache: Path, *more: object) -> tuple[object, ...]:
    return (
        "score",
        *files,
        "--budget",
        "6,14",
        "--judge",
        "model:one",
        "--lazy",
        "--json",
        "--cache",
        cache,
        *more,
    )


def answer_batch(folder: Path, cache: Path) -> int:
    """Answer every request of the batch file, as a queue would."""
    rows = [json.loads(line) for line in (folder / "s-requests.jsonl").open()]
    replies = [
        {
            "custom_id": row["custom_id"],
            "error": None,
            "response": {"status_code": 200, "body": completion(json.dumps(answer(row["body"])))},
        }
        for row in rows
    ]
    (folder / "replies.jsonl").write_text("".join(json.dumps(one) + "\n" for one in replies))
    done("model", "batch", folder / "replies.jsonl", "--cache", cache)
    return len(rows)


def test_live_batch_and_offline(files: tuple[Path, Path], tmp_path: Path) -> None:
    with serving(plays) as served:
        live = words(files, tmp_path / "cache", "--base-url", served.url, "--yes")
        result = done(*live)
        everything = printed_json(*(word for word in live if word != "--lazy"))
    data = json.loads(result.stdout)
    assert "covered cells (12.3%) of the shipped conversations" in result.stderr
    assert "at most" in result.stderr
    assert "round 1: " in result.stderr
    assert 0 < data["lazy"]["asked"] <= data["lazy"]["kept_by_filter"] < data["lazy"]["pairs"]
    assert data["lazy"]["stopped_early"] is False
    assert _ratios(data) == _ratios(everything)
    offline = printed_json(*words(files, tmp_path / "cache", "--provider", "offline"))
    assert offline == data
    batches = 0
    while run(*words(files, tmp_path / "other", "--provider", "batch")).exit_code == WAITING:
        batches += bool(answer_batch(tmp_path, tmp_path / "other"))
    assert 1 <= batches <= data["lazy"]["rounds"]
    batched = printed_json(*words(files, tmp_path / "other", "--provider", "offline"))
    assert _ratios(batched) == _ratios(data)


def _ratios(data: dict[str, Any]) -> list[tuple[object, ...]]:
    """What was kept and what was possible, of every row."""
    return [
        (
            row["score"],
            row["optimum"]["value"],
            row["optimum"]["certified"],
            row["package_ratio"]["optimum"],
            row["best_subset"]["value"],
            row["policies"]["recency"],
        )
        for row in data["scores"]
    ]


def test_a_limit_leaves_an_interval(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Two cells are too few. The union that is saved says the same, and keeps its bounds."""
    with serving(plays) as served:
        few = words(files, tmp_path / "cache", "--base-url", served.url, "--yes", "--max-cells", 2)
        data = printed_json(*few, "--save-union", tmp_path / "union.json")
    assert data["lazy"]["asked"] == 2
    assert data["lazy"]["stopped_early"] is True
    (_, late) = data["scores"]
    optimum, (low, high) = late["optimum"], late["between"]
    assert (late["score"], optimum["certified"]) == (None, False)
    assert optimum["value"] < optimum["bound"]
    assert 0 <= low < high <= 1
    assert read_package(tmp_path / "union.json").is_open
    (solved,) = printed_json("solve", tmp_path / "union.json", "--budget", "14")
    assert (solved["value"], solved["bound"]) == (optimum["value"], optimum["bound"])
    assert "some cells are not judged" in solved["note"]


def test_wrong_input(files: tuple[Path, Path], tmp_path: Path) -> None:
    score = ("score", *files, "--budget", "9")
    assert "go with --lazy" in failure(*score, "--max-cells", 2)
    labels = tmp_path / "by_id.jsonl"
    labels.write_text('{"memory_id": "m", "unit_id": "u", "coverage": 1}')
    assert "goes by texts" in failure(*score, "--lazy", "--judge", f"labels:{labels}")
    lexical = (*score, "--lazy", "--judge", "lexical")
    assert "unknown filter 'x'" in failure(*lexical, "--filter", "x")
    assert "the offline judge judges all cells at once; leave it out" in failure(*score, "--lazy")
    (tmp_path / "mine.json").write_text("{}\n")
    assert "is not a package" in failure(*score, "--save-union", tmp_path / "mine.json")
