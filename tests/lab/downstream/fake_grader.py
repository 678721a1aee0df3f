"""A small deterministic "model" that grades: right where the answers share their longest word."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.building.passes.fake_model import blocks
from tests.models.server import completion, send


def label(body: dict[str, Any]) -> str:
    data = blocks(body["messages"][1]["content"])
    longest = max(data["right answer"].casefold().split(), key=len)
    return "right" if longest in data["given answer"].casefold() else "wrong"


def grades(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """A good response."""
    reply = {"reason": "the longest word", "label": label(body)}
    send(handler, 200, completion(json.dumps(reply)))
