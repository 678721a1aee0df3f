"""An API's error saved as if it were an export: told apart from an empty store."""

from memaudit.datasets.irregular import whole

LONGEST = 120

_STATUS = ("code", "status", "statusCode", "status_code")


def api_error(document: object) -> str | None:
    """What the error says, where a JSON object is one."""
    if not isinstance(document, dict):
        return None
    for key in ("error", "errors", "detail"):
        if found := document.get(key):
            return _short(found)
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
    text = " ".join(whole(str(value)).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
