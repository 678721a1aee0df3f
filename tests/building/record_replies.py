"""Recorded replies to the prompt cases: write the requests for a reader, and read the replies back.

    python -m tests.building.record_replies requests FILE    one line per request: id, system, user
    python -m tests.building.record_replies replies FILE     lines {"id": ..., "reply": {...}}

The second writes `prompt_replies.jsonl` beside this file, in the form of a batch queue's output,
which `memaudit model batch` reads. Ids are the beginnings of keys and reveal no answer.
"""

import json
import sys
import tempfile
from pathlib import Path

from memaudit.building.prompt_cases import case_request, prompt_cases
from memaudit.models.cache import Cache
from memaudit.models.request import Request
from memaudit.models.session import ModelSettings, open_session
from tests.models.server import completion

READER = "blind-reader"
RECORDED = Path(__file__).with_name("prompt_replies.jsonl")
SHOWN = 12
"""Characters of a key that are an id."""


def requests() -> dict[str, Request]:
    """By key, in its order, which says nothing about the cases."""
    with tempfile.TemporaryDirectory() as folder, Cache(Path(folder) / "cache") as cache:
        session = open_session(ModelSettings(provider="offline"), cache, Path(folder) / "none")
        made = [case_request(case, session, READER) for case in prompt_cases()]
    return {request.key: request for request in sorted(made, key=lambda request: request.key)}


def write_requests(path: Path) -> None:
    rows = [
        {"id": key[:SHOWN], **{message.role: message.content for message in request.messages}}
        for key, request in requests().items()
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def record(path: Path) -> None:
    """The replies as a batch queue would return them; a request without one is left out."""
    given = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    keys = {key[:SHOWN]: key for key in requests()}
    lines = [
        {
            "custom_id": keys[row["id"]],
            "error": None,
            "response": {"status_code": 200, "body": completion(json.dumps(row["reply"]))},
        }
        for row in given
    ]
    RECORDED.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    {"requests": write_requests, "replies": record}[sys.argv[1]](Path(sys.argv[2]))
