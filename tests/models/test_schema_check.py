"""Our reading of JSON Schema against an independent one."""

import json
from enum import Enum
from typing import Annotated, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from memaudit.core.errors import MemAuditError
from memaudit.models.request import schema_of
from memaudit.models.schema_check import schema_problem


class Colour(Enum):
    RED = "red"
    TWO = 2


class Leaf(BaseModel):
    kind: Literal["leaf"]
    size: Annotated[float, Field(gt=0, le=2)]


class Node(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["node"] = "node"
    children: Annotated[list["Node | Leaf"], Field(max_length=2)]
    tags: dict[str, int] = {}
    name: Annotated[str, Field(min_length=1, pattern="^[a-c]")] | None = None
    pair: tuple[int, bool] | None = None
    colour: Colour | None = None
    unique: set[int] = set()


SCHEMA = schema_of(Node)
SCALARS = st.sampled_from(
    [None, True, False, 0, 1, 2, 1.0, 0.5, -1, 3.5, "leaf", "node", "a", "red", ""]
)
KEYS = st.sampled_from(
    ["kind", "children", "tags", "name", "pair", "colour", "unique", "size", "x"]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
NODES = st.fixed_dictionaries(
    {"children": st.lists(st.fixed_dictionaries({"kind": SCALARS, "size": SCALARS}), max_size=3)},
    optional={"tags": VALUES, "name": SCALARS, "pair": st.lists(SCALARS, max_size=3) | SCALARS,
              "colour": SCALARS, "unique": st.lists(SCALARS, max_size=3), "x": SCALARS},
)  # fmt: skip


@given(st.one_of(VALUES, NODES))
def test_agrees_with_jsonschema(value: object) -> None:
    valid = jsonschema.Draft202012Validator(json.loads(SCHEMA)).is_valid(value)
    assert (schema_problem(SCHEMA, value) == "") == valid


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], "reply: is not object"),
        ({}, "reply.children: is missing"),
        ({"children": [], "x": 1}, "reply.x: is not allowed"),
        ({"children": [], "kind": "leaf"}, 'reply.kind: is not "node"'),
        ({"children": [1]}, "reply.children[0]: fits none of 2 allowed forms"),
        ({"children": [], "unique": [1, 1]}, "reply.unique: holds an item twice"),
        ({"children": [{"kind": "leaf", "size": 2}]}, ""),
    ],
)
def test_problems_name_their_place(value: object, problem: str) -> None:
    assert schema_problem(SCHEMA, value) == problem


@pytest.mark.parametrize("schema", [{"not": {}}, {"type": "thing"}, {"$ref": "#/x"}, {"anyOf": 3}])
def test_other_schemas_are_refused(schema: object) -> None:
    with pytest.raises(MemAuditError, match="the reply schema"):
        schema_problem(json.dumps(schema), {})
