"""What is written for ourselves comes back as it was."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from memaudit.workspace.typed_json import from_json, to_json

Key = tuple[str, Fraction]


@dataclass(frozen=True, slots=True)
class Part:
    share: Fraction | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    by_key: Mapping[Key, "Part | str"]
    by_name: Mapping[str, int]
    pairs: tuple[tuple[Key, Fraction], ...]
    free: dict[str, Any]
    parts: list[Part]
    small: bool = False


VALUE = Whole(
    {("a", Fraction(1, 3)): Part(Fraction(2, 7), ("x", "y")), ("b", Fraction(2)): "1/2"},
    {"n": 3},
    ((("a", Fraction(1)), Fraction(-1, 3)),),
    {"list": [1, 2.5, None, {"k": "1/3"}], "empty": {}},
    [Part(None, ()), Part(Fraction(0), ("z",))],
    True,
)


@pytest.mark.parametrize(
    ("kind", "value"), [(Whole, VALUE), (list[Whole], [VALUE]), (Mapping[Key, int], {})]
)
def test_round_trip(kind: Any, value: object) -> None:
    assert from_json(kind, json.loads(json.dumps(to_json(value)))) == value
