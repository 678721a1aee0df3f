"""Version 1 of the prompts: its requests never change, so that old caches stay readable."""

import hashlib
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from memaudit.models.cache import Cache
from tests.models.server import serving
from tests.natural.passes.building import RECIPE, live, make
from tests.natural.passes.fake_model import plays, which
from tests.natural.passes.test_misbehaviour import changed

KEYS = {
    "memories": (2, "50f74b36570aae2f"),
    "units": (2, "61bd43dcd3f696e2"),
    "quotes": (2, "3aec9b86fab518f2"),
    "requirements": (8, "732fcde50b8f50f2"),
    "adjudication": (8, "9708fc624f3f08f9"),
    "coverage": (14, "b2036d0bfcf6df42"),
}
"""By prompt: how many requests a build of two conversations makes, and the hash of their keys,
taken before there was a version 2."""


def test_requests_are_byte_for_byte_the_same(tmp_path: Path) -> None:
    """All passes, with second askings of quotes and cells."""

    def misquotes(reply: dict[str, Any], _: dict[str, Any]) -> None:
        row = {"turn": 2, "quote": "nobody said this", "kind": "fact", "statement": "x"}
        reply["units"].append(row)

    def forgets(reply: dict[str, Any], data: dict[str, Any]) -> None:
        if "asked before" not in data:
            reply["cells"].pop()

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        changes = {"units": misquotes, "coverage": forgets}
        name = which(body)
        (changed(name, changes[name]) if name in changes else plays)(handler, body)

    with serving(behave) as served:
        make(tmp_path, live(served.url), replace(RECIPE, prompts=1))
    keys: dict[str, list[str]] = {}
    with Cache(tmp_path / "cache") as cache:
        for answer in cache.all_answers():
            keys.setdefault(answer.template, []).append(answer.key)
    assert {
        name: (len(own), hashlib.sha256("".join(sorted(own)).encode()).hexdigest()[:16])
        for name, own in keys.items()
    } == KEYS
