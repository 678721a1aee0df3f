"""One short line, whatever the names in the data are."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from memaudit.io.strict_json import first_fault


class _Inner(BaseModel):
    numbers: dict[str, int]

    @field_validator("numbers")
    @classmethod
    def _few(cls, numbers: dict[str, int]) -> dict[str, int]:
        if len(numbers) > 2:
            raise ValueError("More than Two")
        return numbers


class _Outer(BaseModel):
    inner: list[_Inner]


def fault(data: Any) -> str:
    """What is wrong."""
    with pytest.raises(ValidationError) as found:
        _Outer.model_validate(data)
    return first_fault(found.value)


def test_place_and_reason() -> None:
    assert fault({}) == "inner: field required"
    assert fault([]).startswith("input should be a valid dictionary")
    assert fault({"inner": [{"numbers": {"a": 1, "b": 2, "c": 3}}]}) == (
        "inner.0.numbers: more than Two"
    )


def test_long_names_are_cut() -> None:
    said = fault({"inner": [{"numbers": {"n" * 10_000: "x"}}]})
    assert said.startswith(f"inner.0.numbers.{'n' * 40}: input should be a valid integer")
    assert len(said) < 300
