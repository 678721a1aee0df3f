"""Types and defaults as short text."""

import inspect
import types
from typing import Any, Literal, Union, get_args, get_origin


def type_text(kind: Any) -> str:
    """A type by its short names, alternatives joined by `|`."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Union or origin is types.UnionType:
        return " | ".join(type_text(one) for one in inner)
    if origin is Literal:
        return " | ".join(repr(one) for one in inner)
    if origin is not None and inner:
        names = ", ".join("..." if one is ... else type_text(one) for one in inner)
        return f"{_name(origin)}[{names}]"
    if kind is type(None):
        return "None"
    return _name(kind)


def _name(kind: Any) -> str:
    if isinstance(kind, list):  # the parameters of a Callable
        return f"[{', '.join(type_text(one) for one in kind)}]"
    return str(getattr(kind, "__name__", kind)).rpartition(".")[2]


def signature_text(function: Any, hints: dict[str, Any]) -> str:
    """Parameters with types and defaults, one per line if there are many."""
    found = inspect.signature(function)
    parts = []
    for name, parameter in found.parameters.items():
        text = str(parameter).partition(":")[0].partition("=")[0].strip()  # with its stars
        if name in hints:
            text += f": {type_text(hints[name])}"
        if parameter.default is not parameter.empty:
            text += f" = {parameter.default!r}"
        if name not in ("self", "cls"):
            parts.append(text)
    returned = f" -> {type_text(hints['return'])}" if "return" in hints else ""
    line = f"({', '.join(parts)}){returned}"
    if len(line) < 80:
        return line
    return "(\n" + "".join(f"    {part},\n" for part in parts) + f"){returned}"
