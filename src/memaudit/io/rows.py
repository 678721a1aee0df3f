"""One row of a table, checked: what is wrong with it in plain English."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from memaudit.core.errors import Problem
from memaudit.io.strict_json import Row, floats, kind_of

Model = TypeVar("Model", bound=BaseModel)

EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number of sensible size",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "tuple_type": "a list",
    "list_type": "a list",
    "invalid-json-value": "a JSON value",
}
"""What a field should hold, by the validation error that says it does not."""


def row_id(data: Mapping[str, Any]) -> str:
    """How messages name a row: its id, or the cell of the coverage matrix."""
    if isinstance(data.get("id"), str):
        return str(data["id"])
    if "candidate" in data and "unit" in data:
        return f"{data['candidate']} x {data['unit']}"
    return ""


def parse_row(model: type[Model], data: Mapping[str, Any]) -> Model:
    """The row as its model; free-form attributes hold plain floats."""
    attributes = {"attributes": floats(data["attributes"])} if "attributes" in data else {}
    return model.model_validate({**data, **attributes})


def row_problems(
    error: ValidationError, model: type[BaseModel], row: Row, spelling: Mapping[str, str]
) -> Iterator[Problem]:
    """One problem for every field that is wrong; `spelling` is how the file names our fields."""
    for detail in error.errors(include_url=False):
        field = _field(detail, spelling)
        message, fix = _say(detail, field)
        if detail["type"] == "extra_forbidden" and len(detail["loc"]) == 1:
            fix = f"known fields: {', '.join(model.model_fields)}"
        yield Problem(message, fix, row_id(row.data), file=row.file, line=row.line)


def without_extras(error: ValidationError, data: Mapping[str, Any]) -> dict[str, Any] | None:
    """The row without its unknown fields, if nothing else is wrong with it."""
    details = error.errors(include_url=False)
    extras = {detail["loc"][0] for detail in details if detail["type"] == "extra_forbidden"}
    if any(len(detail["loc"]) > 1 or detail["loc"][0] not in extras for detail in details):
        return None
    return {name: value for name, value in data.items() if name not in extras}


def _field(detail: ErrorDetails, spelling: Mapping[str, str]) -> str:
    """A dotted path to the field, without the steps validation adds itself."""
    shapes = {"capped", "piecewise", "sqrt", "log1p", "saturating"}
    steps = [str(step) for step in detail["loc"] if step not in shapes]
    return ".".join([spelling.get(step, step) for step in steps[:1]] + steps[1:])


def _say(detail: ErrorDetails, field: str) -> tuple[str, str]:
    """What is wrong with the field, and what to do."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return f"lacks the field {field!r}", ""
    if kind == "extra_forbidden":
        return f"has the unknown field {field!r}", ""
    if kind in EXPECTED:
        found = kind_of(detail["input"])
        return f"has {found} in the field {field!r}", f"{EXPECTED[kind]} was expected"
    if kind in ("string_too_short", "too_short"):
        return f"has an empty field {field!r}", ""
    if kind == "greater_than_equal":
        return f"has a field {field!r} below {context['ge']}", ""
    if kind.startswith("union_tag"):
        shapes = "capped, piecewise, sqrt, log1p, saturating"
        return f"has an unknown shape in the field {field!r}", f"known shapes: {shapes}"
    if kind == "value_error":
        return f"has a bad field {field!r}: {context['error']}", ""
    return f"has a bad field {field!r}", ""
