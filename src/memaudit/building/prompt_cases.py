"""Tricky cases with known answers: where a model does not follow the prompts, point by point.

The cases are in `prompts/cases.jsonl`. Each has one right answer by the text of the prompts.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

from memaudit.building.passes import adjudication, requirements, units
from memaudit.building.passes.adjudication import RequirementProposal, adjudication_request
from memaudit.building.passes.requirements import Requirement, ShownUnit, requirements_request
from memaudit.building.passes.source import SourceSession, SourceText, SourceTurn
from memaudit.building.passes.units import normalized, units_request
from memaudit.conversations.conversation import Question
from memaudit.judges import model_judge as coverage
from memaudit.judges.model_judge import (
    Chunk,
    Statement,
    coverage_request,
    judged_cell,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.text import one_line
from memaudit.models.request import Request
from memaudit.models.session import ModelSession

POINTS = {
    "units 1": "weight of assistant text",
    "units 2": "attribution",
    "units 3": "threshold for a change",
    "units 4": "kinds",
    "units 5": "quotes in lists",
    "units 6": "dates and ranges",
    "units 7": "pieces that overlap",
    "units 8": "citing",
    "units 9": "enumerations",
    "requirements 1": "own facts outrank",
    "requirements 2": "unanswerable with a positive part",
    "requirements 3": "contradictions",
    "requirements 4": "rubrics",
    "requirements 5": "equal alternatives",
    "requirements 6": "clock times",
    "requirements 7": "best reading",
    "adjudication 1": "a right unsupported",
    "adjudication 2": "abstention without units",
    "adjudication 3": "likely answers",
    "coverage 1": "as-of dates",
    "coverage 2": "the value of a dating statement",
    "coverage 3": "several parts missing",
    "coverage 4": "conflicting details",
    "coverage 5": "inference",
    "coverage 6": "parts kept",
}
"""What careful readers stumbled over in earlier prompts; every case tests one of them."""

_REPLIES: Mapping[str, type[BaseModel]] = {
    "units": units.UnitsReply,
    "requirements": requirements.RequirementsReply,
    "adjudication": adjudication.AdjudicationReply,
    "coverage": coverage.CoverageReply,
}
"""By pass: its reply."""

STAGES = tuple(_REPLIES)


@dataclass(frozen=True, slots=True)
class PromptCase:
    """What a pass is given, and the one right answer."""

    id: str
    stage: str
    point: str
    why: str
    """Why the answer is right, in one line."""
    given: dict[str, Any]
    right: dict[str, Any]

    @property
    def gist(self) -> str:
        """The case in one line."""
        given = self.given
        if self.stage == "coverage":
            return f"{given['memory']!r} for {given['unit']!r}"
        if self.stage == "units":
            turns = [turn for session in given["source"] for turn in session["turns"]]
            return " / ".join(f"{turn['speaker']}: {one_line(turn['text'])}" for turn in turns)
        return f"{given['question']} {given['answer']}"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What a model answered to a case."""

    case: PromptCase
    answer: str
    is_right: bool

    def to_json(self) -> dict[str, Any]:
        case = self.case
        return {
            "case": case.id,
            "pass": case.stage,
            "point": case.point,
            "why": case.why,
            "expected": expected_text(case),
            "given": self.answer,
            "right": self.is_right,
        }


@cache
def prompt_cases() -> tuple[PromptCase, ...]:
    """All cases, in the order of their points."""
    text = files("memaudit.models").joinpath("prompts", "cases.jsonl").read_text("utf-8")
    rows = (json.loads(line) for line in text.splitlines())
    return tuple(
        PromptCase(row["id"], row["pass"], row["point"], row["why"], row["given"], row["right"])
        for row in rows
    )


def chosen_cases(stage: str | None) -> list[PromptCase]:
    """The cases of one pass, or all."""
    if stage is not None and stage not in STAGES:
        raise MemAuditError(f"no cases for the pass {stage!r}; choose {', '.join(STAGES)}")
    return [case for case in prompt_cases() if stage in (None, case.stage)]


def check_prompts(
    cases: Sequence[PromptCase], session: ModelSession, model: str
) -> list[CaseResult]:
    """Ask a model about every case, each in a request of its own. In a batch all wait together."""
    by_stage = {
        stage: own for stage in STAGES if (own := [case for case in cases if case.stage == stage])
    }
    results: dict[str, CaseResult] = {}
    for stage, own in by_stage.items():
        requests = [(case.id, case_request(case, session, model)) for case in own]
        # A batch stops at the last pass only, with the requests of all.
        is_last = stage == list(by_stage)[-1]
        replies = session.ask(stage, requests, _REPLIES[stage], hold=not is_last)
        for case, reply in zip(own, replies, strict=True):
            graded = ("no valid reply", False) if reply is None else _GRADES[stage](case, reply)
            results[case.id] = CaseResult(case, *graded)
    return [results[case.id] for case in cases]


def case_request(case: PromptCase, session: ModelSession, model: str) -> Request:
    """The request of a case, made as the pass itself makes it."""
    given, parameters = case.given, session.parameters
    if case.stage == "units":
        return units_request(_source(given["source"]), model, parameters)
    if case.stage == "coverage":
        chunk = Chunk((given["memory"],), (_statement(case),), ((1, 1),))
        return coverage_request(chunk, model, session)
    question = Question("q", given["question"], given["answer"], "", asked_at=given.get("asked"))
    shown = [_shown_unit(number, row) for number, row in enumerate(given["units"], start=1)]
    if case.stage == "requirements":
        return requirements_request(question, shown, model, parameters)
    proposed = given["proposal"]
    requirement = Requirement(
        proposed["decision"],
        tuple((group[0], "needed") for group in proposed["required"]),
        proposed["reason"],
        {group[0]: tuple(group[1:]) for group in proposed["required"] if len(group) > 1},
    )
    proposal = RequirementProposal(question, requirement, shown)
    return adjudication_request(proposal, model, parameters)


def _source(sessions: Sequence[Mapping[str, Any]]) -> SourceText:
    turns = iter(range(1, 1_000))
    return SourceText(
        tuple(
            SourceSession(
                number,
                session["time"],
                tuple(
                    SourceTurn(
                        next(turns), row["speaker"], row["text"], None, row.get("again", False)
                    )
                    for row in session["turns"]
                ),
            )
            for number, session in enumerate(sessions, start=1)
        )
    )


def _statement(case: PromptCase) -> Statement:
    return Statement(case.given["unit"], tuple(case.given.get("parts", {}).items()))


def _shown_unit(number: int, row: Mapping[str, Any]) -> ShownUnit:
    """A row as the pass shows it."""
    return ShownUnit(
        number,
        row.get("kind", "fact"),
        row.get("time"),
        row["statement"],
        row.get("quote", ""),
        1,
        row.get("said_by", "user"),
        tuple(row.get("context", ())),
        row.get("dates") and tuple(row["dates"]),
        row.get("disputed", False),
    )


def expected_text(case: PromptCase) -> str:
    right = case.right
    if case.stage == "coverage":
        return _cell_text(right["label"], right.get("kept"))
    if case.stage == "units":
        return "; ".join(_check_text(check) for check in right["checks"])
    name = right.get("decision") or right["verdict"]
    return _groups_text(name, right.get("required"))


def _grade_coverage(case: PromptCase, reply: Any) -> tuple[str, bool]:
    rows = [row for row in reply.cells if (row.memory, row.unit) == (1, 1)]
    if not rows:
        return "no cell", False
    (row,) = rows
    cell, problem = judged_cell(row, _statement(case))
    if cell is None:
        return f"{row.label}, {problem}", False
    kept = case.right.get("kept")
    is_right = cell.label == case.right["label"] and (kept is None or cell.kept == set(kept))
    return _cell_text(cell.label, None if kept is None else sorted(cell.kept)), is_right


def _cell_text(label: str, kept: Sequence[str] | None) -> str:
    return f"{label}, kept {', '.join(sorted(kept))}" if kept else label


def _grade_decision(case: PromptCase, reply: Any) -> tuple[str, bool]:
    """A decision or verdict, and its units."""
    name = getattr(reply, "decision", None) or reply.verdict
    groups = [[row.unit, *row.alternatives] for row in reply.required]
    wanted = case.right.get("required")
    right_name = case.right.get("decision") or case.right.get("verdict")
    if wanted is None:
        return name, name == right_name
    found, expected = ({frozenset(group) for group in some} for some in (groups, wanted))
    return _groups_text(name, groups), name == right_name and found == expected


def _groups_text(name: str, groups: Sequence[Sequence[int]] | None) -> str:
    if groups is None:
        return name
    listed = ", ".join(" or ".join(map(str, group)) for group in sorted(map(sorted, groups)))
    return f"{name}, units {listed or 'none'}"


def _grade_units(case: PromptCase, reply: Any) -> tuple[str, bool]:
    """Every check of the case; the answer names what does not hold."""
    rows = [row.model_dump(by_alias=True) for row in reply.units]
    wrong = [
        f"{_check_text(check)}: {fault}"
        for check in case.right["checks"]
        if (fault := _failed_check(check, rows)) is not None
    ]
    return "; ".join(wrong) or "as expected", not wrong


def _failed_check(check: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str | None:
    """What is there instead, or None if the check holds."""
    if "changes" in check:
        changes = sorted({str(row.get("change", "none")) for row in rows} - {"none"})
        return None if changes == sorted(check["changes"]) else ", ".join(changes) or "no change"
    own = [row for row in rows if _is_about(row, check["of"])]
    if "count" in check:
        return None if len(own) == check["count"] else f"{len(own)} units"
    if "never" in check:
        bad = [row for row in own if all(_has(row, *item) for item in check["never"].items())]
        return bad[0]["statement"] if bad else None
    if not own:
        return "no unit"
    wanted = check["is"]
    if any(all(_has(row, name, value) for name, value in wanted.items()) for row in own):
        return None
    return "; ".join(
        ", ".join(f"{name} {row.get(_field(name), 'not asked')!r}" for name in wanted)
        for row in own
    )


def _is_about(row: Mapping[str, Any], words: str) -> bool:
    """Whether the quote of a unit has the words, or is part of them."""
    quote, wanted = normalized(str(row["quote"]))[0].casefold(), normalized(words)[0].casefold()
    return wanted in quote or quote in wanted


def _field(name: str) -> str:
    return name.removesuffix("_has")


def _has(row: Mapping[str, Any], name: str, value: Any) -> bool:
    """Equal, or for `NAME_has` all words in the field's text."""
    field = row.get(_field(name))
    if name.endswith("_has"):
        text = json.dumps(field, ensure_ascii=False).casefold()
        return all(str(word).casefold() in text for word in value)
    return bool(field == value)


def _check_text(check: Mapping[str, Any]) -> str:
    if "changes" in check:
        return f"changes: {', '.join(check['changes']) or 'none'}"
    if "count" in check:
        return f"{check['count']} units quote {check['of']!r}"
    verb = "is" if "is" in check else "never"
    listed = ", ".join(f"{_field(name)} {value}" for name, value in check[verb].items())
    return f"{check['of']!r} {'has' if verb == 'is' else 'never has'} {listed}"


_GRADES: Mapping[str, Callable[[PromptCase, Any], tuple[str, bool]]] = {
    "units": _grade_units,
    "requirements": _grade_decision,
    "adjudication": _grade_decision,
    "coverage": _grade_coverage,
}
