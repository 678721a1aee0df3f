"""BEAM: long conversations in dated batches, with probing questions that cite messages."""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from memaudit.conversations.conversation import Conversation, Question, Session, Turn
from memaudit.conversations.records import (
    IdRegistry,
    LoadedConversation,
    RecordFields,
    field_names,
    record_fields,
    resolve_references,
)
from memaudit.kernel.io.foreign_json import encodable, loads, records
from memaudit.kernel.io.strict_json import kind_of
from memaudit.kernel.io.timestamps import iso_time

ANSWERS = ("answer", "ideal_response", "ideal_answer", "ideal_summary", "expected_compliance")
"""Where a question's answer is, by its kind; the last tells what a good response does."""

KINDS = field_names(
    "abstention contradiction_resolution event_ordering information_extraction "
    "instruction_following knowledge_update multi_session_reasoning preference_following "
    "summarization temporal_reasoning"
)
ROLES = frozenset({"user", "assistant"})

# In BEAM-10M a row has a column for every plan, `plan-1` to `plan-10`.
_PLAN = re.compile(r"plan-(?P<number>[0-9]{1,3})")
_ANCHOR = re.compile(r"(?P<month>[A-Z][a-z]+)-(?P<day>[0-9]{1,2})-(?P<year>[0-9]{4})")


class Beam:
    """The rows of the published table as JSON or JSONL; a batch of the chat is a session."""

    name = "beam"
    about = "BEAM 100K to 10M: the rows of the published tables as a JSON list or JSONL"

    def recognises(self, keys: frozenset[str]) -> bool:
        return {"chat", "probing_questions"} <= keys

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        ids = IdRegistry()
        for place, data in records(path):
            yield _load(data, place, ids)


def _load(data: dict[str, object], place: int, ids: IdRegistry) -> LoadedConversation:
    record = record_fields(data, "conversation_id", place, ids)
    messages = IdRegistry()
    sessions = tuple(
        _session(record, id, batch, index, messages)
        for index, (id, batch) in enumerate(_batches(record))
    )
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    questions = tuple(_questions(record, messages, home))
    conversation = Conversation(record.id, sessions, questions)
    if not conversation.is_in_time_order:
        record.note("sessions out of order", "chat")
    return LoadedConversation(conversation, record.notes.of(record.id))


def _batches(record: RecordFields) -> Iterator[tuple[str, object]]:
    """The batches of a chat and their names: lists of messages, or in BEAM-10M objects that hold
    the batches of a plan, plan after plan, whose turns are lists of messages."""
    plans: dict[int, list[object]] = {}
    for place, item in enumerate(record.rows("chat")):
        if not isinstance(item, dict):
            yield f"batch-{place + 1}", item
            continue
        rows = RecordFields(item, f"chat[{place}]", record.id, record.notes)
        for name, batches in item.items():
            match = _PLAN.fullmatch(name)
            if match is not None and batches is not None:  # a table has a column for every plan
                plans.setdefault(int(match["number"]), []).extend(rows.rows(name))
    # By number, since the plans of a chat follow each other in time.
    for plan in sorted(plans):
        for place, batch in enumerate(plans[plan]):
            yield f"plan-{plan}/batch-{place + 1}", _messages_of(record, batch)


def _messages_of(record: RecordFields, batch: object) -> object:
    """The messages of a batch of BEAM-10M: its turns are lists of messages."""
    if not isinstance(batch, dict):
        return batch
    rows = RecordFields(batch, "chat", record.id, record.notes)
    messages: list[object] = []
    for turn in rows.rows("turns"):
        messages += turn if isinstance(turn, list) else [turn]
    return messages


def _session(record: RecordFields, id: str, batch: object, index: int, ids: IdRegistry) -> Session:
    rows = RecordFields({"chat": batch}, "", id, record.notes)
    messages = [(place, row, _time(row)) for place, row in rows.objects("chat")]
    if not messages:
        rows.note("empty session", "chat")
    # Only the first message of a batch is dated; the others are of the same day.
    time = next((time for _, _, time in messages if time is not None), None)
    turns = tuple(_turn(row, id, place, own or time, ids) for place, row, own in messages)
    return Session(id, index, time, turns)


def _turn(row: RecordFields, session: str, place: int, time: str | None, ids: IdRegistry) -> Turn:
    default = f"{session}:{place + 1}"
    row.id = ids.assign_noted(row.label("id"), default, row.notes, "chat.id")
    role = row.text("role") or "unknown"
    if role not in ROLES:
        row.note("unknown speaker", "role", role)
    return Turn(row.id, session, place, role, role, row.required_text("content"), time)


def _time(row: RecordFields) -> str | None:
    """A date such as `March-15-2024`, which only the first message of a batch has."""
    text = row.text("time_anchor", required=False)
    if text is None:
        return None
    match = _ANCHOR.fullmatch(text)
    time = iso_time(f"{match['day']} {match['month']} {match['year']}") if match else None
    if time is None:
        row.note("time not understood", "time_anchor", text)
    return time


def _questions(
    record: RecordFields, messages: IdRegistry, home: dict[str, str]
) -> Iterator[Question]:
    probes = RecordFields(_probes(record), "probing_questions", record.id, record.notes)
    for name in probes.data:
        if name not in KINDS:
            probes.note("unknown category", encodable(name), name)
        # Written as LongMemEval writes its kinds, which a build knows.
        kind = name.replace("_", "-") if name in KINDS else "unknown"
        for place, row in probes.objects(name):
            row.where = "probing_questions"
            row.id = f"{encodable(name)}-{place + 1}"
            yield _question(row, kind, messages, home)


def _probes(record: RecordFields) -> dict[str, object]:
    """The questions by kind, which the published table holds as the text of a Python literal."""
    name = "probing_questions"
    value = record.data.get(name)
    if not isinstance(value, str):
        return record.object(name)
    try:
        # Questions hold backslashes that Python warns of in a literal; they are text here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            # By way of JSON, which has no other values than the reader of fields knows.
            parsed = loads(json.dumps(ast.literal_eval(value)))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        try:
            parsed = loads(value)
        except ValueError:
            parsed = None
    if isinstance(parsed, dict):
        return parsed
    found = "text that is no literal" if parsed is None else kind_of(parsed)
    record.note("wrong type", name, f"{found}, not an object")
    return {}


def _question(row: RecordFields, kind: str, messages: IdRegistry, home: dict[str, str]) -> Question:
    abstention = kind == "abstention"
    cited = _cited(row)
    evidence = resolve_references(cited, messages, row.notes, row.place("source_chat_ids"), row.id)
    if not cited and not abstention:
        row.note("no evidence", "source_chat_ids")
    name = next((name for name in ANSWERS if row.data.get(name) is not None), ANSWERS[0])
    return Question(
        id=row.id,
        text=row.required_text("question"),
        answer=row.text(name),
        kind=kind,
        evidence=evidence,
        evidence_sessions=tuple(dict.fromkeys(home[turn] for turn in evidence)),
        abstention=abstention,
        references=len(cited),
    )


def _cited(row: RecordFields) -> list[object]:
    """The cited messages: a list, or lists by what they say, such as the old and the new."""
    value = row.data.get("source_chat_ids")
    if not isinstance(value, dict):
        return row.rows("source_chat_ids", required=False)
    parts = RecordFields(value, row.place("source_chat_ids"), row.id, row.notes)
    return [id for name in value for id in parts.rows(name)]
