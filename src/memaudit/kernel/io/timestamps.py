"""Times as datasets and memory systems write them, to ISO 8601 text that sorts as time does."""

import re
from datetime import UTC, date, datetime
from decimal import Decimal

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMERIC = re.compile(
    r"(?P<year>[0-9]{4})(?:/|年)(?P<month>[0-9]{1,2})(?:/|月)(?P<day>[0-9]{1,2})日?"
    r"(?: (?:\([A-Za-z]+\)|周.|星期.))?(?: (?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2}))?"
)
_SPOKEN = re.compile(
    r"(?:(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2}) (?P<half>[ap]m) on )?"
    r"(?P<day>[0-9]{1,2}) (?P<month>[a-z]+),? (?P<year>[0-9]{4})",
    re.IGNORECASE,
)
_COMPACT = re.compile(r"[0-9]{12}(?:[0-9]{2})?")
_SINCE_1970 = re.compile(r"[0-9]{10}(?:[0-9]{3})?(?:\.[0-9]{1,9})?")
_SECONDS = range(10**8, 10**11)
"""From 1973 to 5138; larger whole numbers are milliseconds."""


def iso_time(text: str) -> str | None:
    """The time as `2023-05-08` or `2023-05-08T13:56`; None if the text is not a known form.

    Times with an offset become UTC, so that texts sort as time does.
    """
    text = " ".join(text.split())
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text).isoformat()
        if match := _NUMERIC.fullmatch(text) or _SPOKEN.fullmatch(text):
            return _from_parts(match.groupdict())
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):  # not a time, or a 31st of June
        return None
    return _iso(moment)


def export_time(value: object) -> str | None:
    """The time of an export: a text, A-Mem's `202603011200`, or seconds or milliseconds since 1970,
    as a number or as its digits."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        text = value.strip()
        if not _SINCE_1970.fullmatch(text):
            return _from_digits(text) if _COMPACT.fullmatch(text) else iso_time(text)
        value = Decimal(text)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if not _SECONDS.start <= value < _SECONDS.stop * 1000:  # before int, which may be enormous
        return None
    # Exports do not say which they mean; no conversation is from 1970 or from after 5138.
    seconds = int(value) if value < _SECONDS.stop else int(value) // 1000
    return iso_time(datetime.fromtimestamp(seconds, UTC).isoformat())


def _from_parts(parts: dict[str, str | None]) -> str:
    month = (parts["month"] or "").lower()
    number = int(month) if month.isdigit() else MONTHS.index(month) + 1
    day = date(int(parts["year"] or 0), number, int(parts["day"] or 0))
    if parts["hour"] is None:
        return day.isoformat()
    hour = int(parts["hour"])
    if half := parts.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError("no such hour")
        hour = hour % 12 + 12 * (half.lower() == "pm")
    return _iso(datetime(day.year, day.month, day.day, hour, int(parts["minute"] or 0)))


def _from_digits(text: str) -> str | None:
    try:
        return _iso(datetime.strptime(text, "%Y%m%d%H%M%S"[: 10 if len(text) == 12 else 12]))
    except ValueError:
        return None


def _iso(moment: datetime) -> str:
    exact = moment.second or moment.microsecond
    return moment.isoformat() if exact else moment.isoformat(timespec="minutes")
