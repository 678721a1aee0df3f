"""LoCoMo's evidence as third parties corrected it: the same package from better labels.

A correction names a question as `locomo_<place of the conversation>_qa<place of the question>`
and lists the turns that do hold its answer. The package is built again from them, by its own rules.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from memaudit.core.errors import MemAuditError
from memaudit.core.package import TABLES, Package
from memaudit.io.files import read_text
from memaudit.io.strict_json import first_fault
from memaudit.natural.annotations import AnnotationRecipe, build_package
from memaudit.natural.build_plan import BuildJob, plan_build

VARIANT_NAME = "corrected evidence"
FORMAT = "locomo"
_PLACE = re.compile(r"locomo_(\d+)_(qa\d+)")


class Correction(BaseModel):
    """The fields of a row that are used; the others are for people."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question_id: str
    correct_evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CorrectedPackage:
    """The corrected package, and what became of this conversation's corrections."""

    package: Package
    count: Mapping[str, int]


def read_corrections(path: Path) -> list[Correction]:
    """The rows of a file of corrections."""
    try:
        return TypeAdapter(list[Correction]).validate_json(read_text(path))
    except ValidationError as error:
        raise MemAuditError(
            f"{path.name}: {first_fault(error)}; a JSON list of rows with "
            "question_id and correct_evidence was expected"
        ) from None


def corrected_package(
    package: Package, rows: list[Correction], conversations: Path
) -> CorrectedPackage:
    """A package built from LoCoMo's annotations, with corrected evidence.

    Turns that the conversation does not have are left out; a correction without any other turn
    changes nothing. Both are counted.
    """
    matching = [
        (place, loaded)
        for place, loaded in enumerate(plan_build(BuildJob(conversations, FORMAT)).loaded())
        if loaded.conversation.id == package.name
    ]
    if not matching:
        raise MemAuditError(f"{conversations.name}: has no conversation {package.name!r}")
    ((place, loaded),) = matching
    recipe = AnnotationRecipe(FORMAT, package.cost_rule)
    before = build_package(loaded, recipe).package
    if any(getattr(before, table) != getattr(package, table) for table in TABLES):
        raise MemAuditError(
            f"corrections of LoCoMo's evidence do not apply to {package.name!r}: it is not what "
            f"memaudit build makes of {conversations.name} without other labels; build it again"
        )
    conversation = loaded.conversation
    session_of = {turn.id: turn.session for turn in conversation.turns}
    questions = {question.id: question for question in conversation.questions}
    count: Counter[str] = Counter()
    for row in rows:
        at = _PLACE.fullmatch(row.question_id)
        if at is None:
            raise MemAuditError(f"{row.question_id!r} is not the id of a LoCoMo question")
        if int(at[1]) != place:
            continue
        if at[2] not in questions:
            count["unknown question"] += 1
            continue
        question = questions[at[2]]
        turns = tuple(dict.fromkeys(id for id in row.correct_evidence if id in session_of))
        count["unknown turns"] += len(set(row.correct_evidence)) - len(turns)
        if not turns or set(turns) == set(question.evidence):
            count["unchanged" if turns else "no known turn"] += 1
            continue
        count["corrected"] += 1
        questions[question.id] = replace(
            question,
            evidence=turns,
            evidence_sessions=tuple(dict.fromkeys(session_of[turn] for turn in turns)),
        )
    corrected = replace(conversation, questions=tuple(questions.values()))
    rebuilt = build_package(replace(loaded, conversation=corrected), recipe).package
    return CorrectedPackage(
        rebuilt.replace(group_cap=package.group_cap), dict(sorted((+count).items()))
    )
