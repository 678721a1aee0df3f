"""The API key: read from the environment, shown only to the server it belongs to."""

import json
import os
import re
from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import quote, urlsplit

from memaudit.kernel.errors import MemAuditError

ANYWHERE = "MEMAUDIT_API_KEY"
"""Sent to whatever address the user gave."""

OWN_HOSTS = {"OPENAI_API_KEY": "openai.com", "OPENROUTER_API_KEY": "openrouter.ai"}
"""Keys that go to one company's hosts only: a key must not reach any other server."""

SHORTEST_SECRET = 12
"""Shorter values are placeholders such as `none` or `ollama`: hiding them would damage replies."""

HIDDEN = "[key hidden]"

_LOOKS_LIKE_A_KEY = re.compile(r"(?i:bearer\s+)[^\s\"',]+|\bsk-[\w*.…-]{6,}")


class Secret:
    """A value that does not show itself in reprs, messages, pickles or copies."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value, for the one place that sends it."""
        return self._value

    def __repr__(self) -> str:
        return "Secret('***')"

    def __bool__(self) -> bool:
        return bool(self._value)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be pickled or copied")

    def hidden_in(self, text: str) -> str:
        """The text without the value, as it is or as JSON, Python or an address spells it."""
        value = self._value
        if len(value) < SHORTEST_SECRET:
            return text
        for form in (value, json.dumps(value)[1:-1], repr(value)[1:-1], quote(value, safe="")):
            text = text.replace(form, HIDDEN)
        return text

    def hidden_in_message(self, text: str) -> str:
        """The same for a server's message, where anything that looks like a key is hidden too."""
        return _LOOKS_LIKE_A_KEY.sub(HIDDEN, self.hidden_in(text))


def checked_address(base_url: str) -> str:
    """The base URL; refused if it carries a password or is not an HTTP address."""
    try:
        parts = urlsplit(base_url)
        host, userinfo = parts.hostname, parts.username or parts.password
    except ValueError:
        parts, host, userinfo = None, None, None
    if parts is None or parts.scheme not in ("http", "https") or not host:
        raise MemAuditError("the base URL is not an http or https address; check base_url")
    if userinfo or parts.query or parts.fragment:
        raise MemAuditError(
            f"the base URL carries a user name, password or query; put the key in {ANYWHERE}"
        )
    return base_url.rstrip("/")


def key_for(base_url: str, environment: Mapping[str, str] | None = None) -> Secret:
    """The key for an address, from the environment; empty if none belongs to it."""
    variables = os.environ if environment is None else environment
    if variables.get(ANYWHERE):
        return _printable(ANYWHERE, variables[ANYWHERE])
    parts = urlsplit(checked_address(base_url))
    host = parts.hostname or ""
    for name, owner in OWN_HOSTS.items():
        own = host == owner or host.endswith(f".{owner}")
        if variables.get(name) and own and parts.scheme == "https":  # never in clear text
            return _printable(name, variables[name])
    return Secret("")


def _printable(name: str, value: str) -> Secret:
    """A header cannot hold line breaks; such a key is refused without quoting it."""
    value = value.strip()
    if not value.isascii() or not value.isprintable():
        raise MemAuditError(f"{name} holds characters that are not allowed in a key; set it again")
    return Secret(value)


def hide_known_keys(text: str) -> str:
    """A text without any key of this environment."""
    for name in (ANYWHERE, *OWN_HOSTS):
        text = Secret(os.environ.get(name, "").strip()).hidden_in(text)
    return text
