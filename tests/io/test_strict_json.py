"""Objects in files of ours, and what stands in their place."""

import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from memaudit.core.errors import MemAuditError
from memaudit.io.strict_json import first_fault, read_object


def test_an_object(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    path.write_text('{"format": "x", "budgets": [1, 0.5]}')
    assert read_object(path, "") == {"format": "x", "budgets": [1, 0.5]}


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "spec.json is not JSON; run it again"), (b"{", "spec.json is not JSON; run it again"),
        (b"[]", "spec.json holds no JSON object; run it again"),
        (b'{"a":' * 100_000, "spec.json nests too deeply; run it again"),
        (b'"\xff"', "spec.json: it is not UTF-8"),
    ],
)  # fmt: skip
def test_no_object(tmp_path: Path, data: bytes, line: str) -> None:
    path = tmp_path / "spec.json"
    path.write_bytes(data)
    with pytest.raises(MemAuditError, match=line) as error:
        read_object(path, "run it again")
    assert str(path) in str(error.value)


def test_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, line in (("pipe", "not a regular file"), ("gone", "does not exist"), ("", "folder")):
        with pytest.raises(MemAuditError, match=line):
            read_object(tmp_path / name, "")


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
