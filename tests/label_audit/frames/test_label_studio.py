"""Label Studio: tasks out, exports of both forms in."""

import json
import xml.etree.ElementTree as Xml
from pathlib import Path
from typing import Any

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.cells import LABELS, Frame, LabelSet
from memaudit.label_audit.frame_files import read_label_sets, write_frame
from memaudit.label_audit.label_studio import CONFIG
from tests.label_audit.frames.making import cell


def annotation(choice: str, who: object = 3, **more: object) -> dict[str, Any]:
    """An annotation as a full export has it."""
    result = [
        {"id": "a1", "from_name": "label", "to_name": "memory", "type": "choices",
         "origin": "manual", "value": {"choices": [choice]}}
    ]  # fmt: skip
    return {
        "id": 1001, "completed_by": who, "was_cancelled": False, "lead_time": 4.288,
        "result": result, **more,
    }  # fmt: skip


def export(folder: Path, tasks: object) -> Path:
    """An export file."""
    path = folder / "project-1.json"
    path.write_text(json.dumps(tasks))
    return path


def refused(path: Path, frame: Frame | None = None) -> str:
    """The one line about an export."""
    with pytest.raises(MemAuditError) as caught:
        read_label_sets(path, frame)
    return str(caught.value)


def test_the_setup_fits_the_tasks(tmp_path: Path) -> None:
    """Every $variable is in the tasks' data, and the choices are our labels."""
    setup = Xml.fromstring(CONFIG)
    assert tuple(one.get("value") for one in setup.iter("Choice")) == LABELS
    write_frame(Frame((cell(1),)), tmp_path / "f")
    (task,) = json.loads((tmp_path / "f" / "label_studio.json").read_text())
    shown = {one.get("value", "").removeprefix("$") for one in setup.iter("Text")}
    assert shown == {"candidate_text", "unit_text", "quote"} <= set(task["data"])
    assert (tmp_path / "f" / "label_studio.xml").read_text() == CONFIG


def test_full_export(tmp_path: Path) -> None:
    """Two people, one of them with an address; skipped and empty ones are no labels."""
    noted = annotation("partial", {"id": 4, "email": "al@example.org"})
    noted["result"].append(
        {"from_name": "notes", "type": "textarea", "value": {"text": ["so", "so"]}}
    )
    tasks = [
        {"id": 1, "data": {"cell_id": "c1"}, "annotations": [annotation("full"), noted],
         "predictions": [annotation("none")]},
        {"id": 2, "data": {"cell_id": "c2"}, "annotations": [
            annotation("none"), annotation("full", 5, was_cancelled=True),
            annotation("full", 6, result=[])]},
        {"id": 3, "data": {"cell_id": "c3"}, "annotations": []},
    ]  # fmt: skip
    assert read_label_sets(export(tmp_path, tasks)) == [
        LabelSet("3", {"c1": "full", "c2": "none"}),
        LabelSet("al@example.org", {"c1": "partial"}, {"c1": "so\nso"}),
    ]


def test_minimal_export(tmp_path: Path) -> None:
    """JSON-MIN: labels beside the data, as a word or as choices."""
    rows = [
        {"id": 1, "cell_id": "c1", "label": "cannot_tell", "notes": "vague", "annotator": 3},
        {"id": 2, "cell_id": "c2", "label": {"choices": ["full"]}, "annotator": 3},
        {"id": 3, "cell_id": "c3", "annotator": 3},
    ]
    assert read_label_sets(export(tmp_path, rows)) == [
        LabelSet("3", {"c1": "cannot_tell", "c2": "full"}, {"c1": "vague"})
    ]


def test_bad_exports(tmp_path: Path) -> None:
    """One line with the file and the task."""
    data = {"cell_id": "c1"}
    twice = [{"data": data, "annotations": [annotation("full"), annotation("none")]}]
    assert refused(export(tmp_path, twice)) == (
        "project-1.json: task 1: '3' labels the cell 'c1' none, but full at project-1.json: "
        "task 1 (keep one of them)"
    )
    odd = [{"data": data, "annotations": [annotation("green")]}]
    assert "project-1.json: task 1: unknown label 'green'" in refused(export(tmp_path, odd))
    known = [{"data": data, "annotations": [annotation("full")]}]
    assert "task 1: names the cell 'c1', which" in refused(
        export(tmp_path, known), Frame((cell(1),))
    )
    many = annotation("full")
    many["result"][0]["value"]["choices"] = ["full", "none"]
    assert "has 2 labels" in refused(export(tmp_path, [{"data": data, "annotations": [many]}]))
    other = annotation("full")
    other["result"] = [{**other["result"][0], "from_name": name} for name in ("a", "b")]
    assert "several choices (a, b); name one 'label'" in refused(
        export(tmp_path, [{"data": data, "annotations": [other]}])
    )
    assert "task 1 names no 'cell_id'" in refused(export(tmp_path, [{"data": {}}]))
    assert "task 1 has no 'annotations'" in refused(export(tmp_path, [{"data": data}]))
    assert "no list of Label Studio tasks" in refused(export(tmp_path, {"a": 1}))
    assert "task 1 is no object" in refused(export(tmp_path, [1]))


def test_ids_that_are_numbers(tmp_path: Path) -> None:
    """As a script may have made them; a file of cells has them as text."""
    path = export(tmp_path, [{"data": {"cell_id": 17}, "annotations": [annotation("full")]}])
    assert read_label_sets(path, Frame((cell(17, id="17"),))) == [LabelSet("3", {"17": "full"})]
