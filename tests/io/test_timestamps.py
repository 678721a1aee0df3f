"""Times in the ways datasets and memory systems write them."""

import pytest

from memaudit.io.timestamps import export_time, iso_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21"), ("2023/5/2", "2023-05-02"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56"), ("8 May, 2023", "2023-05-08"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09"),
        ("12:30 pm on 1 June 2023", "2023-06-01T12:30"),
        ("2024年04月01日 周一 08:39", "2024-04-01T08:39"), ("2025-01-06", "2025-01-06"),
        ("2025-01-06 12:30", "2025-01-06T12:30"), ("2025-01-06T12:30:00Z", "2025-01-06T12:30"),
        ("2025-01-06T23:30:05-02:00", "2025-01-07T01:30:05"), ("13:00 pm on 8 May, 2023", None),
        ("0:10 am on 8 May, 2023", None), ("2023/02/30 (Thu) 10:00", None),
        ("2023/02/20 (Thu) 25:00", None), ("8 Mai, 2023", None), ("last week", None), ("", None),
        ("0001-01-01T00:00+05:00", None),  # before the first year in UTC
    ],
)  # fmt: skip
def test_times(text: str, expected: str | None) -> None:
    assert iso_time(text) == expected


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        ("2025-03-14T12:10:00-07:00", "2025-03-14T19:10"),
        ("2025-03-14 12:10:05", "2025-03-14T12:10:05"), ("202503141210", "2025-03-14T12:10"),
        ("20250314121005", "2025-03-14T12:10:05"), ("1:56 pm on 8 May, 2023", "2023-05-08T13:56"),
        (1741954200, "2025-03-14T12:10"), (1741954200000, "2025-03-14T12:10"),
        ("202513991210", None), ("soon", None), (True, None), (7, None), (None, None),
    ],
)  # fmt: skip
def test_times_of_exports(value: object, iso: str | None) -> None:
    assert export_time(value) == iso
