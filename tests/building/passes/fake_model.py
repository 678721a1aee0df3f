"""A small deterministic "model": every reply is computed from the request, so tests know it.

Memories are the sentences of the source. Units are its sentences with a number or of more than
eight words, and the first two sentences of each turn together. A question requires the units that
hold the longest word of its answer. Coverage goes by containment. Verdicts go by the length of the
question. As the model `other` it is stricter: a partial cell is none. Salience is the number of
words, up to ten; with questions, the number of words that a question has. Compaction joins the
first two memories.
"""

import json
import re
from http.server import BaseHTTPRequestHandler
from typing import Any

from memaudit.models.prompts import OTHER_PROMPTS, PROMPTS, pass_prompt
from tests.models.server import Behaviour, completion, send

TEXTS = {f"{pass_prompt(name).text}\n\n": name for name in (*PROMPTS, *OTHER_PROMPTS)}

VERDICTS = ("accepted", "corrected", "ambiguous", "rejected")


def blocks(user: str) -> dict[str, Any]:
    """The data blocks of a user message; anything else in it is an error."""
    lines = user.split("\n")
    found = {}
    for begin, data, end in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        name = begin.removeprefix("BEGIN DATA: ")
        assert (begin, end) == (f"BEGIN DATA: {name}", f"END DATA: {name}")
        found[name] = json.loads(data)
    return found


def which(body: dict[str, Any]) -> str:
    """The prompt's name."""
    system = body["messages"][0]["content"]
    (found,) = [found for text, found in TEXTS.items() if system.startswith(text)]
    return found


def sentences(text: str) -> list[str]:
    return [one.strip() for one in re.findall(r"[^.!?]+[.!?]*", text) if one.strip()]


def answer(body: dict[str, Any]) -> dict[str, Any]:
    name = which(body)
    data = blocks(body["messages"][1]["content"])
    if name in ("memories", "units"):
        turns = [
            (turn["turn"], sentence, turn["speaker"])
            for session in data["source"]
            for turn in session["turns"]
            for sentence in sentences(turn["text"])
        ]
        if name == "memories":
            rows = [{"turns": [turn], "kind": "fact", "text": text} for turn, text, _ in turns]
            return {"memories": rows}
        turns = [one for one in turns if re.search(r"\d", one[1]) or len(one[1].split()) > 8]
        turns += [
            (turn["turn"], found[0].strip(), turn["speaker"])
            for session in data["source"]
            for turn in session["turns"]
            if (found := re.match(r"[^.!?]+[.!?]+[^.!?]+[.!?]+", turn["text"]))
        ]
        return {"units": [unit(one, text, text, who) for one, text, who in turns]}
    if name == "quotes":
        return {"quotes": []}
    if name == "requirements":
        return requirements(data)
    if name == "adjudication":
        return adjudication(data)
    if name == "support":
        return {"verdicts": support(data)}
    if name == "memory_pairs":
        return {"verdicts": memory_pairs(data)}
    if name in OTHER_PROMPTS:
        return {"scores": salience(data)}
    labelled = cells(data, strict=body["model"] == "other")
    return {"cells": [{**row, "kept": kept(row, data)} for row in labelled]}


def support(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Supported where all words of a memory stand in one turn, partly where some do."""
    rows = []
    for row in data["memories"]:
        words = set(row["text"].lower().strip(".").split())
        shares = [
            len(words & set(turn["text"].lower().strip(".").split())) / len(words)
            for turn in data["turns"]
        ]
        best = max(shares, default=0)
        verdict = "supported" if best == 1 else "partly" if best else "not"
        turn = shares.index(best) + 1 if best else None
        rows.append({"memory": row["memory"], "support": verdict, "turn": turn, "reason": "words"})
    return rows


def memory_pairs(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The same where all words are, in conflict where only the last one differs."""
    rows = []
    for row in data["pairs"]:
        first, second = (row[name].lower().strip(".").split() for name in ("first", "second"))
        same, conflict = set(first) == set(second), first[:-1] == second[:-1]
        verdict = "same" if same else "conflict" if conflict else "other"
        rows.append({"pair": row["pair"], "verdict": verdict, "reason": ""})
    return rows


def salience(data: dict[str, Any]) -> list[dict[str, Any]]:
    """A score for each memory, by its words alone or by those that questions have."""
    asked = {word for question in data.get("questions", []) for word in question.lower().split()}
    return [
        {
            "memory": row["memory"],
            "salience": min(
                10, sum(not asked or word in asked for word in row["text"].lower().split())
            ),
            "reason": "",
        }
        for row in data["memories"]
    ]


def unit(turn: int, quote: str, statement: str, who: str = "assistant") -> dict[str, Any]:
    """A row of the units pass with a speaker and no other detail."""
    return {
        "turn": turn,
        "quote": quote,
        "kind": "fact",
        "statement": statement,
        "context": [],
        "said_by": who,
        "change": "none",
        "disputed": False,
        "from": None,
        "to": None,
        "parts": [],
    }


def requirements(data: dict[str, Any]) -> dict[str, Any]:
    words = re.findall(r"\w+", data["question"]["answer"] or "")
    longest = max(words, key=len, default="").lower()
    rows = [
        {"unit": unit["unit"], "reason": f"says {longest}", "or": []}
        for unit in data["units"]
        if longest and longest in unit["statement"].lower()
    ]
    decision = "supported" if rows else "unsupported"
    return {"decision": decision, "required": rows, "reason": "by the longest word"}


def adjudication(data: dict[str, Any]) -> dict[str, Any]:
    """A verdict by the length of the question; a correction keeps one unit and marks it."""
    verdict = VERDICTS[len(data["question"]["question"]) % 4]
    required = [row["unit"] for row in data["proposal"]["required"]]
    if verdict == "corrected" and not required:
        verdict = "rejected"
    if verdict != "corrected":
        return {"verdict": verdict, "required": [], "rewrites": [], "reason": verdict}
    first = required[0]
    (statement,) = [unit["statement"] for unit in data["units"] if unit["unit"] == first]
    rewrites = [{"unit": first, "statement": f"{statement} (checked)"}]
    right: list[Any] = [{"unit": first, "or": []}]
    return {"verdict": verdict, "required": right, "rewrites": rewrites, "reason": "enough"}


def cells(data: dict[str, Any], strict: bool) -> list[dict[str, Any]]:
    """Full if the memory holds the unit, partial if the unit holds the memory."""
    memories = {row["memory"]: row["text"] for row in data["memories"]}
    units = {row["unit"]: row["text"].removesuffix(" (checked)") for row in data["units"]}
    found = []
    for row in data["pairs"]:
        for unit in row["units"]:
            memory, text = memories[row["memory"]], units[unit]
            label = "full" if text in memory else "partial" if memory in text else "none"
            if strict and label == "partial":
                label = "none"
            found.append(
                {"memory": row["memory"], "unit": unit, "label": label, "reason": f"is {label}"}
            )
    return found


def kept(row: dict[str, Any], data: dict[str, Any]) -> list[str]:
    """The parts whose words are in the memory, unless nothing is preserved."""
    (memory,) = [one["text"] for one in data["memories"] if one["memory"] == row["memory"]]
    (unit,) = [one for one in data["units"] if one["unit"] == row["unit"]]
    found = [name for name, words in unit.get("parts", {}).items() if words in memory]
    return [] if row["label"] == "none" else found


def plays(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    send(handler, 200, completion(json.dumps(answer(body))))


def instead(name: str, content: object, **more: object) -> Behaviour:
    """The fake model, but for every request of one prompt this content."""

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if which(body) == name:
            text = content(body) if callable(content) else content
            send(handler, 200, completion(text, **more))
        else:
            plays(handler, body)

    return behave
