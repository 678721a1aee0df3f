"""What storing a memory costs: one rule for every memory, whatever wrote it.

A rule has a name that travels with the package: `words` between spaces, `unicode_words` for any
script, `bytes` (8 + ceil(utf8 bytes / 24)), `tokens:NAME` for a named tokenizer, or `declared`
where costs are given and nothing checks them.
"""

import importlib
import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from memaudit.core.errors import MemAuditError, MissingTool, install_line
from memaudit.core.scripts import written_without_spaces
from memaudit.core.unicode_words import unicode_words

DECLARED = "declared"
WORDS, UNICODE_WORDS = "words", "unicode_words"
RULES = (
    "words, unicode_words, bytes, tokens:simple, tokens:tiktoken/ENCODING, "
    "tokens:hf/TOKENIZER.json, declared"
)

LARGEST_TOKENIZER = 128 << 20
"""Bytes; a package can name any file."""

_SIMPLE_TOKEN = re.compile(r"\w+|[^\w\s]")

CostRule = Callable[[str], int]


def words(text: str) -> int:
    """Whitespace-separated words."""
    return len(text.split())


def default_rule(texts: Iterable[str]) -> str:
    """The rule that counts the words of these texts: `unicode_words` if they have no spaces."""
    return UNICODE_WORDS if written_without_spaces(texts) else WORDS


def text_words(text: str) -> int:
    """The words of one text, by the rule that counts them."""
    return words(text) if text.isascii() else cost_rule(default_rule([text]))(text)


def record_bytes(text: str) -> int:
    """A fixed overhead per record plus the payload: 8 + ceil(utf8 bytes / 24)."""
    return 8 + -(-len(text.encode("utf-8", "surrogatepass")) // 24)


def simple_tokens(text: str) -> int:
    """Runs of word characters and single punctuation marks; needs nothing installed."""
    return len(_SIMPLE_TOKEN.findall(text))


def _tiktoken(encoding: str) -> CostRule:
    try:
        tiktoken = importlib.import_module("tiktoken")
    except ImportError:
        raise MissingTool(
            f"cost rule tokens:tiktoken/{encoding} needs tiktoken: {install_line('tiktoken')}"
        ) from None
    try:
        table = tiktoken.get_encoding(encoding)
    except (ValueError, OSError) as error:
        raise MissingTool(
            f"tiktoken cannot load the encoding {encoding!r} ({type(error).__name__}); it "
            "downloads its tables once, so run it with a network or set TIKTOKEN_CACHE_DIR"
        ) from None
    return lambda text: len(table.encode(text, disallowed_special=()))


def _hugging_face(path: str) -> CostRule:
    try:
        tokenizers = importlib.import_module("tokenizers")
    except ImportError:
        raise MissingTool(
            f"cost rule tokens:hf/{path} needs tokenizers: {install_line('tokenizers')}"
        ) from None
    if not os.path.isfile(path):  # never raises, unlike Path.is_file
        raise MissingTool(f"cost rule tokens:hf/{path}: no tokenizer file at {path}")
    try:
        if os.path.getsize(path) > LARGEST_TOKENIZER:
            raise MissingTool(f"cost rule tokens:hf/{path}: the file is too large for a tokenizer")
        with open(path, "rb") as file:
            table = tokenizers.Tokenizer.from_buffer(file.read(LARGEST_TOKENIZER))
    except OSError as error:
        raise MissingTool(f"cost rule tokens:hf/{path}: {error.strerror or error}") from None
    except ValueError:
        raise MissingTool(f"cost rule tokens:hf/{path}: the file is not a tokenizer") from None
    return lambda text: len(table.encode(text, add_special_tokens=False).ids)


@lru_cache(maxsize=32)
def cost_rule(name: str) -> CostRule:
    """The rule of this name; if its tokenizer is missing, the error says what to install.

    It remembers texts: every union of a package measures the same ones again.
    """
    return lru_cache(maxsize=1 << 15)(_measured_by(name))


def _measured_by(name: str) -> CostRule:
    if name == WORDS:
        return words
    if name == UNICODE_WORDS:
        return unicode_words
    if name == "bytes":
        return record_bytes
    if name == "tokens:simple":
        return simple_tokens
    if name.startswith("tokens:tiktoken/"):
        return _tiktoken(name.removeprefix("tokens:tiktoken/"))
    if name.startswith("tokens:hf/"):
        return _hugging_face(name.removeprefix("tokens:hf/"))
    raise MemAuditError(f"unknown cost rule {name!r}; known rules: {RULES}")
