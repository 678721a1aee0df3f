"""Any chat model as the grader: does an answer say what the gold answer says?

It is blind. It gets the question, when it was asked if the package says so, the gold answer and the
given answer: no memory, store, system, reader, or verdict by words. Equal answers to equal
questions are equal requests, which are asked once.
"""

from collections.abc import Sequence
from typing import Literal

from memaudit.lab.downstream.answers import AnswerVerdict
from memaudit.lab.downstream.grading import GRADER_NO_REPLY, NOT_GRADED, GradingTask, ModelGrade
from memaudit.models.prompts import Quotable, StrictRow, load_prompt
from memaudit.models.request import FailureKind, Request
from memaudit.models.session import ModelSession


class GradeReply(StrictRow):
    """The reason, then the label."""

    reason: str
    label: Literal["right", "wrong", "abstains", "unclear"]


STAGE = "grading"
_VERDICTS = {
    "right": AnswerVerdict.RIGHT,
    "wrong": AnswerVerdict.WRONG,
    "abstains": AnswerVerdict.ABSTAINED,
    "unclear": AnswerVerdict.UNCLEAR,
}


class ModelGrader:
    """Asks a model over a session, which estimates, caches and counts."""

    def __init__(self, session: ModelSession, model: str) -> None:
        self.name = f"model:{model}"
        self._session, self._model = session, model
        self._prompt = load_prompt("memaudit.lab.downstream", "grade")
        self.about = f"{model}, prompt {self._prompt.label} {self._prompt.sha256[:12]}"

    def grade(self, tasks: Sequence[GradingTask]) -> list[ModelGrade]:
        requests = [(task.owner, self._request(task)) for task in tasks]
        replies = self._session.ask(STAGE, requests, GradeReply)
        lost = {
            problem.key
            for problem in self._session.ledger.problems
            if problem.stage == STAGE and problem.what == FailureKind.HTTP
        }
        return [
            ModelGrade(_VERDICTS[reply.label], reply.reason)
            if reply
            else ModelGrade(None, note=GRADER_NO_REPLY if request.key in lost else NOT_GRADED)
            for (_, request), reply in zip(requests, replies, strict=True)
        ]

    def _request(self, task: GradingTask) -> Request:
        question = task.question
        asked: dict[str, Quotable] = {"asked": question.asked_at} if question.asked_at else {}
        messages = self._prompt.messages(
            question=question.text, **asked, right_answer=question.gold, given_answer=task.answer
        )
        return Request.for_reply(
            GradeReply, self._model, messages, self._prompt.template, self._session.parameters
        )
