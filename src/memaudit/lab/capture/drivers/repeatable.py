"""Time and chance inside a memory system's process: the conversation's clock and seeded ids.

The clock is logical. It stands at the time of the message that is being fed, moves a microsecond
with every look at it and a second with every message, and never goes back. Waiting and time-outs
use other clocks, which are left alone. Only the standard library is imported.
"""

import ctypes
import datetime
import gc
import random
import threading
import time
import uuid
from typing import Any

SECOND = 1_000_000


class Clock:
    """Microseconds since 1970, as the conversation has it."""

    def __init__(self) -> None:
        self._now = 0
        self._lock = threading.Lock()

    def read(self) -> int:
        with self._lock:
            self._now += 1
            return self._now

    def move(self, to: int | None) -> None:
        """To the time of a message, or a second on if it has none or that is not later."""
        with self._lock:
            on = self._now + SECOND
            self._now = on if to is None else max(on, to)

    def start(self, at: int) -> None:
        """A new conversation: the only time at which the clock may go back."""
        with self._lock:
            self._now = at


clock = Clock()
_dice = random.Random(0)


def seed(text: str) -> None:
    """The same ids and random numbers for the same text."""
    random.seed(text)
    _dice.seed(text)


def install() -> None:
    """Replace what tells the time of day, and what makes ids; before the system is imported."""
    _install_time()
    _install_datetime()
    own_uuid: Any = uuid
    own_uuid.uuid4, own_uuid.uuid1 = _uuid4, _uuid1
    before = clock.read()
    clock.start(before + SECOND)
    seen = datetime.datetime.now(datetime.UTC).timestamp(), time.time()
    if not all(abs(one - (before / SECOND + 1)) < 1 for one in seen):
        raise RuntimeError("the clock of this Python cannot be set; use --option clock=wall")


def _install_time() -> None:
    own: Any = time
    kept: dict[str, Any] = {
        name: getattr(time, name, None)
        for name in (
            "localtime",
            "gmtime",
            "ctime",
            "strftime",
            "clock_gettime",
            "clock_gettime_ns",
        )
    }
    own.time, own.time_ns = _time, _time_ns
    own.localtime = lambda at=None: kept["localtime"](_or_now(at))
    own.gmtime = lambda at=None: kept["gmtime"](_or_now(at))
    own.ctime = lambda at=None: kept["ctime"](_or_now(at))
    own.asctime = lambda when=None: time.strftime("%a %b %e %H:%M:%S %Y", when or time.localtime())
    own.strftime = lambda form, when=None: kept["strftime"](form, when or time.localtime())
    if kept["clock_gettime"] is not None:
        own.clock_gettime = lambda which: (
            time.time() if which == time.CLOCK_REALTIME else kept["clock_gettime"](which)
        )
        own.clock_gettime_ns = lambda which: (
            time.time_ns() if which == time.CLOCK_REALTIME else kept["clock_gettime_ns"](which)
        )


def _time() -> float:
    return clock.read() / SECOND


def _time_ns() -> int:
    return clock.read() * 1000


def _uuid4() -> uuid.UUID:
    return uuid.UUID(int=_dice.getrandbits(128), version=4)


def _uuid1(*_: object, **__: object) -> uuid.UUID:
    return uuid.UUID(int=_dice.getrandbits(128), version=1)


def _or_now(at: float | None) -> float:
    return time.time() if at is None else at


def _install_datetime() -> None:
    """`datetime` is compiled, and code everywhere holds its classes: their methods are replaced."""
    utc = datetime.UTC
    start = datetime.datetime(1970, 1, 1, tzinfo=utc)

    def moment() -> datetime.datetime:
        return start + datetime.timedelta(microseconds=clock.read())  # a float would round

    def now(cls: Any, tz: Any = None) -> Any:
        when = (
            moment().astimezone(tz)
            if tz is not None
            else moment().astimezone().replace(tzinfo=None)
        )
        return when if cls is datetime.datetime else cls.combine(when.date(), when.timetz())

    def utcnow(cls: Any) -> Any:
        return now(cls, utc).replace(tzinfo=None)

    def today(cls: Any) -> Any:
        when = moment().astimezone()
        return cls(when.year, when.month, when.day)

    _set(datetime.datetime, "now", now)
    _set(datetime.datetime, "utcnow", utcnow)
    _set(datetime.datetime, "today", lambda cls: now(cls))
    _set(datetime.date, "today", today)


def _set(kind: type, name: str, function: Any) -> None:
    (members,) = gc.get_referents(kind.__dict__)
    members[name] = classmethod(function)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
