"""Times in the ways datasets write them."""

import pytest

from memaudit.io.timestamps import iso_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21"),
        ("2023/5/2", "2023-05-02"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09"),
        ("12:30 pm on 1 June 2023", "2023-06-01T12:30"),
        ("8 May, 2023", "2023-05-08"),
        ("2024年04月01日 周一 08:39", "2024-04-01T08:39"),
        ("2025-01-06", "2025-01-06"),
        ("2025-01-06 12:30", "2025-01-06T12:30"),
        ("2025-01-06T23:30:05-02:00", "2025-01-07T01:30:05"),
        ("2025-01-06T12:30:00Z", "2025-01-06T12:30"),
        ("13:00 pm on 8 May, 2023", None),
        ("0:10 am on 8 May, 2023", None),
        ("2023/02/30 (Thu) 10:00", None),
        ("2023/02/20 (Thu) 25:00", None),
        ("8 Mai, 2023", None),
        ("0001-01-01T00:00+05:00", None),  # before the first year in UTC
        ("last week", None),
        ("", None),
    ],
)
def test_times(text: str, expected: str | None) -> None:
    assert iso_time(text) == expected
