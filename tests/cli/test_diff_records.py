"""`memaudit diff` of two records of captures, with and without the stores beside them."""

import json
from pathlib import Path

from memaudit.adapters.capture.record import Call, RecordFile
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
    shown = done("diff", old, new).stdout
    assert 'model: "m" to "n"' in shown
    assert "2 to 2 calls: 1 ask the same, 1 are asked no more, 1 are new" in shown
    assert "first asked differently: ann, feeding 1" in shown
    assert "canary" in shown
    assert "is not known" in shown
    assert json.loads(done("diff", old, new, "--json").stdout)["records"]["same"] == 1


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
    shown = done("diff", *paths).stdout
    assert "1 ask the same" in shown
    assert "a to b: 1 to 1 memories" in shown


def test_two_of_a_kind(tmp_path: Path) -> None:
    old = record(tmp_path / "a.record.jsonl", "m", "x")
    (tmp_path / "b.md").write_text("- tea")
    assert "give two of a kind" in failure("diff", old, tmp_path / "b.md")
