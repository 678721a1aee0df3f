"""The requests of a build never change without a new version of a prompt: caches stay readable."""

import hashlib
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from memaudit.models.cache import Cache
from tests.building.passes.building import RECIPE, live, make
from tests.building.passes.fake_model import plays, unit, which
from tests.building.passes.test_misbehaviour import changed
from tests.models.server import serving

KEYS = {
    "memories": (2, "92f88bff97992163"),
    "units": (2, "32b7b817d8de5a44"),
    "quotes": (2, "38fcfebeeb9a5227"),
    "requirements": (8, "13574413834ce416"),
    "adjudication": (8, "f5b7432f23723fa9"),
    "coverage": (14, "464c852d47b0095b"),
}
"""By prompt: how many requests a build of two conversations makes, and the hash of their keys."""


def test_requests_are_byte_for_byte_the_same(tmp_path: Path) -> None:
    """All passes, with second askings of quotes and cells."""

    def misquotes(reply: dict[str, Any], _: dict[str, Any]) -> None:
        row = unit(2, "nobody said this", "x")
        reply["units"].append(row)

    def forgets(reply: dict[str, Any], data: dict[str, Any]) -> None:
        if "asked before" not in data:
            reply["cells"].pop()

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        changes = {"units": misquotes, "coverage": forgets}
        name = which(body)
        (changed(name, changes[name]) if name in changes else plays)(handler, body)

    with serving(behave) as served:
        make(tmp_path, live(served.url), RECIPE)
    keys: dict[str, list[str]] = {}
    with Cache(tmp_path / "cache") as cache:
        for answer in cache.all_answers():
            keys.setdefault(answer.template, []).append(answer.key)
    assert {
        name: (len(own), hashlib.sha256("".join(sorted(own)).encode()).hexdigest()[:16])
        for name, own in keys.items()
    } == KEYS
