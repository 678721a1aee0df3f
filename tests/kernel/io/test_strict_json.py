"""Objects and times in files, and what stands in their place."""

import os
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.strict_json import first_fault, read_object
from memaudit.kernel.io.timestamps import export_time, iso_time


def test_an_object(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    path.write_text('{"format": "x", "budgets": [1, 0.5]}')
    assert read_object(path, "") == {"format": "x", "budgets": [1, 0.5]}


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "spec.json is not JSON (Expecting value, line 1, column 1); run it again"),
        (b"{\n", "double quotes, line 2, column 1); run it again"),
        (b"[]", "spec.json holds no JSON object; run it again"),
        (b'{"a":' * 100_000, "spec.json nests too deeply; run it again"),
        (b'"\xff"', "spec.json: it is not UTF-8"),
    ],
)
def test_no_object(tmp_path: Path, data: bytes, line: str) -> None:
    path = tmp_path / "spec.json"
    path.write_bytes(data)
    with pytest.raises(MemAuditError, match=re.escape(line)) as error:
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21"),
        ("2023/5/2", "2023-05-02"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56"),
        ("8 May, 2023", "2023-05-08"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09"),
        ("12:30 pm on 1 June 2023", "2023-06-01T12:30"),
        ("2024年04月01日 周一 08:39", "2024-04-01T08:39"),
        ("2025-01-06", "2025-01-06"),
        ("2025-01-06 12:30", "2025-01-06T12:30"),
        ("2025-01-06T12:30:00Z", "2025-01-06T12:30"),
        ("2025-01-06T23:30:05-02:00", "2025-01-07T01:30:05"),
        ("13:00 pm on 8 May, 2023", None),
        ("0:10 am on 8 May, 2023", None),
        ("2023/02/30 (Thu) 10:00", None),
        ("2023/02/20 (Thu) 25:00", None),
        ("8 Mai, 2023", None),
        ("last week", None),
        ("", None),
        ("0001-01-01T00:00+05:00", None),  # before the first year in UTC
    ],
)
def test_times(text: str, expected: str | None) -> None:
    assert iso_time(text) == expected


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        ("2025-03-14T12:10:00-07:00", "2025-03-14T19:10"),
        ("2025-03-14 12:10:05", "2025-03-14T12:10:05"),
        ("202503141210", "2025-03-14T12:10"),
        ("20250314121005", "2025-03-14T12:10:05"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56"),
        (1741954200, "2025-03-14T12:10"),
        (1741954200000, "2025-03-14T12:10"),
        (1741954200.25, "2025-03-14T12:10"),
        (Decimal("1741954200.5"), "2025-03-14T12:10"),
        ("1741954200", "2025-03-14T12:10"),
        ("1741954200000", "2025-03-14T12:10"),
        ("1741954200.123456", "2025-03-14T12:10"),
        (b"1741954200", "2025-03-14T12:10"),
        (Decimal("1E+999999999"), None),
        (float("inf"), None),
        (float("nan"), None),
        ("202513991210", None),
        ("soon", None),
        (True, None),
        (7, None),
        (None, None),
    ],
)
def test_times_of_exports(value: object, iso: str | None) -> None:
    assert export_time(value) == iso
