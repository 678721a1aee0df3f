"""The manifest of a folder as it stands there, read without trusting it."""

from datetime import date
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
)

from memaudit.core.errors import MemAuditError
from memaudit.io.files import read_bytes
from memaudit.io.strict_json import first_fault
from memaudit.reproduce.folder import FORMAT, MANIFEST, PROGRESS, VERSION
from memaudit.reproduce.settings import Settings

Hashes = dict[str, str]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z][0-9A-Za-z.+!_ -]{0,39}\z")]
"""A number, or a name with a number: nothing that could pass for anything else on a screen."""

Seed = Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]{0,8})\z")]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _day(text: str) -> str:
    if date.fromisoformat(text).isoformat() != text:
        raise ValueError("a day is written as 2026-01-31")
    return text


class StatedSettings(BaseModel):
    """What was asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    seeds: int
    rows: int
    packages: int


class Identity(BaseModel):
    """What was made, and by which program."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    settings: StatedSettings
    memaudit: Version
    source: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}\z")]


class Times(BaseModel):
    """When it was made, and how long each part took."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    date: Annotated[str, AfterValidator(_day)]
    seconds: dict[str, Seconds]


class Stated(BaseModel):
    """Every field of a manifest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: str
    version: int
    identity: Identity
    declared: list[str]
    versions: dict[str, Version]
    times: Times
    command_lines: dict[str, str]
    seeds: dict[str, JsonValue]
    scoreboard: dict[str, int]
    prompts: Hashes
    data: Hashes
    parts: dict[str, Hashes]
    documents: Hashes
    packages: dict[str, dict[Seed, str]]
    certificates: dict[str, dict[str, str | None]]

    @property
    def files(self) -> Hashes:
        """Every file with its hash."""
        return {
            **{name: sha256 for part in self.parts.values() for name, sha256 in part.items()},
            **self.documents,
        }

    @property
    def settings(self) -> Settings:
        """What was asked for, checked."""
        return Settings(**self.identity.settings.model_dump())

    @property
    def told(self) -> str:
        """What only the manifest says."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        seconds = ", ".join(f"{part} {took:g} s" for part, took in self.times.seconds.items())
        return f"stated, not checked: made on {self.times.date} with {versions}; took {seconds}"


def read_stated(folder: Path) -> Stated:
    """The manifest, or one line about why there is none to check."""
    path = folder / MANIFEST
    if not path.is_file():
        begun = (folder / PROGRESS).is_file()
        hint = "it is not finished" if begun else "give the folder memaudit reproduce all wrote"
        raise MemAuditError(f"{folder} has no {MANIFEST}; {hint}")
    try:
        stated = Stated.model_validate_json(read_bytes(path))
    except ValidationError as error:
        raise MemAuditError(f"{path}: {first_fault(error)}") from None
    if (stated.format, stated.version) != (FORMAT, VERSION):
        raise MemAuditError(f"{path} is not the manifest of a reproduction, version {VERSION}")
    for name in stated.files:
        if not is_inside(name):
            raise MemAuditError(f"{path} names a file outside its folder: {name[:80]!r}")
    try:
        _ = stated.settings
    except MemAuditError as error:
        raise MemAuditError(f"{path} has impossible settings: {error}") from None
    return stated


def is_inside(name: str) -> bool:
    """Whether a path from the manifest stays in its folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts
