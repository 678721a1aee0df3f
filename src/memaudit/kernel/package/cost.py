"""What storing a memory costs: one rule for every memory, whatever wrote it.

A rule has a name that travels with the package: `words` between spaces, `unicode_words` for any
script, `bytes` (8 + ceil(utf8 bytes / 24)), `tokens:NAME` for a named tokenizer, or `declared`
where costs are given and nothing checks them. `utf8`, `characters` and `lines` count just those.

A rule may also be a sum that says what a record costs beside its text:

    words+5                     5 for every record
    8+utf8/24                   the same as bytes: a quotient is rounded up
    words+kind:edge=4           4 for a record of the kind edge
    words+field:links=2         2 for every item of the list `links`, or for any other value of it

An exported memory has the kind `memory` and the fields of its metadata.
"""

import importlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from memaudit.kernel.errors import MemAuditError, MissingTool, install_line
from memaudit.kernel.words.scripts import written_without_spaces
from memaudit.kernel.words.unicode_words import unicode_words

DECLARED = "declared"
WORDS, UNICODE_WORDS = "words", "unicode_words"
RULES = (
    "words, unicode_words, bytes, utf8, characters, lines, tokens:simple, "
    "tokens:tiktoken/ENCODING, tokens:hf/TOKENIZER.json, declared, or a sum such as 8+utf8/24 or "
    "words+kind:edge=4"
)

LARGEST_TOKENIZER = 128 << 20
"""Bytes; a package can name any file."""

_SIMPLE_TOKEN = re.compile(r"\w+|[^\w\s]")

CostRule = Callable[[str], int]

Fields = Mapping[str, object]
NO_FIELDS: Fields = {}


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
    # A memory may hold the text of a special token; tiktoken would refuse it.
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
    # Not the marks that a model puts around its whole input: each memory would pay them again.
    return lambda text: len(table.encode(text, add_special_tokens=False).ids)


@dataclass(frozen=True, slots=True)
class RecordRule:
    """What a record costs: its text, and what its kind and its fields add."""

    text: CostRule
    kinds: Mapping[str, int]
    fields: Mapping[str, int]

    def __call__(self, text: str, kind: str = "", fields: Fields = NO_FIELDS) -> int:
        cost = self.text(text) + self.kinds.get(kind, 0)
        for name, each in self.fields.items():
            value = fields.get(name)
            if value is not None:
                cost += each * (len(value) if isinstance(value, list | tuple) else 1)
        return cost


@lru_cache(maxsize=32)
def cost_rule(name: str) -> RecordRule:
    """The rule of this name; if its tokenizer is missing, the error says what to install.

    It remembers texts: every union of a package measures the same ones again.
    """
    # The path of a tokenizer may have a plus in it.
    if "+" not in name or name.startswith(HUGGING_FACE):
        return RecordRule(lru_cache(maxsize=1 << 15)(_measured_by(name)), {}, {})
    record, kinds, fields = 0, dict[str, int](), dict[str, int]()
    measures: list[CostRule] = []
    for part in name.split("+"):
        if part.isdecimal():
            record += _number(part, name)
        elif extra := _EXTRA.fullmatch(part):
            extras = kinds if extra["where"] == "kind" else fields
            if extra["name"] in extras:
                raise MemAuditError(f"cost rule {name!r} names {part.partition('=')[0]} twice")
            extras[extra["name"]] = _number(extra["cost"], name)
        else:
            measures.append(_term(part, name))
    if not measures:
        raise MemAuditError(f"cost rule {name!r} does not measure the text; add words or utf8")

    def measure(text: str) -> int:
        return record + sum(term(text) for term in measures)

    return RecordRule(lru_cache(maxsize=1 << 15)(measure), kinds, fields)


_EXTRA = re.compile(r"(?P<where>kind|field):(?P<name>[^=]+)=(?P<cost>\d+)")
MOST_DIGITS = 9
HUGGING_FACE = "tokens:hf/"


def _number(digits: str, rule: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise MemAuditError(f"cost rule {rule!r} has a number of more than {MOST_DIGITS} digits")
    return int(digits)


def _term(part: str, rule: str) -> CostRule:
    """A measure of the text, or a quotient of one, rounded up."""
    base, slash, by = part.rpartition("/")
    if not slash or not by.isdecimal():
        return _measured_by(part)
    divisor = _number(by, rule)
    if not divisor:
        raise MemAuditError(f"cost rule {rule!r} divides by zero")
    inner = _measured_by(base)
    return lambda text: -(-inner(text) // divisor)


def _measured_by(name: str) -> CostRule:
    if name == WORDS:
        return words
    if name == UNICODE_WORDS:
        return unicode_words
    if name == "bytes":
        return record_bytes
    if name == "characters":
        return len
    if name == "lines":
        return lambda text: text.count("\n") + 1
    if name == "utf8":
        return lambda text: len(text.encode("utf-8", "surrogatepass"))
    if name == "tokens:simple":
        return simple_tokens
    if name.startswith("tokens:tiktoken/"):
        return _tiktoken(name.removeprefix("tokens:tiktoken/"))
    if name.startswith("tokens:hf/"):
        return _hugging_face(name.removeprefix("tokens:hf/"))
    raise MemAuditError(f"unknown cost rule {name!r}; known rules: {RULES}")
