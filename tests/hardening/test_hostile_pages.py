"""Random attacks in every text of every page that is written or served: they stay text."""

import json
import logging
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.cost import words
from memaudit.lab.labels.annotate.app import annotator_app, guideline
from memaudit.lab.labels.annotate.labelling import LabelDatabase, LabellingSession, frame_digest
from memaudit.lab.serving import Guard
from tests.cli.running import run, write_rows
from tests.hardening.edits import SEED
from tests.hardening.test_fuzz_http import COOKIE, HOST, TOKEN, asked
from tests.lab.explorer.libraries import (
    CORPUS,
    diagnosis_row,
    hostile_package,
    sheet_data,
    summary_data,
    write_diagnosis,
)
from tests.lab.explorer.test_injection import ELEMENTS
from tests.lab.labels.annotate.small_frames import frame_folder, frame_of
from tests.show import html_tree
from tests.show.html_tree import Tree

pytestmark = pytest.mark.slow

LOG = logging.getLogger(__name__)
SECONDS = float(os.environ.get("MEMAUDIT_FUZZ_SECONDS", "4"))
"""For each kind of page."""

PIECES = (
    *CORPUS,
    *("</script>", "<!--<script>", "<!--", "-->", "]]>", "<![CDATA[", "<?xml ?>"),
    *("</textarea>", "</bdi></td></table>", "\u2028alert(1)\u2029", "{{ config }}"),
    *("{% raw %}", "{#", "${alert(1)}", "#{7*7}", "JaVaScRiPt&colon;alert(1)"),
    *("java\tscript:alert(1)", "vbscript:x", "data:text/html;base64,PHNjcmlwdD4="),
    "<svg><script>alert(1)</script>",
    *("<math><mtext></style><img src=x onerror=alert(1)>", "' onmouseover=alert(1) x='"),
    *('" autofocus onfocus=alert(1) x="', "`", "&#x3c;script&#x3e;", "&lt"),
    *("+ADw-script+AD4-", "%3Cscript%3E"),
    *("<meta http-equiv=refresh content=0;url=//evil.example>", "<base href=//e>"),
    *("<link rel=stylesheet href=//evil.example>", "<form action=//evil.example>", "\x85"),
    *("\xa0", "\ufeff", "\ufffe", "\u202e\u2066\u2069", "\U000e0041", "\ud800"),
    *("\udfff\ud800", "\x00", "\r\n", "\n# heading\n", "[x](javascript:alert(1))"),
    *("![i](//evil.example)", "<https://evil.example>", "](x)", "```"),
    "W" * 5000,
    "a b " * 3000,
)
"""Markup, ends of what holds a text, links, templates, controls, half characters, long lines."""


def drawn(dice: random.Random) -> str:
    """Some pieces, cut or doubled here and there; now and then a line of 300,000 characters."""
    text = ""
    for piece in dice.choices(PIECES, k=dice.randint(1, 5)):
        cut = dice.randint(0, len(piece))
        text += dice.choice((piece, piece, piece, piece[:cut], piece[cut:], piece.swapcase()))
        text += dice.choice(("", "", " ", '"', "'", ">"))
    return text * 30_000 if dice.random() < 0.02 and len(text) <= 10 else text


def whole(dice: random.Random) -> str:
    """The same without halves of characters, which a package cannot hold."""
    return drawn(dice).encode("utf-8", "ignore").decode()


def command_page(page: Path, *command: object) -> Iterator[str]:
    """The page that a command writes; a refusal in one line is as good."""
    result = run(*command, "--out", page)
    if result.exit_code == 0:
        yield page.read_text("utf-8")
        return
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit), result.exception
    assert len(result.stderr.splitlines()) == 1 or "problems" in result.stderr, result.stderr


def package_file(folder: Path, dice: random.Random) -> Path:
    path = folder / "package.json"
    write_package(hostile_package(whole(dice), dice.randint(0, 9)), path)
    return path


def export(folder: Path, name: str, dice: random.Random) -> Path:
    rows = [{"text": drawn(dice), "id": drawn(dice), "created_at": drawn(dice)} for _ in range(4)]
    return write_rows(folder / f"{name}.jsonl", *rows, {"text": "Ada has a cat.", "user": "x"})


def lint(folder: Path, dice: random.Random) -> Iterator[str]:
    parts = [export(folder, "store", dice), package_file(folder, dice)]
    yield from command_page(folder / "p.html", "lint", *parts, "--judge", "lexical")


def diff(folder: Path, dice: random.Random) -> Iterator[str]:
    stores = [export(folder, "one", dice), export(folder, "two", dice)]
    package = package_file(folder, dice)
    yield from command_page(folder / "p.html", "diff", *stores, package, "--judge", "lexical")


def quick(folder: Path, dice: random.Random) -> Iterator[str]:
    chat = [
        {"role": "user" if n % 2 else "assistant", "content": f"I live in Ulm. {drawn(dice)}"}
        for n in range(4)
    ]
    (folder / "chat.json").write_text(json.dumps(chat))
    yield from command_page(
        folder / "p.html", "quick", folder / "chat.json", export(folder, "s", dice)
    )


def board_of_scores(folder: Path, dice: random.Random) -> Iterator[str]:
    scores = folder / "scores"
    scores.mkdir()
    shared = {"judge": drawn(dice), "cost_rule": drawn(dice)}
    for number in range(2):
        data = {**sheet_data(f"{number} {drawn(dice)}", drawn(dice)), **shared}
        (scores / f"{number}.json").write_text(json.dumps(data))
    yield from command_page(folder / "p.html", "board", scores)


def board(folder: Path, dice: random.Random) -> Iterator[str]:
    """One conversation, whose name is that of a file, and two systems."""
    package = hostile_package(whole(dice), 0)
    priced = [one.model_copy(update={"cost": words(one.text or "")}) for one in package.candidates]
    package = package.model_copy(
        update={"name": "talk", "cost_rule": "words", "candidates": tuple(priced)}
    )
    write_package(package, folder / "package.json")
    said = [whole(dice) for _ in range(3)]
    about = {"conversation": "talk"}
    write_rows(
        folder / "texts.jsonl",
        *({**about, "memory_id": f"m{at}", "text": text} for at, text in enumerate(said)),
    )
    write_rows(
        folder / "labels.jsonl",
        *(
            {**about, "memory_id": f"m{at}", "coverage": 1, "unit_id": package.units[at % 2].id}
            for at in range(3)
        ),
    )
    for system in ("one", "other"):
        (folder / system).mkdir()
        rows = [{"text": text, "id": drawn(dice), "created_at": drawn(dice)} for text in said]
        write_rows(folder / "export.jsonl", *rows)
        run("import", "plain", folder / "export.jsonl", "--out", folder / system / "talk.json")
        notes = {"notes": [whole(dice)]}
        (folder / system / "row.json").write_text(json.dumps(notes))
    plan = {
        "format": "memaudit-board",
        "version": 1,
        "title": whole(dice),
        "budgets": ["30"],
        "packages": "package.json",
        "times": "none",
        "labels": "labels.jsonl",
        "memories": "texts.jsonl",
        "notes": [whole(dice)],
    }
    (folder / "board.json").write_text(json.dumps(plan))
    yield from command_page(folder / "p.html", "board", folder)


def ratios_data(text: str) -> dict[str, Any]:
    """What `audit ratios --json` writes, with a text in every field that holds one."""
    mean = {"packages": 2, "mean": 0.5, "low": 0.25, "high": 0.75}
    shift = {
        "budget": "3",
        "ratio_mad": mean,
        "pairs": 1,
        "ranking": {
            "ranked": 2,
            "preserved": False,
            "swapped": [[text, "other"]],
            "tied_under_one": [["other", text]],
            "tau_b": {"value": 0.5},
            "spearman_rho": {"value": 0.5},
        },
        "undefined": {text: 1},
    }
    return {
        "format": "memaudit-label-ratios",
        "version": 1,
        "budgets": ["3"],
        "stores": [text, "other"],
        "packages": 2,
        "seed": 0,
        "solved_optima": 4,
        "uncertified_optima": 1,
        "notes": [text],
        "label_sets": [
            {
                "name": text,
                "role": text,
                "judged_cells": 3,
                "changed_cells": 1,
                "cannot_tell": 0,
                "cells_of_other_packages": 0,
                "without_consensus": {text: 1},
                "shifts": [shift],
            }
        ],
        "ratios": [
            {
                "store": text,
                "budget": "3",
                "ratios": {"package": mean, text: mean},
                "missing": {text: 1},
            }
        ],
        "per_package": [],
    }


def label_audit(folder: Path, dice: random.Random) -> Iterator[str]:
    (folder / "ratios.json").write_text(json.dumps(ratios_data(drawn(dice))))
    yield from command_page(folder / "p.html", "audit", "report", folder / "ratios.json")


def diagnosis(folder: Path, dice: random.Random) -> Iterator[str]:
    stores = [f"{number} {drawn(dice)}" for number in range(2)]
    rows = [diagnosis_row(drawn(dice), "q", store, drawn(dice)) for store in stores]
    write_diagnosis(folder / "d", rows, drawn(dice))
    (folder / "d" / "summary.json").write_text(json.dumps(summary_data(stores, drawn(dice))))
    yield from command_page(folder / "p.html", "report", folder / "d")


ONE_FILE = (lint, diff, quick, board_of_scores, board, label_audit, diagnosis)
Pages = Callable[[Path, random.Random], Iterator[str]]


def rounds(name: str, tmp_path: Path, attack: Callable[[Path, random.Random], int]) -> None:
    """Attack until the time is over; the same attacks in the same order each time."""
    dice, end, tried, seen = random.Random(f"{name} {SEED}"), time.monotonic() + SECONDS, 0, 0
    while tried == 0 or seen == 0 or time.monotonic() < end:
        folder = tmp_path / str(tried)
        folder.mkdir()
        tried += 1
        seen += attack(folder, dice)
        assert tried < 50 or seen, "nothing but refusals"
    LOG.info("%s: %d attacks, %d pages", name, tried, seen)


@pytest.mark.parametrize("make", ONE_FILE, ids=lambda make: make.__name__)
def test_pages_in_one_file(make: Pages, tmp_path: Path) -> None:
    def attack(folder: Path, dice: random.Random) -> int:
        pages = list(make(folder, dice))
        for page in pages:
            assert {one for one in page if not one.isprintable()} == {"\n"}
            tree = Tree(page)
            assert_inert(tree)
            assert {element.name for element in tree.elements} <= html_tree.ELEMENTS
            for element in tree.elements:
                assert set(element.attributes) <= html_tree.ATTRIBUTES
                link = element.attributes.get("href") or "#x"
                assert re.match(r"#[a-z0-9-]+$|data:(application/json;base64)?,", link), link
        return len(pages)

    rounds(make.__name__, tmp_path, attack)


def assert_inert(tree: Tree) -> None:
    """No script but ours, no handler, no style, no way out."""
    for element in tree.elements:
        names = set(element.attributes)
        assert not any(name.startswith("on") for name in names), names
        assert not names & {"style", "srcdoc", "formaction", "xlink:href", "ping", "background"}
        if "http-equiv" in names:
            assert element.attributes["http-equiv"] == "Content-Security-Policy"
        if element.name == "script":
            data = element.attributes.get("type") == "application/json"
            assert not (set("<>&") & set(element.text) if data else element.text.strip())
            if data:
                json.loads(element.text)
    assert not tree.comments


def test_the_annotator(tmp_path: Path) -> None:
    """The page with a hostile name and guideline; cells come as JSON, which no browser runs."""

    def attack(folder: Path, dice: random.Random) -> int:
        texts = [(whole(dice), whole(dice), whole(dice)) for _ in range(3)]
        frame = frame_folder(folder / "frame", 3, texts)
        (frame / "guideline.md").write_text(whole(dice).replace("\0", ""))
        cells = frame_of(3, texts).cells
        with closing(LabelDatabase(folder / "l.sqlite", frame_digest(cells), 3)) as kept:
            app = Guard(
                annotator_app(LabellingSession(cells, kept, whole(dice)), guideline(frame)), TOKEN
            )
            for path in ("/", "/resume", "/cells/2"):
                request: dict[str, Any] = {
                    "method": "GET",
                    "path": path,
                    "query": "",
                    "body": b"",
                    "headers": [(b"host", HOST), (b"cookie", COOKIE)],
                }
                status, headers, body = asked(app, request)
                assert (status, headers["x-content-type-options"]) == (200, "nosniff")
                if path == "/":
                    tree = Tree(body.decode())
                    assert_inert(tree)
                    allowed = ELEMENTS | {"textarea", "em", "hr", "h5", "h6", "progress", "small"}
                    assert {one.name for one in tree.elements} <= allowed
                    links = {one.attributes.get("href") for one in tree.named("a", "link")}
                    assert not [one for one in links if one and ":" in one and one != "data:,"]
                else:
                    assert headers["content-type"] == "application/json"
                    json.loads(body)
        return 1

    rounds("annotator", tmp_path, attack)
