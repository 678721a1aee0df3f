"""A memory system small enough to read: it keeps every message, in the shape of a Mem0 export.

Runs inside the driver process, so it imports the standard library only. Words that steer it:
"forget X" drops notes with X, "leak" notes its key, "raise", "log", "print" fail in the three ways
libraries fail, "die" ends the process, "sleep" hangs,
"when" notes the time and a new id.
"""

import datetime
import logging
import os
import pathlib
import sys
import time
import uuid
from typing import Any

DISTRIBUTIONS = ("pip", "no-such-distribution")
OPTIONS = {"shout"}


class System:
    """Notes by number, and a file in the folder it was given."""

    def __init__(self, settings: dict[str, Any], folder: str) -> None:
        self.configuration = {"kind": "notebook"}
        self.shout = settings["options"].get("shout", False)
        self.notes: dict[str, str] = {}
        pathlib.Path(folder, "notes.txt").write_text("open")
        if not settings["api_key"]:
            raise ValueError("no key")

    def feed(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            self._feed(message)

    def _feed(self, message: dict[str, Any]) -> None:
        verb, _, rest = message["spoken"].partition(" ")
        if verb == "forget":
            self.notes = {id: text for id, text in self.notes.items() if rest not in text}
        elif verb == "change":
            self.notes["0"] = rest
        elif verb == "raise":
            raise RuntimeError(f"with the key {os.environ['OPENAI_API_KEY']}")
        elif verb == "die":
            sys.stderr.write("last words\n")
            sys.stderr.flush()
            os._exit(3)
        elif verb == "sleep":
            time.sleep(60)
        elif verb == "leak":
            key = os.environ["OPENAI_API_KEY"]
            self.notes["0"] = f"the key is {key}"
        elif message["content"].endswith("when"):
            now = datetime.datetime.now(datetime.UTC).isoformat()
            self.notes[str(len(self.notes))] = f"{now} {uuid.uuid4()}"
        else:
            self._fail_quietly(verb)
            text = message["content"].upper() if self.shout else message["content"]
            self.notes[str(len(self.notes))] = text

    def _fail_quietly(self, verb: str) -> None:
        if verb == "log":
            logging.getLogger("notebook").error("the model said nothing")
        if verb == "print":
            sys.stdout.write("Error analysing: the model said nothing\n")

    def rows(self) -> list[dict[str, Any]]:
        """The notes in reverse, as a store without an order might list them."""
        return [
            {"id": id, "text": text, "export": {"id": id, "memory": text, "user_id": "user"}}
            for id, text in reversed(self.notes.items())
        ]

    def close(self) -> None:
        """Nothing to give back."""
