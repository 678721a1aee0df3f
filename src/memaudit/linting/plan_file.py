"""A plan for a store, as `memaudit lint --plan` writes it: keep, delete, merge or review."""

from typing import Literal

from memaudit.kernel.io.file_model import ExactText, FileModel

FORMAT: Literal["memaudit-plan"] = "memaudit-plan"
VERSION: Literal[1] = 1

ActionName = Literal["keep", "delete", "merge", "review"]


class Action(FileModel):
    """What to do with one memory, and why. `into` is the memory that stays in its place."""

    action: ActionName
    id: str
    reason: str
    text: str
    into: str | None = None
    document: str | None = None
    lines: tuple[int, int] | None = None
    call: str | None = None
    """What does it in the system's own API."""


class PlanFile(FileModel):
    format: Literal["memaudit-plan"]
    version: Literal[1]
    store: str
    store_format: str
    view: str | None
    digest: str
    """Of the store that was linted, in this view."""
    package: str | None
    basis: str
    """What the plan rests on, in a sentence."""
    cost_before: ExactText
    cost_after: ExactText
    actions: tuple[Action, ...]
