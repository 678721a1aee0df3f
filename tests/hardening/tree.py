"""JSON as a tree that can hold what JSON cannot: keys twice, numbers too large, bytes as they are.

A tree is a dict, list or value as `json` gives it, but objects are `Pairs`, and any part may be a
`Raw`: bytes that are written as they stand.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Way = tuple[int, ...]
"""Places from the root down: the number of the pair or element at each step."""


@dataclass
class Pairs:
    """An object: keys in order, maybe repeated."""

    items: list[tuple[Any, Any]]


@dataclass(frozen=True)
class Raw:
    """Bytes that stand for a value or a key."""

    data: bytes


def parsed(text: str) -> Any:
    """The tree of a JSON text."""
    return json.loads(text, object_pairs_hook=Pairs)


def rendered(tree: Any) -> bytes:
    """The tree as a file would hold it."""
    if isinstance(tree, Raw):
        return tree.data
    if isinstance(tree, Pairs):
        parts = [rendered(key) + b": " + rendered(value) for key, value in tree.items]
        return b"{" + b", ".join(parts) + b"}"
    if isinstance(tree, list):
        return b"[" + b", ".join(map(rendered, tree)) + b"]"
    return json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogatepass")


def ways(tree: Any, above: Way = ()) -> Iterator[Way]:
    """The way to every part."""
    yield above
    for number, part in enumerate(parts_of(tree)):
        yield from ways(part, (*above, number))


def parts_of(tree: Any) -> list[Any]:
    """The values right below."""
    if isinstance(tree, Pairs):
        return [value for _, value in tree.items]
    return tree if isinstance(tree, list) else []


def at(tree: Any, way: Way) -> Any:
    """The part at the end of a way."""
    for step in way:
        tree = parts_of(tree)[step]
    return tree


def with_part(tree: Any, way: Way, new: Any) -> Any:
    """The tree with one part exchanged."""
    if not way:
        return new
    step, rest = way[0], way[1:]
    if isinstance(tree, Pairs):
        items = list(tree.items)
        items[step] = (items[step][0], with_part(items[step][1], rest, new))
        return Pairs(items)
    return [*tree[:step], with_part(tree[step], rest, new), *tree[step + 1 :]]
