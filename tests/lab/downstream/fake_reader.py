"""A small deterministic "model" that reads: it answers with the first memory, word for word."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.building.passes.fake_model import blocks
from tests.models.server import completion, send


def reply(body: dict[str, Any]) -> dict[str, Any]:
    """The first memory's text as the answer; no memory, no answer."""
    data = blocks(body["messages"][1]["content"])
    first = data["memories"][0]["text"] if data["memories"] else ""
    said: dict[str, Any] = {"answer": first, "abstained": not first}
    if "quote the evidence" in body["messages"][0]["content"]:
        return {"evidence": [{"memory": 1, "quote": first}] if first else [], **said}
    return {"memories": [1] if first else [], **said}


def reads(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """A good response."""
    send(handler, 200, completion(json.dumps(reply(body))))
