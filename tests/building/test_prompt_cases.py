"""The prompt cases: what they are, how answers are graded, and the command, over real HTTP."""

import json
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.passes.units import PartName, normalized
from memaudit.building.prompt_cases import (
    POINTS,
    STAGES,
    CaseResult,
    PromptCase,
    check_prompts,
    prompt_cases,
)
from memaudit.cli.errors import WAITING
from memaudit.models import prompts
from memaudit.models.cache import Cache
from memaudit.models.prompts import OTHER_PROMPTS, PROMPTS
from memaudit.models.session import open_session
from tests.building.passes.building import live
from tests.building.passes.fake_model import blocks, unit, which
from tests.building.record_replies import READER, RECORDED
from tests.cli.running import done, failure, printed_json, run
from tests.models.server import completion, send, serving

PAGE = (Path(__file__).parents[2] / "docs/explanation/prompts.md").read_text()
BY_ID = {case.id: case for case in prompt_cases()}


def test_every_point_has_cases() -> None:
    """About 120 cases, most of them about coverage; each names a point and says why."""
    counts = Counter(case.point for case in prompt_cases())
    assert counts.keys() == POINTS.keys()
    assert list(counts) == [point for point in POINTS if point in counts]
    assert len(BY_ID) == len(prompt_cases()) >= 120
    stages = Counter(case.stage for case in prompt_cases())
    assert stages.keys() == set(STAGES)
    assert stages["coverage"] > len(BY_ID) / 2
    assert all(case.why.endswith(".") for case in prompt_cases())


def test_the_documentation_decides_every_point() -> None:
    """One row for each by its name, under the heading of its pass, in their order."""
    sections = {
        "units": "Memories and units",
        "requirements": "Requirements",
        "adjudication": "Adjudication",
        "coverage": "Coverage",
    }
    decided = [
        (f"{stage} {line[2]}", line[5:].split(" |")[0])
        for stage, heading in sections.items()
        for line in PAGE.split(f"## {heading}\n")[1].split("\n## ")[0].splitlines()
        if line.startswith("| ") and line[2].isdigit()
    ]
    assert decided == list(POINTS.items())


def test_the_documentation_lists_every_prompt() -> None:
    """The files of the folder are the prompts of a build and the others, and the page names all."""
    named = [line.split("`")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    assert named == [*PROMPTS, *OTHER_PROMPTS]
    folder = Path(prompts.__file__).parent
    assert {path.stem for path in folder.glob("*.md")} == set(named)


def test_cases_hold_together() -> None:
    """Labels fit their parts, checks refer to words of the source, units are among those shown."""
    names = set(PartName.__args__)  # type: ignore[attr-defined]
    for case in prompt_cases():
        if case.stage == "coverage":
            parts, kept = case.given.get("parts", {}), case.right.get("kept")
            assert set(parts) <= names
            assert (kept is None) == (not parts)
            label = case.right["label"]
            if kept is not None:
                full, core = set(kept) == set(parts), next(iter(parts)) in kept
                assert label == ("full" if full else "partial" if kept else "none"), case.id
                assert core or not kept
            assert all(
                words.casefold() in case.given["unit"].casefold() for words in parts.values()
            )
        elif case.stage == "units":
            texts = [turn["text"] for one in case.given["source"] for turn in one["turns"]]
            for check in case.right["checks"]:
                assert "of" not in check or any(
                    normalized(check["of"])[0] in normalized(text)[0] for text in texts
                ), case.id
        else:
            shown = range(1, len(case.given["units"]) + 1)
            named = [number for group in case.right.get("required", []) for number in group]
            assert set(named) <= set(shown)


def right_reply(case: PromptCase) -> dict[str, Any]:
    """The reply of a model that is right about a case of coverage, requirements or a verdict."""
    right = case.right
    if case.stage == "coverage":
        cell = {"memory": 1, "unit": 1, "label": right["label"], "kept": right.get("kept", [])}
        return {"cells": [{**cell, "reason": "r"}]}
    rows = [{"unit": group[0], "or": group[1:]} for group in right.get("required", [])]
    if case.stage == "requirements":
        rows = [{**row, "reason": "r"} for row in rows]
        return {"decision": right["decision"], "required": rows, "reason": "r"}
    return {"verdict": right["verdict"], "required": rows, "rewrites": [], "reason": "r"}


def checked(
    folder: Path, cases: list[PromptCase], reply: Callable[[PromptCase], Any]
) -> list[CaseResult]:
    """The results of a model that gives these replies; the wire shows it what the case gives."""

    def answers(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        data = blocks(body["messages"][1]["content"])
        (case,) = [case for case in cases if case.stage == which(body) and is_of(case, data)]
        send(handler, 200, completion(json.dumps(reply(case))))

    with serving(answers) as served, Cache(folder / "cache") as cache:
        session = open_session(live(served.url), cache, folder / "requests")
        return check_prompts(cases, session, "one")


def is_of(case: PromptCase, data: dict[str, Any]) -> bool:
    given = case.given
    if case.stage == "coverage":
        texts = data["memories"][0]["text"], data["units"][0]["text"]
        same_parts = list(data["units"][0].get("parts", {})) == list(given.get("parts", {}))
        return texts == (given["memory"], given["unit"]) and same_parts
    if case.stage == "units":
        return bool(data["source"][0]["turns"][0]["text"] == given["source"][0]["turns"][0]["text"])
    same = (data["question"]["question"], data["question"]["answer"]) == (
        given["question"],
        given["answer"],
    )
    shown = len(data["units"]) == len(given["units"])
    proposal = given.get("proposal")
    return (
        same
        and shown
        and (proposal is None or len(data["proposal"]["required"]) == len(proposal["required"]))
    )


def test_right_replies_are_right(tmp_path: Path) -> None:
    """All cases but those of units, whose replies are free."""
    cases = [case for case in prompt_cases() if case.stage != "units"]
    wrong = [result for result in checked(tmp_path, cases, right_reply) if not result.is_right]
    assert wrong == []


@pytest.mark.parametrize(
    ("id", "reply", "answer"),
    [
        (
            "coverage-1-1",
            {"cells": [{"memory": 1, "unit": 1, "label": "full", "kept": [], "reason": ""}]},
            "full",
        ),
        ("coverage-1-1", {"cells": []}, "no cell"),
        ("coverage-1-1", {"nothing": 1}, "no valid reply"),
        (
            "coverage-6-1",
            {
                "cells": [
                    {
                        "memory": 1,
                        "unit": 1,
                        "label": "partial",
                        "kept": ["what", "where"],
                        "reason": "",
                    }
                ]
            },
            "partial, kept what, where",
        ),
        (
            "coverage-6-1",
            {"cells": [{"memory": 1, "unit": 1, "label": "full", "kept": [], "reason": ""}]},
            "full, kept parts not named",
        ),
        (
            "requirements-5-1",
            {
                "decision": "supported",
                "reason": "",
                "required": [{"unit": 1, "or": [], "reason": ""}],
            },
            "supported, units 1",
        ),
        (
            "requirements-3-1",
            {"decision": "unsupported", "reason": "", "required": []},
            "unsupported, units none",
        ),
        (
            "adjudication-1-1",
            {"verdict": "rejected", "required": [], "rewrites": [], "reason": ""},
            "rejected",
        ),
    ],
)
def test_wrong_replies_are_wrong(tmp_path: Path, id: str, reply: object, answer: str) -> None:
    (found,) = checked(tmp_path, [BY_ID[id]], lambda _: reply)
    assert (found.answer, found.is_right) == (answer, False)


FRIDAY = "units-6-1"


@pytest.mark.parametrize(
    ("id", "rows", "answer"),
    [
        (
            FRIDAY,
            [
                unit(1, "I see the dentist next Friday.", "x")
                | {"from": "2024-05-10", "to": "2024-05-10"}
            ],
            None,
        ),
        (
            FRIDAY,
            [unit(1, "dentist next Friday", "x") | {"from": "2024-05-03"}],
            "'dentist next Friday' has from 2024-05-10, to 2024-05-10: from '2024-05-03', to None",
        ),
        (FRIDAY, [], "'dentist next Friday' has from 2024-05-10, to 2024-05-10: no unit"),
        (
            "units-2-1",
            [
                unit(1, "I work as a night porter", "x", who="user"),
                unit(2, "Worked up to 50 hours a week", "The assistant wrote it."),
            ],
            None,
        ),
        (
            "units-2-1",
            [
                unit(1, "I work as a night porter", "x", who="user"),
                unit(2, "up to 50 hours a week", "The user works 50 hours.", who="user"),
            ],
            "'up to 50 hours a week' never has said_by user: The user works 50 hours.",
        ),
        (
            "units-3-5",
            [unit(1, "forget my old phone number", "x")],
            "changes: forgotten: no change",
        ),
        ("units-9-1", [unit(1, "certificates in welding", "x"), unit(1, "first aid", "y")], None),
        (
            "units-9-1",
            [unit(1, "certificates in welding and in first aid", "x")],
            "2 units quote 'I hold certificates in welding and in first aid.': 1 units",
        ),
        (
            "units-8-1",
            [
                unit(2, "every Sunday", "The user plays the oboe every Sunday.")
                | {"context": [{"turn": 1, "quote": "play the oboe"}]}
            ],
            None,
        ),
    ],
)
def test_checks_of_units(
    tmp_path: Path, id: str, rows: list[dict[str, Any]], answer: str | None
) -> None:
    (found,) = checked(tmp_path, [BY_ID[id]], lambda _: {"units": rows})
    assert (found.answer, found.is_right) == (answer or "as expected", answer is None)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that always says full: a table by point, every failure, an exit code on demand."""
    monkeypatch.chdir(tmp_path)

    def full(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        shown = blocks(body["messages"][1]["content"])["units"][0]
        cell = {"memory": 1, "unit": 1, "label": "full", "kept": list(shown.get("parts", {}))}
        send(handler, 200, completion(json.dumps({"cells": [{**cell, "reason": ""}]})))

    cases = [case for case in prompt_cases() if case.stage == "coverage"]
    right = sum(case.right["label"] == "full" for case in cases)
    asks = ("model", "check", "--model", "one", "--pass", "coverage", "--set", "model.yes=true")
    with serving(full) as served:
        printed = done(*asks, "--set", f"model.base_url={served.url}").stdout
        assert len(served.bodies) == len(cases)
    replay = (*asks, "--set", "model.provider=offline")
    data = printed_json(*replay)
    assert (data["model"], data["cases"]) == ("one", len(cases))
    assert data["right"] == right == sum(row["right"] for row in data["results"])
    lines = [line.split() for line in printed.splitlines()]
    assert ["all", str(right), str(len(cases))] in lines
    assert ["coverage", "1", "as-of", "dates", "4", "10"] in lines
    assert (
        "coverage-1-1: \"I've completed 30 pottery videos.\" for 'As of 24 May 2023, Dana has "
        "completed 30 pottery videos.'\n  expected partial. Only the as-of date is missing.\n"
        "  given    full\n"
    ) in printed
    assert "coverage-1-2" not in printed
    assert run(*replay, "--min-right", right).exit_code == 0
    short = run(*replay, "--min-right", right + 1)
    assert short.exit_code == 1
    assert f"fewer than {right + 1}" in short.stderr
    assert "choose units, requirements" in failure(*asks[:4], "--pass", "memories")


RIGHT = 145
"""How many cases the reader of the recorded replies, a language model, got right."""


@pytest.mark.skipif(not RECORDED.exists(), reason="no replies are recorded (record_replies.py)")
def test_recorded_replies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who saw the requests alone, through a batch: write, import, run again."""
    monkeypatch.chdir(tmp_path)
    asks = ("model", "check", "--model", READER, "--set", "model.provider=batch")
    waiting = run(*asks)
    assert waiting.exit_code == WAITING
    assert len(Path("prompts-check-requests.jsonl").read_text().splitlines()) == len(BY_ID)
    done("model", "batch", RECORDED)
    assert printed_json(*asks)["right"] == RIGHT
