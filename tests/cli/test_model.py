"""`memaudit model`: export, import, show, batch and records; what they print, and how they fail."""

import json
from pathlib import Path

from memaudit.models.cache import Cache
from memaudit.models.record import Call, RecordFile
from tests.cli.running import done, failure, run
from tests.models.asking import request
from tests.models.test_batch import line
from tests.models.test_cache import fill


def test_export_import_show(tmp_path: Path) -> None:
    fill(tmp_path / "a", ["x", "y"])
    file = tmp_path / "replies.jsonl"
    result = run("model", "export", file, "--set", f"model.cache={tmp_path / 'a'}")
    assert (result.exit_code, result.stdout) == (0, f"wrote 2 answers and 1 attempts to {file}\n")
    result = done("model", "import", file, "--set", f"model.cache={tmp_path / 'b'}")
    assert [one.split() for one in result.stdout.splitlines()] == [
        ["2", "answers"],
        ["1", "attempts"],
        ["0", "known"],
        ["0", "refused"],
    ]
    shown = run("model", "show", "--set", f"model.cache={tmp_path / 'b'}").stdout.splitlines()
    assert [one.strip() for one in shown] == [
        "2  answers",
        f"2    m, template coverage {request().template.version[:12]}",
        "1  failed attempts",
        "1    refused",
        "0  waiting for a batch",
        "used 3 calls, 23 prompt and 12 reply tokens, $0.0000",
    ]


def test_import_refuses_and_fails(tmp_path: Path) -> None:
    fill(tmp_path / "a", ["x"])
    file = tmp_path / "replies.jsonl"
    run("model", "export", file, "--set", f"model.cache={tmp_path / 'a'}")
    row = json.loads(file.read_text().splitlines()[0])
    file.write_text(json.dumps({**row, "key": "\x1b[2J"}) + "\n")
    result = run("model", "import", file, "--set", f"model.cache={tmp_path / 'b'}")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].split() == ["1", "refused"]
    assert result.stderr.startswith("replies.jsonl:1: the key ")
    assert "\x1b" not in result.stderr


def test_batch_import(tmp_path: Path) -> None:
    file = tmp_path / "responses.jsonl"
    file.write_text(line("a") + line("b", "no json") + line("?"))
    with Cache(tmp_path / "cache") as cache:
        cache.await_answers([request(text) for text in "abc"])
    result = done(
        "model batch",
        file,
        f"--set model.cache={tmp_path / 'cache'} --set model.price_in=1",
        "--set model.price_out=2",
    )
    assert [one.strip() for one in result.stdout.splitlines()] == [
        "1  answered",
        "1  unknown id",
        "1  reply is not JSON",
        "used 2 calls, 20 prompt and 10 reply tokens, $0.0000",
        "2 still waiting: 1 without a line in the file, 1 without a valid answer",
    ]
    assert len(result.stderr.splitlines()) == 2


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    assert "no cache found" in failure("model", "show", "--set", f"model.cache={missing}")
    assert "no cache found" in failure("model", "batch", missing, "--set", f"model.cache={missing}")
    fill(tmp_path / "a", ["x"])
    assert "give both" in failure(
        "model batch", missing, f"--set model.cache={tmp_path / 'a'} --set model.price_in=1"
    )


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
