"""Small deterministic "models": one reads, one grades."""

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


def grades(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """Right where the answers share their longest word."""
    data = blocks(body["messages"][1]["content"])
    longest = max(data["right answer"].casefold().split(), key=len)
    label = "right" if longest in data["given answer"].casefold() else "wrong"
    send(handler, 200, completion(json.dumps({"reason": "the longest word", "label": label})))
