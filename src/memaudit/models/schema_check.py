"""Whether a JSON value fits a JSON Schema: the part of the language that pydantic writes.

Answers imported from a file are checked against the schema stored with the request, because the
Python type is not known there. The type itself is validated again when the answer is used.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from memaudit.kernel.errors import MemAuditError

Schema: TypeAlias = dict[str, Any]
_REPEATED = re.compile(r"(?<!\\)[*+]|(?<!\\)\{[0-9]*,[0-9]*\}")
_GROUP_REPEATED = re.compile(r"\)[*+{]")
LONGEST_MATCHED = 10_000
"""Characters of the longest text that is compared with a pattern."""

IGNORED = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "format",
        "discriminator",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$defs",
        "$schema",
        "$id",
    }
)
"""Keywords that do not affect validity."""


def schema_problem(schema_json: str, value: object) -> str:
    """The first problem of a value, or an empty text."""
    schema = json.loads(schema_json)
    try:
        return next(_Check(schema).problems(schema, value, "reply"), "")
    except RecursionError:
        return "reply: nests too deeply"
    except (KeyError, TypeError, AttributeError, OverflowError, re.error) as error:
        raise MemAuditError(
            f"the reply schema is not a JSON Schema: {type(error).__name__} {error}"
        ) from None


def _same(left: object, right: object) -> bool:
    """JSON equality: true is not 1, and 1.0 is 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    return left == right


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _matches(pattern: str, value: str) -> bool:
    """Whether a text matches a pattern; a pattern that could take forever is refused.

    That is any pattern with a second repetition, or with a repeated group.
    """
    # Python's matcher backtracks. One repetition of single characters is at worst quadratic.
    costly = len(_REPEATED.findall(pattern)) > 1 or _GROUP_REPEATED.search(pattern)
    if costly or len(value) > LONGEST_MATCHED:
        raise MemAuditError(
            f"the reply schema uses the pattern {pattern[:40]!r}, too expensive to check"
        )
    return re.search(pattern, value) is not None


TYPES: dict[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": lambda value: _is_number(value) and value == int(value),  # type: ignore[call-overload]
}

_LIMITS: dict[str, tuple[Callable[[Any], bool], Callable[[Any, Any], bool]]] = {
    "minimum": (_is_number, lambda value, limit: value >= limit),
    "maximum": (_is_number, lambda value, limit: value <= limit),
    "exclusiveMinimum": (_is_number, lambda value, limit: value > limit),
    "exclusiveMaximum": (_is_number, lambda value, limit: value < limit),
    "minLength": (TYPES["string"], lambda value, limit: len(value) >= limit),
    "maxLength": (TYPES["string"], lambda value, limit: len(value) <= limit),
    "pattern": (TYPES["string"], lambda value, limit: _matches(limit, value)),
    "minItems": (TYPES["array"], lambda value, limit: len(value) >= limit),
    "maxItems": (TYPES["array"], lambda value, limit: len(value) <= limit),
    "minProperties": (TYPES["object"], lambda value, limit: len(value) >= limit),
    "maxProperties": (TYPES["object"], lambda value, limit: len(value) <= limit),
}
"""For each keyword: which values it applies to, and whether a value satisfies it."""

MOST_STEPS = 200_000
"""Comparisons of schema parts with reply parts: references that fan out would take forever."""

_HANDLED = frozenset(
    {
        "$ref",
        "type",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "prefixItems",
        "uniqueItems",
    }
)


class _Check:
    """Checks a value against a schema; $defs are looked up from the root."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.steps = 0

    def problems(self, schema: Schema | bool, value: Any, place: str) -> Iterator[str]:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise MemAuditError("the reply schema asks for too much work")
        if isinstance(schema, bool):
            if not schema:
                yield f"{place}: is not allowed"
            return
        if unknown := sorted(schema.keys() - IGNORED - _HANDLED - _LIMITS.keys()):
            raise MemAuditError(f"the reply schema uses {unknown[0]!r}, which is not supported")
        if "$ref" in schema:
            yield from self.problems(self._defined(schema["$ref"]), value, place)
        if "type" in schema:
            wanted = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            if not any(TYPES[name](value) for name in wanted):
                yield f"{place}: is not {' or '.join(wanted)}"
                return
        if "enum" in schema and not any(_same(value, option) for option in schema["enum"]):
            yield f"{place}: is not one of {json.dumps(schema['enum'])[:200]}"
        if "const" in schema and not _same(value, schema["const"]):
            yield f"{place}: is not {json.dumps(schema['const'])[:200]}"
        for keyword in sorted(_LIMITS.keys() & schema.keys()):
            applies, satisfied = _LIMITS[keyword]
            if applies(value) and not satisfied(value, schema[keyword]):
                yield f"{place}: breaks {keyword} {schema[keyword]}"
        yield from self._choices(schema, value, place)
        if isinstance(value, dict):
            yield from self._object(schema, value, place)
        if isinstance(value, list):
            yield from self._array(schema, value, place)

    def _defined(self, reference: str) -> Schema:
        schema: Any = self.root
        for part in reference.removeprefix("#/").split("/"):
            schema = schema[part.replace("~1", "/").replace("~0", "~")]
        return schema  # type: ignore[no-any-return]

    def _fits(self, schema: Schema, value: Any) -> bool:
        return next(self.problems(schema, value, ""), None) is None

    def _choices(self, schema: Schema, value: Any, place: str) -> Iterator[str]:
        for part in schema.get("allOf", ()):
            yield from self.problems(part, value, place)
        if "anyOf" in schema and not any(self._fits(option, value) for option in schema["anyOf"]):
            yield f"{place}: fits none of {len(schema['anyOf'])} allowed forms"
        if "oneOf" in schema and sum(self._fits(option, value) for option in schema["oneOf"]) != 1:
            yield f"{place}: does not fit exactly one of {len(schema['oneOf'])} allowed forms"

    def _object(self, schema: Schema, value: dict[str, Any], place: str) -> Iterator[str]:
        properties = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{place}.{name}: is missing"
        for name, item in value.items():
            inner = properties.get(name, schema.get("additionalProperties", True))
            yield from self.problems(inner, item, f"{place}.{name[:60]}")

    def _array(self, schema: Schema, value: list[Any], place: str) -> Iterator[str]:
        first = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            inner = first[index] if index < len(first) else schema.get("items", True)
            yield from self.problems(inner, item, f"{place}[{index}]")
        if schema.get("uniqueItems") and any(
            _same(item, other) for index, item in enumerate(value) for other in value[:index]
        ):
            yield f"{place}: holds an item twice"
