"""What of an optimum without any judge survives a blind second look.

The labels beside this file were given by a language model that saw the texts of memories and units
and the coverage prompt, and nothing else: every cell of one optimum at 495 words among others, and
later, by another reader, six more of the optimum that is returned now.
"""

import json
from fractions import Fraction
from pathlib import Path

from memaudit.building.build_folder import BuildJob, plan_build
from memaudit.judges.label_files import read_labels
from memaudit.kernel.package.provenance import Ground
from memaudit.lab.labels.optimum_audit import audit_optimum
from tests.conversations.files import real_file

VALUES = {"full": Fraction(1), "partial": Fraction(1, 2), "none": Fraction(0)}


class BlindLabels:
    """The labels of one reader as a second look."""

    def __init__(self) -> None:
        lines = Path(__file__).with_name("conv26_optimum_495.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        self.given = {(row["candidate"], row["unit"]): VALUES[row["label"]] for row in rows}

    def labels(self, _package: object, cells: list[tuple[str, str]]) -> dict[object, Fraction]:
        return {at: self.given[at] for at in cells if at in self.given}


def test_most_of_the_optimum_survives() -> None:
    """Of 112.5 claimed at 495 words, 98.5 survive: 0.88. Before turns carried date and speaker and
    fragments were credited, it was 0.66."""
    folder = real_file("labels/locomo_conv26/units.jsonl").parent
    labels = read_labels(
        folder / "units.jsonl", folder / "memories.jsonl", [folder / "coverage_pass_a.jsonl"]
    )
    job = BuildJob(real_file("locomo/locomo10.json"), conversations=("conv-26",), labels=labels)
    (built,) = plan_build(job).built()
    audit = audit_optimum(built.package, [], Fraction(495), BlindLabels())  # type: ignore[arg-type]
    looked_at = {group.ground: (group.cells, group.looked_at) for group in audit.groups}
    assert looked_at == {Ground.ASSUMED: (3, 3), Ground.JUDGED: (94, 94)}
    assert (audit.claimed.value, audit.surviving) == (Fraction(225, 2), Fraction(197, 2))
    assert audit.survival is not None
    assert audit.survival >= Fraction(85, 100)
