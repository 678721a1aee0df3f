"""Small stores and packages for the tests of lint."""

from typing import Any

from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin
from memaudit.kernel.package.package import Package


def memory(id: str, text: str, **changes: Any) -> Memory:
    return Memory(id=id, text=text, **changes)


def store(
    *memories: Memory, format: str = "mem0", name: str = "s", **changes: Any
) -> ExportedStore:
    return ExportedStore(
        name=name, origin=Origin(system=format, format=format), memories=memories, **changes
    )


def texts(*said: str) -> ExportedStore:
    """Memories m1, m2, ... in the order they were written."""
    return store(*(memory(f"m{number}", text) for number, text in enumerate(said, start=1)))


def package(
    *units: tuple[str, str, str],
    turns: tuple[str, ...] = (),
    weight: int | None = None,
    **changes: Any,
) -> Package:
    """Units as (id, kind, text), of one weight besides what questions give them."""
    return Package.model_validate(
        {
            "name": "p",
            "cost_rule": "words",
            "experiences": [
                {"id": f"t{number}", "index": number, "text": text, "speaker": "Ann"}
                for number, text in enumerate(turns, start=1)
            ],
            "candidates": [],
            "units": [
                {"id": id, "kind": kind, "text": text, "weight": weight} for id, kind, text in units
            ],
            "equal_texts_once": True,
            **changes,
        }
    )
