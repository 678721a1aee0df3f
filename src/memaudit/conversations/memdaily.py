"""MemDaily: trajectories of a user's daily messages, each with a question that cites steps.

The published file nests question type, then scenario, then a list of trajectories. Its noisy
copies hold messages as plain text, and the files it is made from are bare lists with
`question_list`; all three are read.
"""

from collections.abc import Iterator
from pathlib import Path

from memaudit.conversations.conversation import Conversation, Question, Session, Turn
from memaudit.conversations.records import (
    IdRegistry,
    LoadedConversation,
    Notes,
    RecordFields,
    resolve_references,
)
from memaudit.kernel.io.files import open_regular
from memaudit.kernel.io.foreign_json import JsonCursor, encodable, record
from memaudit.kernel.io.strict_json import kind_of

FAILED = ("[ERRORQ]", "[ERRORA]")
"""What the generator left where it could not write a question or an answer."""

SESSION = "messages"
"""A trajectory is one stream: its messages form one session, with a time each."""


class MemDaily:
    """Question types, scenarios and trajectories; evidence is given as places in the stream."""

    name = "memdaily"
    about = "MemDaily: trajectories of messages by question type and scenario, with noisy copies"

    def recognises(self, keys: frozenset[str]) -> bool:
        return "message_list" in keys

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        ids = IdRegistry()
        with open_regular(path) as file:
            cursor = JsonCursor(file, path.name)
            for above, place, data in _trajectories(cursor, path.name, ()):
                yield _load(data, above, place, ids)
            cursor.done()


def _trajectories(
    cursor: JsonCursor, name: str, above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], int, dict[str, object]]]:
    """Every trajectory with the keys above it."""
    if cursor.peek() == "{" and len(above) < 2:
        for key in cursor.members():
            yield from _trajectories(cursor, name, (*above, encodable(key)))
    elif cursor.peek() == "n" and above:
        cursor.value()  # null, which the generator writes for a scenario it does not have
    else:
        for place in cursor.elements():
            yield above, place, record(cursor, name, place)


def _load(
    data: dict[str, object], above: tuple[str, ...], place: int, ids: IdRegistry
) -> LoadedConversation:
    notes = Notes()
    trajectory = RecordFields(data, "", "", notes)
    given = trajectory.label("tid")
    id = ids.assign_noted(
        None if given is None else "/".join((*above, given)),
        "/".join((*above, f"trajectory-{place + 1}")),
        notes,
        "tid",
    )
    trajectory.id = id
    turns, steps = _turns(trajectory)
    kind = above[0] if above else "unknown"
    questions = tuple(_questions(trajectory, kind, steps))
    if not turns:
        trajectory.note("empty session", "message_list")
    session = Session(SESSION, 0, turns[0].timestamp if turns else None, turns)
    topic = above[1] if len(above) > 1 else None
    return LoadedConversation(Conversation(id, (session,), questions, (), topic), notes.of(id))


def _turns(trajectory: RecordFields) -> tuple[tuple[Turn, ...], IdRegistry]:
    """The messages; their ids are their places, which is what `target_step_id` counts."""
    turns: list[Turn] = []
    steps = IdRegistry()
    for place, value in enumerate(trajectory.rows("message_list")):
        if not isinstance(value, dict | str):
            wrong = f"{kind_of(value)}, not a message"
            trajectory.note("wrong type", f"message_list[{place}]", wrong)
            continue
        # Not by `mid`, which need not be the place that `target_step_id` counts.
        id = steps.assign(str(place))
        data = value if isinstance(value, dict) else {"message": value}
        row = RecordFields(data, "message_list", id, trajectory.notes)
        number = row.label("mid")
        if number is not None and number != id:
            row.note("number differs from place", "mid", number)
        # Noisy copies have the time and place inside the text, so they are not missing there.
        time = row.time("time", required=isinstance(value, dict))
        turns.append(
            Turn(
                id,
                SESSION,
                place,
                "user",
                "user",
                row.required_text("message"),
                time,
                place=row.text("place", required=False),
            )
        )
    return tuple(turns), steps


def _questions(trajectory: RecordFields, kind: str, steps: IdRegistry) -> Iterator[Question]:
    ids = IdRegistry()
    asked = trajectory.data.get("QA")
    # The published file has one question as an object, the files it is made from have a list.
    if isinstance(asked, dict):
        trajectory = RecordFields({"QA": [asked]}, "", trajectory.id, trajectory.notes)
    field = "question_list" if asked is None and "question_list" in trajectory.data else "QA"
    for place, row in trajectory.objects(field):
        given = row.label("qid")
        row.id = ids.assign(f"q{place if given is None else given}")
        # A question that was never written has nothing to score: leaving it out is counted.
        if row.data.get("question") in FAILED or row.data.get("answer") in FAILED:
            row.note("failed generation", "question")
            continue
        cited = row.rows("target_step_id")
        evidence = resolve_references(cited, steps, row.notes, row.place("target_step_id"), row.id)
        if not cited:
            row.note("no evidence", "target_step_id")
        choices = _choices(row)
        yield Question(
            id=row.id,
            text=row.required_text("question"),
            answer=_answer(row, dict(choices)),
            kind=kind,
            evidence=evidence,
            evidence_sessions=(SESSION,) if evidence else (),
            asked_at=row.time("time", required=False),
            choices=choices,
            references=len(cited),
        )


def _choices(row: RecordFields) -> tuple[tuple[str, str], ...]:
    if row.data.get("choices") is None:
        return ()
    options = RecordFields(row.object("choices"), row.place("choices"), row.id, row.notes)
    texts = {encodable(letter): options.text(letter) for letter in options.data}
    return tuple((letter, text) for letter, text in texts.items() if text is not None)


def _answer(row: RecordFields, choices: dict[str, str]) -> str | None:
    """The answer in words; the right choice where the file gives only its letter."""
    letter = row.text("ground_truth", required=False)
    right = choices.get(letter) if letter is not None else None
    if row.data.get("answer") is None and right is not None:
        return right
    answer = row.text("answer")
    # The published choices carry stray spaces.
    if choices and answer is not None and (right or "").strip() != answer.strip():
        row.note("answer differs from the right choice", "ground_truth", f"{letter}: {right}")
    return answer
