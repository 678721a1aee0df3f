"""The one shape every exported store is read into."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

STORE_FORMAT: Literal["memaudit-store"] = "memaudit-store"
STORE_VERSION: Literal[1] = 1

State = Literal["active", "deleted", "expired", "superseded"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Memory(_Frozen):
    """One memory a system wrote. Only active ones are in the store that is scored."""

    id: str = Field(min_length=1, description="unique within the store")
    text: str
    state: State = "active"
    created_at: str | None = None
    updated_at: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    namespace: str | None = Field(default=None, description="user, agent or block it belongs to")
    example: str | None = Field(default=None, description="package it was written for")
    sources: tuple[str, ...] = Field(default=(), description="experiences or turns it names")
    salience: float | None = Field(default=None, description="the system's own write-time score")
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class Count(_Frozen):
    """What became of the rows of an export."""

    read: int = 0
    kept: int = 0
    inactive: dict[str, int] = Field(default_factory=dict, description="by state")
    skipped: dict[str, int] = Field(default_factory=dict, description="by reason")


class Origin(_Frozen):
    """Where a store comes from."""

    system: str
    format: str
    guessed: bool = False
    view: str | None = Field(default=None, description="which text of a record was taken")
    files: dict[str, str] = Field(default_factory=dict, description="name to SHA-256")
    versions: dict[str, str] = Field(default_factory=dict)
    configuration: dict[str, JsonValue] = Field(default_factory=dict)


class ExportedStore(_Frozen):
    """Memories in the order they were written, with what was left out and why."""

    format: Literal["memaudit-store"] = STORE_FORMAT
    version: Literal[1] = STORE_VERSION
    name: str = Field(min_length=1)
    origin: Origin
    memories: tuple[Memory, ...]
    count: Count = Count()
    warnings: tuple[str, ...] = ()

    @property
    def active(self) -> tuple[Memory, ...]:
        """What a reader of the store would find."""
        return tuple(memory for memory in self.memories if memory.state == "active")
