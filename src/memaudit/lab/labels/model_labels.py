"""The blind model pass: a frame's cells, and no others, answered by the coverage pass of builds.

The model gets the two texts of a cell, and the parts of a statement that has some. It sees no ids,
kinds or quotes, and not the key.
"""

from collections import defaultdict
from dataclasses import dataclass

from memaudit.judges.model_judge import Statement, TextPair, judge_pairs
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import Label
from memaudit.lab.labels.frame import Frame, LabelSet
from memaudit.models.prompts import pass_prompt, provenance
from memaudit.models.session import ModelSession

STAGE = "cells"


@dataclass(frozen=True, slots=True)
class ModelLabels:
    """A model's labels, with its reasons as notes, and the cells that it did not answer.

    A cell without an answer has no label; it does not count as none.
    """

    labels: LabelSet
    undecided: tuple[str, ...]


def annotator_of(model: str) -> str:
    """The annotator of labels by a model, with its prompt."""
    return provenance(model, pass_prompt("coverage"))


def labels_by_model(frame: Frame, session: ModelSession, model: str) -> ModelLabels:
    """Ask a model about every cell of a frame; equal texts of one package are asked once."""
    wanted: defaultdict[str, set[TextPair]] = defaultdict(set)
    for cell in frame.cells:
        wanted[cell.package].add((cell.candidate_text, Statement(cell.unit_text, cell.parts)))
    judged = judge_pairs({name: wanted[name] for name in sorted(wanted)}, session, model, STAGE)
    labels: dict[str, Label] = {}
    notes: dict[str, str] = {}
    kept: dict[str, frozenset[str]] = {}
    undecided: list[str] = []
    for cell in frame.cells:
        answer = judged[cell.package][cell.candidate_text, Statement(cell.unit_text, cell.parts)]
        if answer is None:
            undecided.append(cell.id)
            continue
        labels[cell.id] = answer.label
        notes[cell.id] = answer.reason
        if cell.parts:
            kept[cell.id] = answer.kept
    if not labels:
        raise MemAuditError(
            f"the model {model!r} gave no answer for any cell; check the address and the model, "
            "then run again"
        )
    label_set = LabelSet(annotator_of(model), labels, notes, kept)
    return ModelLabels(label_set, tuple(undecided))
