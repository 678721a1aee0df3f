"""A build through a batch queue: it stops at each pass, resumes after the import, ends the same."""

import json
from pathlib import Path

import pytest

from memaudit.models.batch import BatchPending, import_batch
from memaudit.models.cache import Cache
from memaudit.models.providers import ModelSettings
from tests.models.server import completion
from tests.natural.passes.building import make
from tests.natural.passes.conftest import FinishedBuild
from tests.natural.passes.fake_model import answer, which

BATCH = ModelSettings(provider="batch")


def queue(folder: Path) -> list[str]:
    """The queue's work: every request of the file is answered by the fake model."""
    rows = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    lines = [
        {
            "custom_id": row["custom_id"],
            "response": {"status_code": 200, "body": completion(json.dumps(answer(row["body"])))},
            "error": None,
        }
        for row in rows
    ]
    responses = folder / "responses.jsonl"
    responses.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Cache(folder / "cache") as cache:
        assert import_batch(cache, responses).pending == 0
    return sorted(f"{which(row['body'])} {row['body']['model']}" for row in rows)


def test_pass_by_pass(built: FinishedBuild, tmp_path: Path) -> None:
    """Memories and units wait together; then requirements, verdicts, cells, the sample."""
    for asked in (
        {"memories one", "units one"}, {"requirements one"}, {"adjudication other"},
        {"coverage one"}, {"coverage other"},
    ):  # fmt: skip
        with pytest.raises(BatchPending, match="memaudit batch import"):
            make(tmp_path, BATCH)
        assert set(queue(tmp_path)) == asked
        assert not (tmp_path / "out").exists()
    made = make(tmp_path, BATCH)
    assert made.digests == built.made.digests
    assert made.manifest["usage"]["calls"] == len(built.served.bodies)
    assert made.session.asking.client.spent.calls == 0


def test_half_an_answer_waits_for_the_rest(tmp_path: Path) -> None:
    with pytest.raises(BatchPending, match="4 requests"):
        make(tmp_path, BATCH)
    file = tmp_path / "requests.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:3]))
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    text = "".join(
        json.dumps({"custom_id": row["custom_id"],
                    "response": {"body": completion(json.dumps(answer(row["body"])))}}) + "\n"
        for row in rows
    )  # fmt: skip
    (tmp_path / "responses.jsonl").write_text(text)
    with Cache(tmp_path / "cache") as cache:
        assert import_batch(cache, tmp_path / "responses.jsonl").pending == 1
    with pytest.raises(BatchPending, match="1 request is in"):
        make(tmp_path, BATCH)
