"""What is said about the numbers of an agreement audit."""

from fractions import Fraction
from pathlib import Path

from memaudit.label_audit.agreement import audit_agreement, notes
from memaudit.label_audit.cells import Frame, LabelSet
from memaudit.label_audit.frame_files import read_frame
from tests.label_audit.agreement.labelled import frame, labels


def noted(held: Frame, *sets: LabelSet, models: tuple[LabelSet, ...] = ()) -> str:
    return "\n".join(notes(audit_agreement(held, sets, models, draws=10)))


def test_two_steps_against_three() -> None:
    """ann and ben say 0 or 1, the package says 0.5 too: their 1 against it is no disagreement that
    they could have avoided. On the covered scale they agree in full with the package."""
    held = frame(6, "fppnnn")
    ann, ben = labels("ann", "fffnnn"), labels("ben", "fffnnn")
    text = noted(held, ann, ben)
    assert "ann, ben never said partial, package did" in text
    assert "the covered scale is the fair one" in text
    found = audit_agreement(held, [ann, ben], draws=10)
    kappas = {
        one.scale.name: one.as_drawn.kappa.value
        for one in found.comparisons
        if one.kind == "consensus-package"
    }
    # Labels: 4 of 6 agree, by chance (3 x 3 + 0 x 2 + 3 x 1) / 36 = 1/3.
    assert kappas == {"labels": Fraction(1, 2), "covered": 1}


def test_whoever_may_say_partial() -> None:
    """No such note where all say it, or nobody; a model that never says it is named as one."""
    held = frame(6, "fppnnn")
    assert "never said" not in noted(held, labels("ann", "ffpnnn"), labels("ben", "fppnnn"))
    text = noted(frame(6, "fffnnn"), labels("ann", "ffnnnn"))
    assert "nobody says partial: both scales are the same" in text
    assert "never said" not in text
    model = labels("bot", "fffnnn")
    text = noted(held, labels("ann", "ffpnnn"), models=(model,))
    assert "bot (model) never said partial, ann, package did" in text
    # Who covers nothing has had no occasion.
    assert "never said" not in noted(held, labels("ann", "ffpnnn"), labels("ben", "nnnnnn"))


def test_published_columns(tmp_path: Path) -> None:
    """The published label is the coverage from 0.5 on; which of the two the key is, is said."""
    file = tmp_path / "annotation_cells.csv"
    row = "instance_id,candidate_id,unit_id,candidate_text,evidence_text"
    file.write_text(
        f"cell_id,{row},gemini_label,gemini_coverage\n"
        "c000,q,m,u,a,b,1,0.5\nc001,q,n,u,a,b,0,0.0\nc002,q,o,u,a,b,1,1.0\n"
    )
    text = noted(read_frame(tmp_path), labels("ann", "fnf"))
    assert "the published gemini_label is 1 from a coverage of 0.5 on" in text
    assert "ann never said partial, package did" in text
    file.write_text(f"cell_id,{row},gemini_label\nc000,q,m,u,a,b,1\nc001,q,n,u,a,b,0\n")
    text = noted(read_frame(tmp_path), labels("ann", "fn"))
    assert "the key is the published column gemini_label, which is 1 from a coverage" in text
    (tmp_path / "key.csv").write_text("cell_id,value\nc000,1\nc001,0\n")
    assert "published" not in noted(read_frame(tmp_path), labels("ann", "fn"))
