"""The manifest of a finished reproduction: what was made, from what, by what, and every hash."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

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
from memaudit.reproduce.folder import FORMAT, MANIFEST, PROGRESS, VERSION, text_sha256
from memaudit.reproduce.own_set import BLIND_PASSES, LABEL_BUDGETS
from memaudit.reproduce.results import Results
from memaudit.reproduce.settings import Settings, data_hashes, prompt_hashes, versions
from memaudit.stats.bootstrap import RESAMPLES

DECLARED = ("identity.source", "identity.memaudit", "versions", "times")
"""Fields that may differ between two machines, and the hashes of files that hold them."""


def make_manifest(
    identity: Mapping[str, Any],
    times: Mapping[str, Any],
    parts: Mapping[str, Mapping[str, str]],
    results: Results,
    texts: Mapping[str, str],
) -> dict[str, Any]:
    """As JSON. `parts` are hashes of files, `texts` the documents."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "identity": dict(identity),
        "declared": list(DECLARED),
        "versions": versions(),
        "times": dict(times),
        "command_lines": _command_lines(results.settings),
        "seeds": _seeds(results),
        "scoreboard": results.scoreboard.counts,
        "prompts": prompt_hashes(),
        "data": data_hashes(),
        "parts": {name: dict(files) for name, files in parts.items()},
        "documents": {name: text_sha256(text) for name, text in sorted(texts.items())},
        **results.index.to_json(),
    }


def _seeds(results: Results) -> dict[str, Any]:
    """Every source of randomness. There is no other."""
    agreement, ratios = results.agreement, results.ratios
    return {
        "sweep": results.runs["sweep"]["spec"]["seeds"],
        "stress": results.runs["stress"]["spec"]["seeds"],
        "writers": "the first 6 bytes of SHA-256 of '<seed> <package digest>'",
        "bootstrap": {"seed": 0, "resamples": RESAMPLES},
        "agreement": {"seed": agreement["seed"], "resamples": agreement["draws"]},
        "label_draws": {"seed": ratios["seed"], "draws": ratios["draws"]},
    }


def _command_lines(settings: Settings) -> dict[str, str]:
    """The command for everything, and for each part by itself."""
    labels = " ".join(f"--labels pass:{name}" for name in BLIND_PASSES)
    passes = " ".join(f"pass:{name}" for name in BLIND_PASSES)
    budgets = ",".join(map(str, LABEL_BUDGETS))
    return {
        "all": f"memaudit reproduce all --out DIR {settings.options}",
        "verify": "memaudit reproduce verify DIR",
        "controlled": f"memaudit reproduce controlled --out DIR --seeds {settings.seeds}",
        "solvers": f"memaudit audit solvers --rows {settings.rows}",
        "agreement": f"memaudit audit agreement natural {passes}",
        "ratios": f"memaudit audit ratios natural {labels} --budget {budgets}",
    }


# Reading a manifest that anybody may have written.

Hashes = dict[str, str]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z][0-9A-Za-z.+!_ -]{0,39}\z")]
"""Nothing that could pass for anything else on a screen."""

Seed = Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]{0,8})\z")]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _day(text: str) -> str:
    if date.fromisoformat(text).isoformat() != text:
        raise ValueError("a day is written as 2026-01-31")
    return text


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StatedSettings(_Model):
    seeds: int = Field(strict=True)
    rows: int = Field(strict=True)
    packages: int = Field(strict=True)


class Identity(_Model):
    """What was made, and by which program."""

    settings: StatedSettings
    memaudit: Version
    source: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}\z")]


class Times(_Model):
    """When it was made, and how long each part took."""

    date: Annotated[str, AfterValidator(_day)]
    seconds: dict[str, Seconds]


class Manifest(_Model):
    """A manifest as it is in a folder."""

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
    def part_files(self) -> Hashes:
        """Every file of a part with its hash."""
        return {name: sha256 for part in self.parts.values() for name, sha256 in part.items()}

    @property
    def files(self) -> Hashes:
        """Every file with its hash."""
        return {**self.part_files, **self.documents}

    @property
    def settings(self) -> Settings:
        return Settings(**self.identity.settings.model_dump())


def read_manifest(folder: Path) -> Manifest:
    """The manifest, or one line about why there is none to check."""
    path = folder / MANIFEST
    if not path.is_file():
        started = (folder / PROGRESS).is_file()
        hint = "it is incomplete" if started else "give a folder written by memaudit reproduce all"
        raise MemAuditError(f"{folder} has no {MANIFEST}; {hint}")
    try:
        manifest = Manifest.model_validate_json(read_bytes(path))
    except ValidationError as error:
        raise MemAuditError(f"{path}: {first_fault(error)}") from None
    if (manifest.format, manifest.version) != (FORMAT, VERSION):
        raise MemAuditError(f"{path} is not the manifest of a reproduction, version {VERSION}")
    for name in manifest.files:
        inner = PurePosixPath(name)
        if not inner.parts or inner.is_absolute() or ".." in inner.parts:
            raise MemAuditError(f"{path} names a file outside its folder: {name[:80]!r}")
    try:
        _ = manifest.settings
    except MemAuditError as error:
        raise MemAuditError(f"{path} has impossible settings: {error}") from None
    return manifest
