"""The MCP memory server: a model with the server's tools, one turn per message; its own file.

The server is a Node process. It decides nothing: what is written is up to the model, which gets the
tools and the system prompt of the server's README.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any

from openai import OpenAI  # type: ignore[import-not-found,unused-ignore]

NAME = "@modelcontextprotocol/server-memory"
SERVER = Path(sys.prefix, "node_modules", *NAME.split("/"))
"""Where `npm install --prefix` puts it in the driver's environment."""
_PATHS = (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
NODE = shutil.which("node", path=os.pathsep.join(_PATHS))
if not SERVER.is_dir() or NODE is None:
    raise ModuleNotFoundError(name=NAME if NODE else "node")

DISTRIBUTIONS = ("openai",)
VERSIONS = {NAME: json.loads((SERVER / "package.json").read_text())["version"]}
OPTIONS = {"budget", "history", "instructions", "max_steps", "temperature"}
PROTOCOL = "2025-06-18"


class System:
    def __init__(self, settings: dict[str, Any], folder: str) -> None:
        options = settings["options"]
        self.tuning = {name: options[name] for name in ("temperature",) if name in options}
        self.steps = options.get("max_steps", 20)
        self.earlier: deque[list[dict[str, Any]]] = deque(maxlen=options.get("history", 10))
        told = [options.get("instructions") or _readme_prompt(), settings["budget_text"]]
        self.system = {"role": "system", "content": "\n\n".join(filter(None, told))}
        self.model = settings["model"]
        self.client = OpenAI(base_url=settings["base_url"], api_key=settings["api_key"])
        self.file = Path(folder, "memory.jsonl")
        self.server = _Server(self.file)
        listed = self.server.ask("tools/list", {})["result"]["tools"]
        self.tools = [
            {
                "type": "function",
                "function": {
                    "name": tool["name"],
                    "description": tool["description"],
                    "parameters": tool["inputSchema"],
                },
            }
            for tool in listed
        ]
        self.configuration = {
            "embedder": None,
            "temperature": self.tuning.get("temperature", "server default"),
            "prompt": "given" if options.get("instructions") else "the server's README",
            "tools": sorted(tool["name"] for tool in listed),
            "history": self.earlier.maxlen,
            "max_steps": self.steps,
        }

    def feed(self, messages: list[dict[str, Any]]) -> None:
        """One turn: the model calls tools until it answers."""
        turn: list[dict[str, Any]] = [
            {"role": message["role"], "content": message["content"]} for message in messages
        ]
        for _ in range(self.steps):
            answer = self._ask(turn)
            calls = answer.tool_calls or []
            turn.append({"role": "assistant", "content": answer.content or ""})
            if not calls:
                self.earlier.append(turn)
                return
            turn[-1]["tool_calls"] = [call.model_dump(exclude_none=True) for call in calls]
            turn += [
                {"role": "tool", "tool_call_id": call.id, "content": self._call(call.function)}
                for call in calls
            ]
        raise RuntimeError(f"the model still called tools after {self.steps} steps")

    def _ask(self, turn: list[dict[str, Any]]) -> Any:
        earlier = [message for before in self.earlier for message in before]
        chat: dict[str, Any] = {
            "model": self.model,
            "messages": [self.system, *earlier, *turn],
            "tools": self.tools,
        }
        return self.client.chat.completions.create(**chat, **self.tuning).choices[0].message

    def _call(self, function: Any) -> str:
        """What the server says to a call; mistakes of the model are told to it."""
        try:
            arguments = json.loads(function.arguments or "{}")
        except json.JSONDecodeError as error:
            return f"Error: the arguments are not JSON: {error}"
        answer = self.server.ask("tools/call", {"name": function.name, "arguments": arguments})
        if "error" in answer:
            return f"Error: {answer['error']['message']}"
        return "\n".join(part.get("text", "") for part in answer["result"]["content"])

    def rows(self) -> list[dict[str, Any]]:
        """Every entity and relation of the server's file; there are no ids."""
        lines = self.file.read_text(encoding="utf-8").split("\n") if self.file.exists() else []
        rows = [json.loads(line) for line in lines if line.strip()]
        return [{"id": _id(row), "text": json.dumps(row), "export": row} for row in rows]

    def close(self) -> None:
        """The server ends with its input."""
        self.server.process.communicate()


def _readme_prompt() -> str:
    """The system prompt that the server's README gives as an example."""
    text = (SERVER / "README.md").read_text(encoding="utf-8")
    found = re.search(r"### System Prompt.*?```\n(.*?)```", text, re.DOTALL)
    if found is None:
        raise ValueError(
            "the server's README has no system prompt; give --option instructions=TEXT"
        )
    return found[1].strip()


def _id(row: dict[str, Any]) -> str:
    """The name of an entity, or the three words of a relation."""
    names = ("name",) if row["type"] == "entity" else ("from", "relationType", "to")
    return " ".join(row[name].strip() for name in names)


class _Server:
    """The server's process; requests and answers are lines of JSON."""

    def __init__(self, file: Path) -> None:
        given = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
        self.process = subprocess.Popen(
            [str(NODE), str(SERVER / "dist" / "index.js")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**given, "MEMORY_FILE_PATH": str(file)},
        )
        self.asked = 0
        client = {"name": "memaudit", "version": "1"}
        self.ask(
            "initialize",
            {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client},
        )
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        self._send({"id": self.asked, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self.asked:
                return answer
        raise RuntimeError("the process of the MCP memory server ended")

    def _send(self, request: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
        self.process.stdin.flush()
