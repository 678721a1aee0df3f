"""The model behind the test server: replies computed from the request by a few plain rules.

A sentence is a fact; a question is none. "Correction: ..." replaces the fact about the same person
and verb, "Forget ..." removes what mentions it.
"""

import json
import math
import re
import zlib
from typing import Any

SIZE = 64
SUMMARY = "Much was told."


def sentences(text: str) -> list[str]:
    """The statements of a text, without `[time] speaker: `."""
    text = re.sub(r"\[\d{4}-\d\d-\d\d[^\]]*\] \w+: ", "", text)
    found = [one.strip() for one in re.findall(r"[^.?!\n]+[.?!]", text)]
    return [one for one in found if not one.endswith("?")]


def keywords(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"[a-z]{4,}", text.lower())))


def vector(text: str) -> list[float]:
    """A bag of words on the unit sphere: the same text has the same vector everywhere."""
    counts = [0.0] * SIZE
    for word in re.findall(r"\w+", text.lower()):
        counts[zlib.crc32(word.encode()) % SIZE] += 1.0
    length = math.sqrt(sum(count * count for count in counts)) or 1.0
    return [count / length for count in counts]


def reply(request: dict[str, Any]) -> dict[str, Any]:
    offered = {tool["function"]["name"] for tool in request.get("tools") or ()}
    if "memory_insert" in offered:
        return _letta(request)
    if offered:
        return _langmem(request)
    prompt = request["messages"][-1]["content"]
    if "<end_transcript>" in prompt:  # Letta has the oldest messages summed up
        return {"role": "assistant", "content": SUMMARY}
    if "## New Messages" in prompt:
        return _mem0(prompt)
    if "should_evolve" in json.dumps(request["response_format"]):
        return _evolve(prompt)
    return _analyse(prompt)


def _content(value: object) -> dict[str, Any]:
    return {"role": "assistant", "content": json.dumps(value)}


def _mem0(prompt: str) -> dict[str, Any]:
    """Mem0 asks for the new memories in what stands under New Messages."""
    new = prompt.split("## New Messages\n")[1].split("\n## ")[0]
    facts = sentences(re.sub(r"^(user|assistant): ", "", new, flags=re.MULTILINE))
    return _content(
        {"memory": [{"id": str(at), "text": fact, "attributed_to": "user"}
                    for at, fact in enumerate(facts)]}
    )  # fmt: skip


def _analyse(prompt: str) -> dict[str, Any]:
    """A-Mem asks for keywords, context and tags of a note."""
    words = keywords(prompt.split("Content for analysis:")[1])
    return _content({"keywords": words, "context": f"About {words[0]}.", "tags": ["diary"]})


def _evolve(prompt: str) -> dict[str, Any]:
    """A-Mem asks what a new note means for its neighbours: here, those with a word in common."""
    words = set(keywords(prompt.split("content: ")[1].split("keywords:")[0]))
    found = re.findall(
        r"memory_id:(\S+)\t.*?memory content: (.*?)\tmemory context: (.*?)\t", prompt
    )
    linked = [id for id, text, _ in found if words & set(keywords(text))]
    return _content({
        "should_evolve": bool(linked), "actions": ["strengthen", "update_neighbor"],
        "suggested_connections": linked, "tags_to_update": ["diary", "linked"],
        "new_context_neighborhood": [
            f"{context} Told again." if id in linked else context for id, _, context in found
        ],
        "new_tags_neighborhood": [["diary", "linked"] if id in linked else ["diary"]
                                  for id, _, _ in found],
    })  # fmt: skip


def _langmem(request: dict[str, Any]) -> dict[str, Any]:
    """LangMem offers tools: Memory, PatchDoc and, where deleting is on, RemoveDoc."""
    offered = {tool["function"]["name"] for tool in request["tools"]}
    said = "\n".join(str(message["content"]) for message in request["messages"])
    session = re.split(r"<session_[^>]*>", said)[1].split("</session_")[0]
    session = session.split("=\n\n", 1)[1]
    old = dict(re.findall(r"<instance id=(\S+) [^>]*>\n\{'content': '(.*?)'\}\n</instance>", said))
    calls: list[tuple[str, dict[str, Any]]] = []
    for fact in sentences(session):
        if fact.startswith("Correction: ") and "PatchDoc" in offered:
            new = fact.removeprefix("Correction: ")
            calls += [
                ("PatchDoc", {"json_doc_id": id, "planned_edits": "replace", "patches": [
                    {"op": "replace", "path": "/content", "value": new}]})
                for id, text in old.items() if text.split()[:2] == new.split()[:2]
            ]  # fmt: skip
        elif fact.startswith("Forget ") and "RemoveDoc" in offered:
            gone = fact.removeprefix("Forget ").rstrip(".")
            calls += [
                ("RemoveDoc", {"json_doc_id": id}) for id, text in old.items() if gone in text
            ]
        elif "Memory" in offered:
            calls.append(("Memory", {"content": fact}))
    return {
        "role": "assistant", "content": None,
        "tool_calls": [
            {"id": f"call_{at}", "type": "function",
             "function": {"name": name, "arguments": json.dumps(arguments)}}
            for at, (name, arguments) in enumerate(calls)
        ] or None,
    }  # fmt: skip


def _letta(request: dict[str, Any]) -> dict[str, Any]:
    """Letta's agent works step by step: one tool call for every fact, then a word to the user."""
    messages = request["messages"]
    asked = [
        place for place, message in enumerate(messages)
        if message["role"] == "user" and SUMMARY not in message["content"]
    ]  # fmt: skip
    if not asked:  # what the user said last is in the summary, and was seen to before
        return {"role": "assistant", "content": "Noted."}
    at = asked[-1]
    calls = [
        call for fact in sentences(messages[at]["content"])
        for call in _letta_calls(fact, _human_block(messages[:at]))
    ]  # fmt: skip
    done = sum(message["role"] == "tool" for message in messages[at:])
    if done >= len(calls):
        return {"role": "assistant", "content": "Noted."}
    name, arguments = calls[done]
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{len(messages)}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _letta_calls(fact: str, lines: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """Up to four words go to core memory, more to the archive; core memory alone is revised."""
    if fact.startswith("Correction: "):
        new = fact.removeprefix("Correction: ")
        old = [line for line in lines if line.split()[:2] == new.split()[:2]] or ["not there"]
    elif fact.startswith("Forget "):
        new, gone = "", fact.removeprefix("Forget ").rstrip(".")
        old = [line for line in lines if gone in line]
    elif len(fact.split()) > 4:
        return [("archival_memory_insert", {"content": fact})]
    else:
        return [("memory_insert", {"label": "human", "new_string": fact})]
    return [
        ("memory_replace", {"label": "human", "old_string": line, "new_string": new})
        for line in old
    ]


def _human_block(messages: list[dict[str, Any]]) -> list[str]:
    """The lines of the block after the calls made so far."""
    lines: list[str] = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            given = json.loads(call["function"]["arguments"])
            if call["function"]["name"] == "memory_insert":
                lines.append(given["new_string"])
            elif given.get("old_string") in lines:
                lines[lines.index(given["old_string"])] = given["new_string"]
    return lines
