"""An OpenAI-compatible server on the loopback; it remembers what it was sent.

Its replies are computed from the request by a few plain rules. A sentence is a fact; a question is
none. "Correction: ..." replaces the fact about the same person and verb, "Forget ..." removes what
mentions it.
"""

import json
import math
import re
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelServer(ThreadingHTTPServer):
    """Every request in order. A chat that mentions `hold` waits, the first that mention `refuse`
    fail, as many as `refusals`; a text that mentions `no_vector` is not embedded."""

    daemon_threads = True
    refuse = ""
    refusals = 1
    hold = ""
    no_vector = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.keys: set[str | None] = set()
        self.faults: list[BaseException | None] = []
        self.held, self.released = threading.Event(), threading.Event()

    def handle_error(self, *_: object) -> None:
        """A rule that breaks must fail the test, not look like a model that is down."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError):  # a killed client is no fault of ours
            self.faults.append(error)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def chats(self) -> list[str]:
        return [json.dumps(body) for path, body in self.seen if path.endswith("/chat/completions")]


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        server.seen.append((self.path, body))
        server.keys.add(self.headers["Authorization"])
        if self.path.endswith("/embeddings"):
            if server.no_vector and server.no_vector in json.dumps(body["input"]):
                return self._send(400, {"error": {"message": "no vector", "code": None}})
            return self._send(200, _embeddings(body))
        said = json.dumps(body["messages"])
        if server.hold and server.hold in said:
            server.held.set()
            server.released.wait(60)
        if server.refuse and server.refuse in said and server.refusals > 0:
            server.refusals -= 1
            key = self.headers["Authorization"]
            return self._send(400, {"error": {"message": f"no answer for {key}", "code": None}})
        message = reply(body)
        size = len(json.dumps(body)) // 4  # about what a tokenizer would say: Letta acts on it
        done = "tool_calls" if message.get("tool_calls") else "stop"
        return self._send(
            200,
            {
                "id": "chat",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": done}],
                "usage": {"prompt_tokens": size, "completion_tokens": 1, "total_tokens": size + 1},
            },
        )

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Quiet."""


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    data = [
        {"object": "embedding", "index": at, "embedding": vector(text)}
        for at, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


@contextmanager
def serving() -> Iterator[ModelServer]:
    with ModelServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.released.set()
            server.shutdown()
        assert server.faults == []


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
    if "create_entities" in offered:
        return _mcp_memory(request)
    if offered:
        return _langmem(request)
    prompt = request["messages"][-1]["content"]
    asked = request.get("response_format", {}).get("json_schema", {}).get("name")
    if asked in GRAPHITI:
        return _content(GRAPHITI[asked](prompt))
    if "knowledge graph" in request["messages"][0]["content"]:
        return _content(_cognee_graph(prompt))
    if request["messages"][0]["content"].startswith("Summarize the chunk"):
        return _content({"summary": prompt, "description": ""})
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
        {
            "memory": [
                {"id": str(at), "text": fact, "attributed_to": "user"}
                for at, fact in enumerate(facts)
            ]
        }
    )


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
    return _content(
        {
            "should_evolve": bool(linked),
            "actions": ["strengthen", "update_neighbor"],
            "suggested_connections": linked,
            "tags_to_update": ["diary", "linked"],
            "new_context_neighborhood": [
                f"{context} Told again." if id in linked else context for id, _, context in found
            ],
            "new_tags_neighborhood": [
                ["diary", "linked"] if id in linked else ["diary"] for id, _, _ in found
            ],
        }
    )


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
                (
                    "PatchDoc",
                    {
                        "json_doc_id": id,
                        "planned_edits": "replace",
                        "patches": [{"op": "replace", "path": "/content", "value": new}],
                    },
                )
                for id, text in old.items()
                if text.split()[:2] == new.split()[:2]
            ]
        elif fact.startswith("Forget ") and "RemoveDoc" in offered:
            gone = fact.removeprefix("Forget ").rstrip(".")
            calls += [
                ("RemoveDoc", {"json_doc_id": id}) for id, text in old.items() if gone in text
            ]
        elif "Memory" in offered:
            calls.append(("Memory", {"content": fact}))
    return _tool_calls(calls)


def _tool_calls(calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{at}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for at, (name, arguments) in enumerate(calls)
        ]
        or None,
    }


def _mcp_memory(request: dict[str, Any]) -> dict[str, Any]:
    """Reads the graph of the MCP memory server, writes all facts at once, then says a word."""
    messages = request["messages"]
    at = max(place for place, message in enumerate(messages) if message["role"] == "user")
    told = [message["content"] for message in messages[at:] if message["role"] == "tool"]
    calls: list[tuple[str, dict[str, Any]]] = [] if told else [("read_graph", {})]
    if len(told) == 1:
        known = {one["name"]: one["observations"] for one in json.loads(told[0])["entities"]}
        for fact in sentences(messages[at]["content"]):
            calls += _graph_calls(fact, known)
    if not calls:
        return {"role": "assistant", "content": "Noted."}
    return _tool_calls(calls)


def _graph_calls(fact: str, known: dict[str, list[str]]) -> list[tuple[str, dict[str, Any]]]:
    """The first word names an entity; "Ann knows Bob" is a relation; "Forget" deletes."""
    new = fact.removeprefix("Correction: ")
    about = new.split()[0]
    if fact.startswith("Forget "):
        word = fact.removeprefix("Forget ").rstrip(".")
        if word in known:
            return [("delete_entities", {"entityNames": [word]})]
        return _unsay([(name, [t for t in said if word in t]) for name, said in known.items()])
    if " knows " in fact:
        pair = {"from": about, "relationType": "knows", "to": fact.split()[-1].rstrip(".")}
        return [("create_relations", {"relations": [pair]})]
    added = ("add_observations", {"observations": [{"entityName": about, "contents": [new]}]})
    if new != fact:
        old = [one for one in known.get(about, ()) if one.split()[:2] == new.split()[:2]]
        return [*_unsay([(about, old)]), added]
    if about in known:
        return [added]
    known[about] = []
    entity = {"name": about, "entityType": "person", "observations": [new]}
    return [("create_entities", {"entities": [entity]})]


def _unsay(wrong: list[tuple[str, list[str]]]) -> list[tuple[str, dict[str, Any]]]:
    gone = [{"entityName": name, "observations": texts} for name, texts in wrong if texts]
    return [("delete_observations", {"deletions": gone})] if gone else []


def _between(prompt: str, tag: str) -> str:
    return prompt.split(f"<{tag}>\n")[1].split(f"\n</{tag}>")[0]


def _triples(message: str) -> list[tuple[str, str, str, str]]:
    """Subject, verb, last word and the whole of every fact; Graphiti knows facts of two things."""
    facts = [fact for fact in sentences(re.sub(r"^\w+: ", "", message)) if "Forget" not in fact]
    facts = [fact.removeprefix("Correction: ") for fact in facts]
    words = [fact.rstrip(".").split() for fact in facts]
    return [(one[0], one[1], one[-1], fact) for one, fact in zip(words, facts, strict=True)]


def _entities(prompt: str) -> dict[str, Any]:
    triples = _triples(_between(prompt, "CURRENT MESSAGE"))
    names = dict.fromkeys(name for first, _, last, _ in triples for name in (first, last))
    return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}


def _edges(prompt: str) -> dict[str, Any]:
    return {
        "edges": [
            {
                "source_entity_name": first,
                "target_entity_name": last,
                "relation_type": verb.upper(),
                "fact": fact,
                "valid_at": None,
                "invalid_at": None,
            }
            for first, verb, last, fact in _triples(_between(prompt, "CURRENT_MESSAGE"))
        ]
    }


def _same_entities(prompt: str) -> dict[str, Any]:
    """Graphiti asks about names that it does not find as they are; none is another's."""
    new = json.loads(_between(prompt, "ENTITIES"))
    return {
        "entity_resolutions": [
            {"id": one["id"], "name": one["name"], "duplicate_candidate_id": -1} for one in new
        ]
    }


def _contradicted(prompt: str) -> dict[str, Any]:
    """Nobody lives in two places."""
    new = _between(prompt, "NEW FACT")
    lists = _between(prompt, "EXISTING FACTS") + _between(prompt, "FACT INVALIDATION CANDIDATES")
    old = re.findall(r"'idx': (\d+), 'fact': '([^']*)'", lists)
    lives = [int(at) for at, fact in old if fact.split()[:2] == new.split()[:2] and "lives" in fact]
    return {"duplicate_facts": [], "contradicted_facts": lives}


def _since(prompt: str) -> dict[str, Any]:
    return {"valid_at": _between(prompt, "REFERENCE TIME"), "invalid_at": None}


GRAPHITI: dict[str | None, Callable[[str], dict[str, Any]]] = {
    "ExtractedEntities": _entities,
    "ExtractedEdges": _edges,
    "NodeResolutions": _same_entities,
    "EdgeDuplicate": _contradicted,
    "EdgeTimestamps": _since,
    "SummarizedEntities": lambda _: {"summaries": []},
}
"""Graphiti names the shape of the reply that it wants."""


def _cognee_graph(message: str) -> dict[str, Any]:
    """cognee asks for a graph of entities with descriptions and edges."""
    triples = _triples(re.sub(r"^\[[^\]]*\] ", "", message))
    names = dict.fromkeys(name for first, _, last, _ in triples for name in (first, last))
    return {
        "nodes": [{"id": name, "name": name, "type": "Thing", "description": ""} for name in names],
        "edges": [
            {
                "source_node_id": first,
                "target_node_id": last,
                "relationship_name": verb,
                "description": fact,
            }
            for first, verb, last, fact in triples
        ],
    }


def _letta(request: dict[str, Any]) -> dict[str, Any]:
    """Letta's agent works step by step: one tool call for every fact, then a word to the user."""
    messages = request["messages"]
    asked = [
        place
        for place, message in enumerate(messages)
        if message["role"] == "user" and SUMMARY not in message["content"]
    ]
    if not asked:  # what the user said last is in the summary, and was seen to before
        return {"role": "assistant", "content": "Noted."}
    at = asked[-1]
    calls = [
        call
        for fact in sentences(messages[at]["content"])
        for call in _letta_calls(fact, _human_block(messages[:at]))
    ]
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
