"""`memaudit model records`: what two captures asked, with and without the stores beside them."""

import json
from pathlib import Path

from memaudit.models.record import Call, RecordFile
from tests.cli.running import done, failure


def record(path: Path, model: str, said: str) -> Path:
    with RecordFile(path) as file:
        file.begin({"system": "mem0", "model": model})
        for place, text in enumerate(["the same", said]):
            request = {"messages": [{"role": "user", "content": text}]}
            file.keep(Call("ann", place, "chat/completions", request, 200, {}))
    return path


def test_what_is_asked_differently(tmp_path: Path) -> None:
    old = record(tmp_path / "a.json.record.jsonl", "m", "Ann has a parrot.")
    new = record(tmp_path / "b.json.record.jsonl", "n", "Ann has a canary.")
    shown = done("model", "records", old, new).stdout
    assert 'model: "m" to "n"' in shown
    assert "2 to 2 calls: 1 ask the same, 1 are asked no more, 1 are new" in shown
    assert "first asked differently: ann, feeding 1" in shown
    assert "canary" in shown
    assert "is not known" in shown
    assert json.loads(done("model", "records", old, new, "--json").stdout)["same"] == 1


def test_and_the_stores_beside_them(tmp_path: Path) -> None:
    paths = []
    for name, text in (("a", "Ann has a parrot."), ("b", "Ann has a canary.")):
        paths.append(record(tmp_path / f"{name}.json.record.jsonl", "m", text))
        store = {
            "format": "memaudit-store",
            "version": 1,
            "name": name,
            "origin": {"system": "x", "format": "plain"},
            "memories": [{"id": "1", "text": text}],
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(store))
    shown = done("model", "records", *paths).stdout.replace("\n", "")
    assert "1 ask the same" in shown
    assert f"what they led to: memaudit diff {tmp_path / 'a.json'} {tmp_path / 'b.json'}" in shown


def test_only_records(tmp_path: Path) -> None:
    old = record(tmp_path / "a.record.jsonl", "m", "x")
    (tmp_path / "b.md").write_text("- tea")
    assert "b.md" in failure("model", "records", old, tmp_path / "b.md")
