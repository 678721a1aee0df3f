"""A small deterministic "model" that reads."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.building.passes.fake_model import blocks
from tests.models.server import completion, send


def reads(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """The first memory's text is the answer; no memory, no answer."""
    memories = blocks(body["messages"][1]["content"])["memories"]
    first = memories[0]["text"] if memories else ""
    reply = {"memories": [1] if first else [], "answer": first, "abstained": not first}
    send(handler, 200, completion(json.dumps(reply)))
