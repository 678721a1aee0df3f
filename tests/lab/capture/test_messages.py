"""What reaches a system together, and when the conversation's clock says it is."""

import pytest

from memaudit.kernel.package.package import Package
from memaudit.lab.capture.messages import as_example, feedings


def talk(*rows: tuple[str, str, str | None]) -> Package:
    """Rows of session, speaker and time; the texts are numbered."""
    return Package.model_validate(
        {
            "name": "p",
            "candidates": [],
            "units": [],
            "experiences": [
                {
                    "id": str(at),
                    "index": at,
                    "session": session,
                    "speaker": who,
                    "text": f"text {at}",
                    "timestamp": time,
                }
                for at, (session, who, time) in enumerate(rows)
            ],
        }
    )


def groups(speakers: str, feed: str, sessions: str = "") -> list[str]:
    """Speakers by their letters, u and a for user and assistant; groups of places."""
    names = {"u": "user", "a": "assistant"}
    rows = [
        (session, names.get(who, who), None)
        for who, session in zip(speakers, sessions or "s" * len(speakers), strict=True)
    ]
    found = feedings(as_example(talk(*rows)).messages, feed)
    return ["".join(one.experience for one in group) for group in found]


@pytest.mark.parametrize(
    ("speakers", "sessions", "exchanges"),
    [
        ("uaua", "", ["01", "23"]),
        ("uuaau", "", ["0123", "4"]),  # all that was said since the last answer, and all answers
        ("aua", "", ["0", "12"]),  # the assistant may begin
        ("uaua", "ssst", ["01", "2", "3"]),  # no exchange goes beyond its session
        ("ABAB", "", ["01", "23"]),  # two people: a message and its answer
        ("AABBA", "", ["0", "123", "4"]),
        ("AAA", "", ["0", "1", "2"]),  # nobody answers
    ],
)
def test_exchanges(speakers: str, sessions: str, exchanges: list[str]) -> None:
    assert groups(speakers, "exchange", sessions) == exchanges


def test_sessions_and_messages() -> None:
    assert groups("uauau", "session", "ssttt") == ["01", "234"]
    assert groups("uau", "message") == ["0", "1", "2"]


def test_times() -> None:
    """Without a zone UTC; what is no ISO time is none; a step back is counted, not followed."""
    example = as_example(
        talk(
            ("s", "A", "2023-05-08T13:56"),
            ("s", "B", None),
            ("t", "A", "2023-05-07T10:00+02:00"),
            ("t", "B", "May"),
            ("u", "A", "2023-06-01"),
        )
    )
    noon = 1683554160 * 1_000_000
    assert [one.microseconds for one in example.messages][:2] == [noon, None]
    assert (example.untimed, example.late) == (2, 1)
    assert example.begins == noon - 60 * 1_000_000
    assert example.ends == "2023-06-01T00:00:00+00:00"
    bare = as_example(talk(("s", "A", None)))
    assert bare.begins > 0
    assert bare.ends is None


def test_times_before_1970_and_at_the_ends_of_the_calendar() -> None:
    """Years that a clock cannot move on from are no times; a zone is taken into account."""
    example = as_example(
        talk(
            ("s", "A", "1950-01-01"),
            ("s", "B", None),
            ("s", "A", "1951-01-01"),
            ("s", "B", "1970-01-01"),
            ("s", "A", "0001-01-01T00:00+05:00"),
            ("s", "B", "9999-12-31T23:59:59-05:00"),
            ("s", "A", "2023-05-08T01:00:00+09:00"),
        )
    )
    assert (example.untimed, example.late) == (3, 0)
    assert example.messages[3].microseconds == 0
    assert example.messages[-1].message.time == "202305071600"
    assert example.begins < 0
    assert example.ends == "2023-05-07T16:00:00+00:00"
