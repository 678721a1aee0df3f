"""The Python reference: signatures and docstrings of what `memaudit` exports."""

import dataclasses
import inspect
from collections.abc import Iterator
from typing import Any, get_type_hints

from pydantic import BaseModel

import memaudit
from docs.generator.types import signature_text, type_text

HEAD = """# Python

The names that `import memaudit` provides, with their signatures and docstrings. Everything else can
be imported from its module, but may change without notice. This page is generated from the code
when the site is built.

"""
REQUIRED = "required"


def names() -> list[str]:
    """Every exported name except the version, functions first."""
    found = [name for name in memaudit.__all__ if not name.startswith("_")]
    return sorted(found, key=lambda name: (inspect.isclass(getattr(memaudit, name)), name))


def python_page() -> str:
    """The page in Markdown."""
    return HEAD + "\n".join(_section(name, getattr(memaudit, name)) for name in names())


def _section(name: str, thing: Any) -> str:
    lines = [f"## `{name}`", "", f"In `{thing.__module__}`.", ""]
    if inspect.isclass(thing):
        return "\n".join([*lines, _doc(thing), "", *_table(thing), *_methods(thing)])
    call = f"{name}{signature_text(thing, get_type_hints(thing))}"
    return "\n".join([*lines, "```python", call, "```", "", _doc(thing), ""])


def _doc(thing: Any) -> str:
    text = inspect.getdoc(thing)
    if not text:
        raise RuntimeError(f"{thing!r} is public and has no docstring")
    return text.replace("<", "&lt;")


def _table(thing: Any) -> list[str]:
    """The fields of a model or dataclass."""
    hints = get_type_hints(thing)
    rows = []
    for name, default, meaning in _fields(thing):
        kind = type_text(hints[name]).replace("|", "\\|")
        shown = REQUIRED if default == REQUIRED else f"`{default}`"
        rows.append(f"| `{name}` | `{kind}` | {shown} | {meaning} |")
    return ["| field | type | default | meaning |", "|---|---|---|---|", *rows, ""] if rows else []


def _fields(thing: Any) -> Iterator[tuple[str, str, str]]:
    """Name, default and meaning of each field."""
    if issubclass(thing, BaseModel):
        for name, field in thing.model_fields.items():
            default = field.get_default(call_default_factory=True)
            yield name, REQUIRED if field.is_required() else repr(default), field.description or ""
    elif dataclasses.is_dataclass(thing):
        for one in dataclasses.fields(thing):
            if one.default is not dataclasses.MISSING:
                yield one.name, repr(one.default), ""
            elif one.default_factory is not dataclasses.MISSING:
                yield one.name, repr(one.default_factory()), ""
            else:
                yield one.name, REQUIRED, ""


def _methods(thing: Any) -> list[str]:
    """Public methods and properties that the class itself defines and documents."""
    lines = []
    for name, member in vars(thing).items():
        if name.startswith("_"):
            continue
        called = inspect.isfunction(member) or isinstance(member, classmethod | staticmethod)
        target = getattr(member, "__func__", member)
        target = getattr(target, "fget", None) or getattr(target, "func", None) or target
        if not inspect.isfunction(target) or not target.__doc__:
            continue
        call = name + (
            " ".join(signature_text(target, get_type_hints(target)).split()) if called else ""
        )
        lines.append(f"- **`{call}`**: {' '.join(_doc(target).split())}")
    return [*lines, ""] if lines else []
