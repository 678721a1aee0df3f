"""The published audit's files: other column names, the model's label inside, 0 and 1 as labels."""

from fractions import Fraction
from pathlib import Path

from memaudit.label_audit.cells import FrameCell, KeyedCell, LabelSet
from memaudit.label_audit.frame_files import read_frame, read_label_sets

CELLS = """\
cell_id,instance_id,candidate_id,unit_id,gemini_label,gemini_coverage,sampling_stratum,\
representation_type,candidate_text,evidence_text,gemini_rationale
q1__a,q1,q1::m1,q1::u1,1,0.5,gemini_positive,fact,"Ann, 30",Ann is thirty.,says so
q1__b,q1,q1::m2,q1::u1,0,0.0,sampled_gemini_zero,raw,Hello,Ann is thirty.,
"""
LABELS = "cell_id,annotator_id,label,notes\nq1__a,human_a,1,\nq1__b,human_a,0,\n"


def test_folder(tmp_path: Path) -> None:
    """Ids keep their full form, as packages of that layout do; weights are not known, so 1."""
    (tmp_path / "annotation_cells.csv").write_text(CELLS, newline="\r\n")
    (tmp_path / "human_a_labels.csv").write_text(LABELS, newline="\r\n")
    frame = read_frame(tmp_path)
    assert read_frame(tmp_path / "annotation_cells.csv") == frame
    assert frame.cells[0] == FrameCell(
        "q1__a", "q1", "q1::m1", "q1::u1", "fact", "unknown", None, "Ann, 30", "Ann is thirty.", ""
    )
    assert frame.key == {
        "q1__a": KeyedCell(Fraction(1, 2), "gemini_coverage", Fraction(1)),
        "q1__b": KeyedCell(Fraction(0), "gemini_coverage", Fraction(1)),
    }
    assert frame.cells[1].stratum == "raw / unknown / session unknown"
    assert read_label_sets(tmp_path / "human_a_labels.csv", frame) == [
        LabelSet("human_a", {"q1__a": "full", "q1__b": "none"})
    ]


def test_a_key_beside_goes_first(tmp_path: Path) -> None:
    """key.csv, where it is there, is the key; the column inside is not."""
    (tmp_path / "annotation_cells.csv").write_text(CELLS)
    (tmp_path / "key.csv").write_text("cell_id,value,provenance,weight\nq1__a,full,x,7/2\n")
    assert read_frame(tmp_path).key == {"q1__a": KeyedCell(Fraction(1), "x", Fraction(7, 2))}
