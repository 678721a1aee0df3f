"""Frames and labels on disk: what is written is read back, and what is wrong is named."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.judges.label_files import csv_text, shielded, unshielded
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.labels import LABEL_NAMES, parse_label
from memaudit.lab.labels.cell_tables import table_rows
from memaudit.lab.labels.frame import Frame, FrameCell, KeyedCell, LabelSet
from memaudit.lab.labels.frame_drawing import Design, draw
from memaudit.lab.labels.frame_files import read_frame, read_label_sets, write_frame, write_labels
from tests.lab.labels.small_frames import cell, grid, keyed_frame

FORMULAS = ("=1+1", "+49 30", "- likes tea", "@home", "'=x", "''-x", "'plain", "\tx", "\rx")
HARD = st.text(max_size=12) | st.sampled_from(
    (*FORMULAS, 'a "quoted", b', "two\nlines", "a\r\nb\rc", "née ☕\u2028東京", "\x00", ";", "  x ")
)


def labels_file(folder: Path, text: str, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def refused(path: Path, frame: Frame | None = None) -> str:
    with pytest.raises(MemAuditError) as caught:
        read_label_sets(path, frame)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(HARD)
def test_spreadsheets_run_nothing(text: str) -> None:
    assert not shielded(text).startswith(("=", "+", "-", "@", "\t", "\r"))
    assert unshielded(shielded(text)) == text


@given(st.lists(st.tuples(HARD, HARD), min_size=1, max_size=4))
def test_csv_keeps_texts(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    text = csv_text(("n", "a", "b"), [("1", *row) for row in rows])
    path.write_bytes(text.encode())
    assert [(row.data["a"], row.data["b"]) for row in table_rows(path)] == rows


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(HARD, HARD, HARD, st.sampled_from((True, False, None))), min_size=1, max_size=3
    )
)
def test_frames_come_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str, bool | None]]
) -> None:
    cells = [
        cell(place, candidate_text=a, unit_text=b, quote=c, same_session=same, package="=p")
        for place, (a, b, c, same) in enumerate(rows)
    ]
    frame = keyed_frame(*cells)
    folder = tmp_path_factory.mktemp("frame") / "f"
    assert write_frame(frame, folder)
    for path in (folder, *(folder / n for n in ("cells.csv", "cells.jsonl"))):
        assert read_frame(path) == frame
    (folder / "key.csv").unlink()
    assert read_frame(folder) == Frame(frame.cells)


def test_texts_in_jsonl_are_as_they_are(tmp_path: Path) -> None:
    write_frame(keyed_frame(cell(1, candidate_text="=1+1")), tmp_path / "f")
    (row,) = (json.loads(one) for one in (tmp_path / "f" / "cells.jsonl").open())
    assert row["candidate_text"] == "=1+1"
    assert set(row) == {
        "cell_id",
        "package",
        "candidate_id",
        "unit_id",
        "candidate_kind",
        "unit_kind",
        "same_session",
        "candidate_text",
        "unit_text",
        "quote",
    }
    assert '"\'=1+1"' in (tmp_path / "f" / "cells.csv").read_text()
    for name in ("cells.csv", "cells.jsonl"):
        assert "pass:a" not in (tmp_path / "f" / name).read_text()


def test_half_a_surrogate_pair(tmp_path: Path) -> None:
    write_frame(keyed_frame(cell(1, candidate_text="a\ud800b")), tmp_path / "f")
    for name in ("cells.csv", "cells.jsonl"):
        assert read_frame(tmp_path / "f" / name).cells[0].candidate_text == "a\ufffdb"


def test_the_manifest(tmp_path: Path) -> None:
    package = grid("tenth")
    drawing = draw([package], Design(4, Fraction(1, 3)))
    write_frame(drawing.frame, tmp_path / "f", drawing)
    data = json.loads((tmp_path / "f" / "frame.json").read_text())
    assert (data["format"], data["version"], data["cells"]) == ("memaudit-frame", 1, 480)
    assert (data["seed"], data["zero_rate"]) == (4, "1/3")
    assert data["packages"] == [{"name": "grid", "digest": digest(package)}]
    assert data["strata"] == [
        {"stratum": "fact / fact / same session", "covered": 120, "uncovered": 1080, "drawn": 360}
    ]
    cells = tmp_path / "f" / "cells.csv"
    cells.write_text(cells.read_text().replace("memory 3", "memory 4"))
    with pytest.raises(MemAuditError, match=r"cells\.csv: changed after the frame was drawn"):
        read_frame(tmp_path / "f")
    assert len(read_frame(cells).cells) == 480  # the file alone promises nothing


def test_no_frame_is_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    frame = keyed_frame(cell(1))
    assert write_frame(frame, folder)
    (folder / "labels.sqlite").write_bytes(b"work")
    assert not write_frame(frame, folder)
    with pytest.raises(MemAuditError, match="already holds another frame"):
        write_frame(keyed_frame(cell(2)), folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(MemAuditError, match=r"holds 'thesis\.tex' and no frame"):
        write_frame(frame, tmp_path / "mine")
    with pytest.raises(MemAuditError, match="is not a frame"):
        read_frame(tmp_path / "mine")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["f", "mine"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "cell_id,package,candidate_id,unit_id,unit_text\nc1,p,m,u,t\n",
            "cells.csv:2: lacks the column 'candidate_text' or 'memory_text'",
        ),
        (
            "cell_id,package,candidate_id,unit_id,candidate_text,unit_text\nc1,p,m,u,a,b\nc1,p,n,u,a,b\n",
            "cells.csv:3: repeats the cell 'c1' of line 2",
        ),
        (
            "cell_id,package,candidate_id,unit_id,candidate_text,unit_text\nc1,,m,u,a,b\n",
            "cells.csv:2: has nothing in the field 'package'",
        ),
        (
            "cell_id,package,candidate_id,unit_id,candidate_text,unit_text\nc1,p,m,u,a\n",
            "cells.csv:2: has 5 cells, the header has 6",
        ),
        ("cell_id,cell_id\n", "cells.csv:1: names a column twice"),
        ("cell_id\n", "cells.csv: has no rows"),
    ],
)
def test_bad_cells(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(MemAuditError) as caught:
        read_frame(labels_file(tmp_path, text, "cells.csv"))
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ("c0009,1,,1", "names the unknown cell 'c0009'"),
        ("c0001,2,,1", "which is not between 0 and 1"),
        ("c0001,,,1", "has no value in the column 'value'"),
        ("c0001,1,,0", "weights must be above 0"),
        ("c0001,1,,x", "has a bad weight"),
    ],
)
def test_bad_keys(tmp_path: Path, row: str, line: str) -> None:
    write_frame(Frame((cell(1),)), tmp_path / "f")
    labels_file(tmp_path / "f", f"cell_id,value,provenance,weight\n{row}\n", "key.csv")
    with pytest.raises(MemAuditError, match=rf"key\.csv:2: .*{line}"):
        read_frame(tmp_path / "f")


@given(
    st.dictionaries(st.sampled_from(("c1", "c2", "c3")), st.sampled_from(LABEL_NAMES), min_size=1),
    st.dictionaries(st.sampled_from(("c1", "c2", "c3")), HARD.filter(bool)),
)
def test_labels_come_back(
    tmp_path_factory: pytest.TempPathFactory, labels: dict[str, str], notes: dict[str, str]
) -> None:
    kept = {id: note for id, note in notes.items() if id in labels}
    said = LabelSet("Ann O'Neil", labels, kept)  # type: ignore[arg-type]
    path = tmp_path_factory.mktemp("labels") / "l.csv"
    write_labels(said, path)
    assert read_label_sets(path) == [said]


def test_several_annotators_and_blank_rows(tmp_path: Path) -> None:
    path = labels_file(
        tmp_path,
        "\ufeffcell_id;annotator_id;label;notes\r\nc1;bo;yes;\r\nc2;al;;later\r\nc2;bo;0.5;why\r\n"
        "c1;al;no;\r\nc1;al;none;again\r\n;;;\r\n",
    )
    assert read_label_sets(path) == [
        LabelSet("bo", {"c1": "full", "c2": "partial"}, {"c2": "why"}),
        LabelSet("al", {"c1": "none"}, {"c1": "again"}),
    ]
    unnamed = labels_file(tmp_path, "cell_id,label\nc1,1\n", "human_c.csv")
    assert read_label_sets(unnamed) == [LabelSet("human_c", {"c1": "full"})]
    typed = labels_file(tmp_path, '{"cell_id": "c1", "label": false}\n', "x.jsonl")
    assert read_label_sets(typed) == [LabelSet("x", {"c1": "none"})]


def test_bad_labels(tmp_path: Path) -> None:
    head = "cell_id,annotator_id,label,notes\n"
    frame = Frame((cell(1),))
    path = labels_file(tmp_path, f"{head}c0001,al,full,\nc0001,al,maybe,\n")
    assert refused(path).startswith("labels.csv:3: unknown label 'maybe' (write full, partial")
    path = labels_file(tmp_path, f"{head}c0001,al,full,\nc0001,al,none,\n")
    assert refused(path) == (
        "labels.csv:3: 'al' labels the cell 'c0001' none, but full at labels.csv:2 "
        "(keep one of them)"
    )
    path = labels_file(tmp_path, f"{head}c0001,al,full,\nc0002,al,full,\n")
    assert len(read_label_sets(path)[0].labels) == 2
    assert refused(path, frame) == (
        "labels.csv:3: names the cell 'c0002', which is not in the frame"
    )
    assert refused(labels_file(tmp_path, f"{head}c0001,al,,\n")) == "labels.csv: has no labels"
    assert refused(labels_file(tmp_path, "cell_id,note\nc1,x\n")) == (
        "labels.csv:2: lacks the column 'label'"
    )
    assert refused(labels_file(tmp_path, "label\nfull\n")) == (
        "labels.csv:2: lacks the column 'cell_id'"
    )
    assert refused(labels_file(tmp_path, f'{head}c1,al,"full\n')).startswith(
        "labels.csv:2: is not CSV: "
    )
    assert refused(tmp_path / "gone.csv") == "gone.csv: does not exist (check the path)"
    assert "is not a .csv or .jsonl file" in refused(labels_file(tmp_path, "x", "labels.xls"))
    with pytest.raises(MemAuditError, match=r"written to a \.csv file"):
        write_labels(LabelSet("a", {"c1": "full"}), tmp_path / "labels.xlsx")


def test_cells_that_are_only_told_apart(tmp_path: Path) -> None:
    path = labels_file(tmp_path, "cell_id\na\nb\n", "cells.csv")
    held = read_frame(path, ids_only=True)
    assert [(one.id, one.candidate_text) for one in held.cells] == [("a", ""), ("b", "")]
    assert held.cells[0].stratum == "unknown / unknown / session unknown"
    with pytest.raises(MemAuditError, match="2: lacks the column 'package' or"):
        read_frame(path)


@pytest.mark.parametrize("name", ["missing", "missing.csv", "missing.json"])
def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    for read in (read_frame, read_label_sets):
        with pytest.raises(MemAuditError, match=f"{name}: does not exist") as caught:
            read(tmp_path / name)
        assert type(caught.value) is MemAuditError


CELLS = """\
cell_id,instance_id,candidate_id,unit_id,gemini_label,gemini_coverage,sampling_stratum,\
representation_type,candidate_text,evidence_text,gemini_rationale
q1__a,q1,q1::m1,q1::u1,1,0.5,gemini_positive,fact,"Ann, 30",Ann is thirty.,says so
q1__b,q1,q1::m2,q1::u1,0,0.0,sampled_gemini_zero,raw,Hello,Ann is thirty.,
"""
NAMED_LABELS = "cell_id,annotator_id,label,notes\nq1__a,human_a,1,\nq1__b,human_a,0,\n"


def test_folder(tmp_path: Path) -> None:
    """Ids keep their full form, as packages of that layout do; weights are not known, so 1."""
    (tmp_path / "annotation_cells.csv").write_text(CELLS, newline="\r\n")
    (tmp_path / "human_a_labels.csv").write_text(NAMED_LABELS, newline="\r\n")
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
    (tmp_path / "annotation_cells.csv").write_text(CELLS)
    (tmp_path / "key.csv").write_text("cell_id,value,provenance,weight\nq1__a,full,x,7/2\n")
    assert read_frame(tmp_path).key == {"q1__a": KeyedCell(Fraction(1), "x", Fraction(7, 2))}


@pytest.mark.parametrize(
    ("words", "label"),
    [
        (("full", "1", "1.0", "Yes", "y", "TRUE", " covered ", True, 1, Decimal("1.0")), "full"),
        (("partial", "0.5", "1/2", "Partially covered", Decimal("0.5")), "partial"),
        (("none", "0", "0.0", "no", "n", "false", "not covered", "not-covered", False, 0), "none"),
        (("cannot_tell", "Cannot tell", "can't tell", "unsure", "?"), "cannot_tell"),
        (("", "  ", None), None),
    ],
)
def test_known(words: tuple[object, ...], label: str | None) -> None:
    assert [parse_label(word) for word in words] == [label] * len(words)


@pytest.mark.parametrize("word", ["maybe", "0.7", "2", "-1", "nan", "fulll", ["full"], {}])
def test_unknown(word: object) -> None:
    with pytest.raises(ValueError, match="label"):
        parse_label(word)
