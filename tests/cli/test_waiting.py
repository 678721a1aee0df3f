"""A batch without replies: every command that asks a model waits, and says how to go on."""

import json
from pathlib import Path

import pytest

from memaudit.cli.errors import FAILED, WAITING
from memaudit.lab.labels.frame_files import write_frame
from tests.cli.running import done, run, write_rows
from tests.lab.downstream.haystacks import written
from tests.lab.labels.test_model_labels import FRAME
from tests.models.server import completion

CHAT = (
    {"conversation": "ann"},
    {"id": "nuts", "speaker": "Ann", "text": "I am allergic to peanuts."},
    {"question": "Which food is dangerous?", "answer": "Peanuts", "evidence": ["nuts"]},
)

READER = "reader-answer-if-supported"
COMMANDS = {
    "build {chat} --model one --out {folder}/built": "memories, units",
    "score {package} {store} --budget 20 --judge model:one": "coverage",
    "score {package} {store} --budget 20 --ask model:one": "coverage",
    "gate {package} {store} --budget 20 --min-score 0.5 --judge model:one": "coverage",
    "study sensitivity {package} {store} --budget 20 --judge lexical --judge model:one": "coverage",
    "label cells {frame} --model one --out {folder}/one.csv": "coverage",
    "audit optimum {package} --budget 20 --judge model:one": "coverage",
    "diagnose {package} {store} --budget 20 --judge model:one --out {folder}/d": "coverage",
    "diagnose {package} {store} --budget 20 --reader model:one --out {folder}/d": READER,
    "study transfer {records} --budget 0.6 --reader model:one --out {folder}/t": READER,
}
"""Every command that asks a model, and the prompts it has to wait for first."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_waits(command: str, hotel_files: tuple[Path, Path], tmp_path: Path) -> None:
    """Exit code 75, no result, and one last line: what for, which file, what to do next."""
    write_frame(FRAME, tmp_path / "frame")
    files = {
        "package": hotel_files[0],
        "store": hotel_files[1],
        "frame": tmp_path / "frame",
        "chat": write_rows(tmp_path / "chat.jsonl", *CHAT),
        "folder": tmp_path,
        "records": written(tmp_path / "records.json"),
    }
    cache = tmp_path / "cache"
    words = [word.format(**files) for word in command.split()]
    words += ["--set", "model.provider=batch", "--set", f"model.cache={cache}"]
    for _ in range(2):  # the second time too: nothing was answered in between
        result = run(*words)
        assert (result.exit_code, result.stdout) == (WAITING, ""), result.output
        (requests,) = tmp_path.glob("*-requests.jsonl")
        number = len(requests.read_text().splitlines())
        last = result.stderr.splitlines()[-1]
        assert last.startswith(f"waiting for {number} repl")
        assert f" of one ({COMMANDS[command]}): submit {requests} to a batch queue" in last
        assert f"`memaudit model batch RESPONSES --set model.cache={cache}`" in last
        assert "error" not in result.stderr
        assert " 0 failed" in result.stderr or "failed" not in result.stderr
    assert {path.name for path in tmp_path.iterdir()}.isdisjoint({"built", "one.csv", "d", "t"})


def test_what_was_refused_has_failed(tmp_path: Path) -> None:
    """One pass refused, one not answered: the first is counted as failed, the other waits."""
    chat = write_rows(tmp_path / "chat.jsonl", *CHAT)
    words = (
        "build",
        chat,
        "--model",
        "one",
        "--out",
        tmp_path / "built",
        "--set",
        "model.provider=batch",
        "--set",
        f"model.cache={tmp_path / 'cache'}",
    )
    first = run(*words).stderr
    assert first.count("1 of 1, 0 from the cache, 1 waiting for a batch, 0 failed, used") == 2

    def refuse(first: int, last: int | None = None) -> str:
        rows = [json.loads(line) for line in (tmp_path / "built-requests.jsonl").open()]
        replies = write_rows(
            tmp_path / "replies.jsonl",
            *(
                {
                    "custom_id": row["custom_id"],
                    "error": None,
                    "response": {"status_code": 200, "body": completion(None, refusal="no")},
                }
                for row in rows[first:last]
            ),
        )
        return done("model", "batch", replies, "--set", f"model.cache={tmp_path / 'cache'}").stdout

    assert "2 still waiting: 1 without a line in the file, 1 without a valid" in refuse(0, 1)
    second = run(*words)
    assert second.exit_code == WAITING
    assert second.stderr.splitlines()[-1].startswith("waiting for 1 reply of one ")
    assert second.stderr.count("1 waiting for a batch, 0 failed, used") == 1
    assert second.stderr.count("from the cache, 1 failed, used") == 1
    while (last := run(*words)).exit_code == WAITING:
        refuse(0)
    assert last.exit_code == FAILED
    assert "waiting" not in last.stderr
    assert last.stderr.count("1 of 1 request failed, the first with: no") >= 2
