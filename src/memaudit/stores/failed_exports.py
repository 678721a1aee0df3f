"""API errors and status messages saved as if they were exports."""

import re
from http import HTTPStatus

from memaudit.kernel.io.foreign_json import encodable
from memaudit.kernel.words.text import one_line, shortened

LONGEST = 120

_STATUS = ("code", "status", "statusCode", "status_code")


def api_error(document: object) -> str | None:
    """The message of an API error; None if the document is not one."""
    if not isinstance(document, dict):
        return None
    for key in ("error", "errors", "detail"):
        if error := document.get(key):
            return _short(error)
    if document.get("errno") or document.get("success") is False:
        return _short(document.get("errmsg") or document.get("message") or "no message")
    failed = any(_is_failure(document.get(key)) for key in _STATUS)
    if failed and isinstance(document.get("message"), str):
        return _short(document["message"])
    return None


def _is_failure(status: object) -> bool:
    if isinstance(status, int) and not isinstance(status, bool):
        return status >= 400
    return isinstance(status, str) and status.lower() in ("error", "failed", "failure")


def _short(value: object) -> str:
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = next((value[key] for key in ("message", "msg", "detail") if key in value), value)
    return shortened(one_line(encodable(str(value))), LONGEST)


_THINGS = r"(?:memor(?:y|ies)|results?|records?|items?|entries|facts?|notes?|data|rows?|documents?)"
_REASONS = "|".join(re.escape(status.phrase) for status in HTTPStatus)
_PHRASES = (
    # "No memories found", "0 results", "There are no stored memories yet."
    rf"(?:there (?:are|is|were|was) )?(?:no|zero|0)(?: \w+)? {_THINGS}"
    r"(?: (?:were|was|are|is|have been|has been|found|available|stored|saved|returned|exist|yet|"
    r"in|for|the|this|here|store|user|agent|memory|\w+_\w+|\d+))*",
    rf"(?:found|retrieved|exported|saved) (?:no|zero|0)(?: \w+)? {_THINGS}",
    rf"(?:nothing|{_THINGS} not) found",
    rf"(?:the )?(?:memory|store|{_THINGS}) (?:is|are) empty",
    r"null|none|nil|undefined|nan|n/a|true|false|ok|okay|done|success|empty|nothing|not found",
    # What servers and shells answer.
    rf"(?:http(?:/\d(?:\.\d)?)? )?[1-5]\d\d(?: (?:{_REASONS}))?",
    r"(?:internal server error|bad request|bad gateway|service unavailable|gateway time-?out|"
    r"unauthori[sz]ed|forbidden|access denied|permission denied|too many requests|"
    r"rate limit(?:ed)?(?: exceeded)?|request timed? ?out|timed? ?out|connection refused|"
    r"invalid (?:api )?key|authentication (?:failed|required)|missing api key)",
    r"(?:error|fatal|fatal error|exception|failed|failure|warning)\s*:.*",
    r"(?:failed|unable|cannot|could not) (?:to )?(?:connect|fetch|load|read|retrieve|export)\b.*",
    r"[a-z_.]*(?:error|exception)\s*:.*",
    r"(?:curl|wget|bash|sh|zsh|python3?): .*",
    r"command not found.*",
)
_STATUS_LINE = re.compile("|".join(f"(?:{phrase})" for phrase in _PHRASES), re.IGNORECASE)
_MARKUP = re.compile(
    r"<(?:!doctype|!--|\?xml|(?:html|head|body|title|meta|script|center|div|h1|pre|error)[\s>])",
    re.IGNORECASE,
)
LONGEST_STATUS = 300
"""Characters; longer lines are not statuses, and would take forever to match."""

_TRACEBACK = "Traceback (most recent call last)"


def is_status(line: str) -> bool:
    """Whether a line is a phrase with which tools report an error or an empty result.

    The complete line decides: "No memories found" is one, "No memories found their way into the
    album, says Ann" is not.
    """
    phrase = line.strip().strip("\"'`.!").strip()
    return len(phrase) <= LONGEST_STATUS and _STATUS_LINE.fullmatch(phrase) is not None


def no_memories(text: str) -> str | None:
    """What a text is instead of a list of memories; None if it may be one.

    A page or a traceback is recognised by its first line. A status must be the only line: among
    other lines it may be a memory.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    first = lines[0].strip()
    if _MARKUP.match(first):
        return "is a web page or other markup, not a list of memories"
    if first.startswith(_TRACEBACK):
        return "is the traceback of a program, not a list of memories"
    if len(lines) == 1 and is_status(first):
        return f"says {first[:60]!r} and nothing else: a status, not a memory"
    return None
