"""Results as JSON and back, by their types: for what the program writes to read again itself.

A fraction is exact text, a dataclass an object, and a mapping whose keys are not texts a list of
pairs.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


def to_json(value: Any) -> Any:
    """Plain data for a value that is made of plain data, fractions and dataclasses."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: to_json(item) for key, item in value.items()}
        return [[to_json(key), to_json(item)] for key, item in value.items()]
    if is_dataclass(value):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    return [to_json(item) for item in (sorted(value) if isinstance(value, frozenset) else value)]


def data_digest(value: Any) -> str:
    """The SHA-256 of such a value."""
    text = json.dumps(to_json(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def from_json(kind: Any, data: Any) -> Any:
    """The value of this type that `to_json` wrote."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return from_json(_member(parts, data), data)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        pairs = data.items() if isinstance(data, dict) else data
        return {from_json(parts[0], key): from_json(parts[1], item) for key, item in pairs}
    if origin in (list, frozenset):
        return origin(from_json(parts[0], item) for item in data)
    if origin is tuple:
        kinds = parts[:1] * len(data) if parts[1:] == (...,) else parts
        return tuple(from_json(part, item) for part, item in zip(kinds, data, strict=True))
    if kind is Fraction:
        return Fraction(data)
    if is_dataclass(kind):
        return _made(kind, data)
    return data


def _member(kinds: tuple[Any, ...], data: Any) -> Any:
    """Which type of a union it is: of several that can hold something, one is text."""
    if data is None:
        return NoneType
    some = [kind for kind in kinds if kind is not NoneType]
    return str if str in some and isinstance(data, str) else next(k for k in some if k is not str)


_hints = cache(get_type_hints)


def _made(kind: Any, data: Any) -> Any:
    return kind(**{name: from_json(hint, data[name]) for name, hint in _hints(kind).items()})
