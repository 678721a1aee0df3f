"""Numbers with intervals, out of the plain data of audits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Number:
    """A coefficient with its interval; None where it is undefined, or has no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


UNKNOWN = Number(None)


def estimate(data: Mapping[str, Any] | None, over: str) -> Number:
    """A coefficient with the interval over cells or packages, whichever is the headline one."""
    if data is None:
        return UNKNOWN
    between = data.get(over) or {}
    return Number(real(data["value"]), real(between.get("low")), real(between.get("high")))


def number(data: Mapping[str, Any] | None, name: str = "value") -> Number:
    """A number under a name, beside its ends."""
    if data is None:
        return UNKNOWN
    return Number(*(real(data.get(key)) for key in (name, "low", "high")))


def real(value: object) -> float | None:
    """The number; None for anything else."""
    return float(value) if isinstance(value, int | float) else None
