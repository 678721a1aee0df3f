"""Three records in the form of LongMemEval, small enough to follow."""

import json
from pathlib import Path
from typing import Any

Turn = tuple[str, str, bool]
"""Speaker, text, and whether the answer is in it."""

SESSIONS: dict[str, list[tuple[str, list[Turn]]]] = {
    "swim": [
        (
            "2024/01/02 (Tue) 10:00",
            [
                ("user", "My record is 17 laps in the pool.", True),
                ("assistant", "Well swum!", False),
            ],
        ),
        (
            "2024/02/03 (Sat) 10:00",
            [
                ("user", "Today I swam 21 laps, my new record!", True),
                ("assistant", "Great. Rest well now.", False),
            ],
        ),
    ],
    "cat": [
        (
            "2024/01/05 (Fri) 09:00",
            [
                ("user", "Our cat is called Mabel. She is three.", True),
                ("assistant", "A lovely name for a cat.", False),
                ("user", "It rains again today.", False),
            ],
        ),
    ],
    "abs_abs": [
        (
            "2024/01/06 (Sat) 09:00",
            [("user", "I like plain soup.", False), ("assistant", "Soup is nice.", False)],
        ),
    ],
}
QUESTIONS = {
    "swim": ("knowledge-update", "How many laps is my record?", "21 laps"),
    "cat": ("single-session-user", "What is our cat called?", "Mabel"),
    "abs_abs": ("single-session-user", "What is my sister called?", "You did not say."),
}


def record(name: str) -> dict[str, Any]:
    """One record."""
    kind, question, answer = QUESTIONS[name]
    sessions = SESSIONS[name]
    return {
        "question_id": name,
        "question_type": kind,
        "question": question,
        "answer": answer,
        "question_date": "2024/03/01 (Fri) 12:00",
        "haystack_dates": [date for date, _ in sessions],
        "haystack_session_ids": [f"{name}_{at}" for at in range(len(sessions))],
        "answer_session_ids": [
            f"{name}_{at}"
            for at, (_, turns) in enumerate(sessions)
            if any(marked for *_, marked in turns)
        ],
        "haystack_sessions": [
            [
                {"role": role, "content": text, **({"has_answer": True} if marked else {})}
                for role, text, marked in turns
            ]
            for _, turns in sessions
        ],
    }


def written(path: Path, *names: str) -> Path:
    """A file of records, all of them by default."""
    path.write_text(json.dumps([record(name) for name in names or QUESTIONS]))
    return path
