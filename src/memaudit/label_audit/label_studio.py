"""Label Studio: tasks and the labelling setup out, tasks and exports in.

An export is read in both of its JSON forms: the full one, where labels stand under
`annotations[].result[].value.choices`, and JSON-MIN, where they stand beside the task's data.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.io.files import read_text
from memaudit.io.strict_json import parse_json
from memaudit.label_audit.cell_tables import ANNOTATOR, CELL_ID, LABEL, NOTES, cell_data
from memaudit.label_audit.cells import FrameCell, Said, label_of
from memaudit.natural.label_files import LabelRow

CONFIG = """\
<View>
  <Header value="Memory"/>
  <Text name="memory" value="$candidate_text"/>
  <Header value="Evidence unit"/>
  <Text name="unit" value="$unit_text"/>
  <Header value="Quoted from the conversation"/>
  <Text name="quoted" value="$quote"/>
  <Choices name="label" toName="memory" choice="single" showInline="true" required="true">
    <Choice value="full" hotkey="1"/>
    <Choice value="partial" hotkey="2"/>
    <Choice value="none" hotkey="3"/>
    <Choice value="cannot_tell" hotkey="4"/>
  </Choices>
  <TextArea name="notes" toName="memory" rows="2" maxSubmissions="1" required="false"/>
</View>
"""
"""The labelling setup that the tasks are made for: how much of the unit does the memory keep?"""


def tasks_text(cells: Iterable[FrameCell]) -> str:
    """Cells as tasks to import."""
    tasks = [{"data": cell_data(cell)} for cell in cells]
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def task_rows(path: Path) -> list[LabelRow]:
    """The data of tasks, as rows of cells; places count tasks."""
    rows = []
    for number, task in _tasks(path):
        data = task.get("data")
        if not isinstance(data, dict):
            raise MemAuditError(f"{path.name}: task {number} has no data")
        rows.append(LabelRow(data, f"{path.name}: task", number))
    return rows


def export_decisions(path: Path) -> Iterator[Said]:
    """The decisions of an export, in either form."""
    for number, task in _tasks(path):
        data = task.get("data")
        holder = data if isinstance(data, dict) else task
        place = f"{path.name}: task {number}"
        id = LabelRow(holder, f"{path.name}: task", number).optional(CELL_ID[0])
        if id is None:
            raise MemAuditError(f"{place} names no {CELL_ID[0]!r} in its data")
        annotations = task.get("annotations")
        if isinstance(annotations, list):
            for one in annotations:
                if isinstance(one, dict) and not one.get("was_cancelled"):
                    yield _annotated(one, id, path.stem, place)
        elif data is None:
            yield _minimal(task, id, path.stem, place)
        else:
            raise MemAuditError(f"{place} has no 'annotations'; export them as JSON or JSON-MIN")


def _tasks(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    tasks = parse_json(read_text(path), path.name)
    if not isinstance(tasks, list) or not tasks:
        raise MemAuditError(f"{path.name}: is no list of Label Studio tasks")
    for number, task in enumerate(tasks, start=1):
        if not isinstance(task, dict):
            raise MemAuditError(f"{path.name}: task {number} is no object")
        yield number, task


def _annotated(one: Mapping[str, object], cell: str, unnamed: str, place: str) -> Said:
    """An annotation of the full form."""
    choices: dict[str, object] = {}
    note = ""
    results = one.get("result")
    for result in results if isinstance(results, list) else ():
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, dict):
            continue
        name = str(result.get("from_name", ""))
        if "choices" in value:
            choices[name] = value["choices"]
        elif name in NOTES:
            note = _words(value.get("text"))
    if LABEL[0] in choices:
        choices = {LABEL[0]: choices[LABEL[0]]}
    if len(choices) > 1:
        raise MemAuditError(
            f"{place} has several choices ({', '.join(sorted(choices))}); name one {LABEL[0]!r}"
        )
    who = _person(one.get("completed_by")) or unnamed
    return _said(who, cell, next(iter(choices.values()), None), note, place)


def _minimal(task: Mapping[str, object], cell: str, unnamed: str, place: str) -> Said:
    """A task of the JSON-MIN form."""
    who = next((_person(task[name]) for name in ANNOTATOR if name in task), "") or unnamed
    note = next((_words(task[name]) for name in NOTES if name in task), "")
    return _said(who, cell, task.get(LABEL[0]), note, place)


def _said(who: str, cell: str, choice: object, note: str, place: str) -> Said:
    """A decision; a choice is a word, or a list with one."""
    if isinstance(choice, dict):
        choice = choice.get("choices")
    if isinstance(choice, list):
        if len(choice) > 1:
            raise MemAuditError(f"{place} has {len(choice)} labels for the cell {cell!r}")
        choice = choice[0] if choice else None
    try:
        return Said(who, cell, label_of(choice), note, place)
    except ValueError as error:
        raise MemAuditError(f"{place}: {error} for the cell {cell!r}") from None


def _person(value: object) -> str:
    """An annotator: the address where the export has it, else the number."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return str(value) if isinstance(value, str | int | Decimal) else ""


def _words(value: object) -> str:
    """The text of a note, which may come as a list of lines."""
    if isinstance(value, dict):
        value = value.get("text")
    if isinstance(value, list):
        return "\n".join(str(one) for one in value)
    return value if isinstance(value, str) else ""
