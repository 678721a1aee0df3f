"""Label audits: what a file of one says, and what the labels beside a frame say when compared."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memaudit.core.errors import MemAuditError
from memaudit.io.strict_json import first_fault
from memaudit.label_audit.agreement import AgreementAudit, audit_agreement
from memaudit.label_audit.agreement_json import audit_data
from memaudit.label_audit.cells import Frame
from memaudit.label_audit.model_pass import MODEL
from memaudit.report.labels.tables import AGREEMENT, LabelAudit, agreed, read_audit
from memaudit.web.explorer.library.frame_labels import FrameLabels, frame_labels
from memaudit.web.explorer.library.look import read_object

DRAWS = 500
"""Bootstrap draws while a page is made; `memaudit audit agreement` makes twenty times as many."""

FEWEST = 2
"""Label sets without which nothing of a frame is shown: whoever labels must not see the key."""


class _Read(BaseModel):
    # Later versions may write more, and earlier ones wrote less.
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Rater(_Read):
    """Somebody who labelled, and how often they said what."""

    name: str
    role: str = "annotator"
    labels: dict[str, int] = Field(default_factory=dict)


class Dispute(_Read):
    """A cell that raters see differently, with its texts."""

    cell_id: str
    package: str = ""
    candidate_id: str = ""
    unit_id: str = ""
    stratum: str = ""
    labels: dict[str, str] = Field(default_factory=dict)
    candidate_text: str = ""
    unit_text: str = ""


class Agreement(_Read):
    """What the agreement half says beyond the house's tables."""

    raters: tuple[Rater, ...] = ()
    disputed: tuple[Dispute, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditTables:
    """The house's tables, and for agreement the rest of it."""

    tables: LabelAudit
    agreement: Agreement | None


@dataclass(frozen=True, slots=True)
class LabelledFrame:
    """A frame and its labels. `audit` is None while it is too early to show anything, and where
    the labels cannot be compared, which `problem` tells."""

    cells: int
    labels: FrameLabels
    audit: AuditTables | None
    problem: str = ""

    @property
    def is_early(self) -> bool:
        """Whether somebody may still have to label blindly."""
        labels = self.labels
        return len(labels.sets) < FEWEST or bool(labels.unfinished) or labels.is_unsure


def read_label_audit(path: Path) -> AuditTables:
    """The content of a file that `memaudit audit ... --json` wrote."""
    tables = read_audit([path])
    data = read_object(path)
    if data.get("format") != AGREEMENT:
        return AuditTables(tables, None)
    return _with_agreement(tables, data, path.name)


def labelled_frame(folder: Path, frame: Frame) -> LabelledFrame:
    """The labels of a frame compared, once there are enough of them and nobody is labelling."""
    labels = frame_labels(folder, frame)
    early = LabelledFrame(len(frame.cells), labels, None)
    if early.is_early:
        return early
    models = [one for one in labels.sets if one.annotator.startswith(MODEL)]
    people = [one for one in labels.sets if not one.annotator.startswith(MODEL)]
    try:
        found = audit_agreement(frame, people, models, DRAWS)
    except MemAuditError as error:
        return replace(early, problem=str(error))
    data = {**audit_data(found), "notes": _notes(found)}
    tables = _with_agreement(LabelAudit(agreed(data), None), data, "labels")
    return replace(early, audit=tables)


def _with_agreement(tables: LabelAudit, data: Mapping[str, Any], place: str) -> AuditTables:
    try:
        return AuditTables(tables, Agreement.model_validate(data))
    except ValidationError as error:
        raise MemAuditError(f"{place}: {first_fault(error)}") from None


def _notes(found: AgreementAudit) -> list[str]:
    """What a reader must know about the numbers."""
    notes = [f"intervals are of {found.draws:,} draws, memaudit audit agreement makes more"]
    if found.own_passes:
        names = ", ".join(found.own_passes)
        notes.append(f"the package's own labels are {names}: there is no row for the package")
    if not found.keyed:
        notes.append("no key: nothing is compared with the package or reweighted")
    return notes
