"""The documents and the manifest of a finished reproduction: what was made, and every hash."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from importlib.resources import files
from pathlib import Path, PurePosixPath
from string import Template
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

from memaudit.building.data_card import croissant, table
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import read_bytes
from memaudit.kernel.io.strict_json import first_fault
from memaudit.kernel.number_text import ratio
from memaudit.kernel.stats.bootstrap import RESAMPLES
from memaudit.lab.reproduce.folder import (
    CARD,
    CROISSANT,
    FORMAT,
    LICENCES,
    MANIFEST,
    NATURAL,
    PACKAGES,
    PROGRESS,
    SCOREBOARD,
    SCOREBOARD_PAGE,
    TABLES,
    VERSION,
    Settings,
    data_hashes,
    prompt_hashes,
    text_sha256,
    versions,
)
from memaudit.lab.reproduce.own_set import BLIND_PASSES, LABEL_BUDGETS
from memaudit.lab.reproduce.results import Results
from memaudit.lab.reproduce.scoreboard import (
    AGREE,
    DIFFER,
    NEEDS_ARCHIVE,
    NOT_AS_PRINTED,
    Scoreboard,
)
from memaudit.lab.reproduce.tables import SCALE, page, tables
from memaudit.workspace.run_folder import make_own_folder

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
    agreement = results.agreement
    return {
        "sweep": results.runs["sweep"]["spec"]["seeds"],
        "stress": results.runs["stress"]["spec"]["seeds"],
        "writers": "the first 6 bytes of SHA-256 of '<seed> <package digest>'",
        "bootstrap": {"seed": 0, "resamples": RESAMPLES},
        "agreement": {"seed": agreement["seed"], "resamples": agreement["draws"]},
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
    # A folder may come from anybody: no name in it may lead out of it.
    for name in manifest.files:
        inner = PurePosixPath(name)
        if not inner.parts or inner.is_absolute() or ".." in inner.parts:
            raise MemAuditError(f"{path} names a file outside its folder: {name[:80]!r}")
    try:
        _ = manifest.settings
    except MemAuditError as error:
        raise MemAuditError(f"{path} has impossible settings: {error}") from None
    return manifest


def documents(
    results: Results, hashes: Mapping[str, str], date: str, version: str
) -> dict[str, str]:
    """Texts by path; `hashes` are those of the parts' files, `version` is the program's."""
    texts = {
        PACKAGES: "".join(results.index.lines()),
        SCOREBOARD: results.scoreboard.text(),
        SCOREBOARD_PAGE: scoreboard_page(results.scoreboard, results.settings.remark),
        CARD: card(results, version),
        LICENCES: files(__package__).joinpath("licences.md").read_text("utf-8"),
        **{f"{TABLES}/{name}": text for name, text in tables(results).items()},
    }
    # Croissant lists the other documents with their hashes, so it is made after them.
    own = {name: text_sha256(text) for name, text in texts.items()}
    return {**texts, CROISSANT: croissant({**hashes, **own}, date, version)}


def write_documents(folder: Path, texts: Mapping[str, str]) -> None:
    """Write them all; tables of an earlier program are removed."""
    make_own_folder(folder / TABLES)
    # A table that this program does not write would have no hash in the manifest.
    for path in sorted((folder / TABLES).iterdir()):
        if f"{TABLES}/{path.name}" not in texts:
            path.unlink()
    for name, text in texts.items():
        write_file(folder / name, text)


def card(results: Results, version: str) -> str:
    """The card: what the results are for, what they are not for, and what they rest on."""
    text = files(__package__).joinpath("card.md").read_text("utf-8")
    counts = results.scoreboard.counts
    runs = [row for summary in results.summaries.values() for row in summary["rows"]]
    return Template(text).substitute(
        options=results.settings.options,
        version=version,
        **_denominators(results),
        zero=sum(row["zero_optimum"] for row in [*runs, *results.natural["rows"]]),
        package_rows="\n".join(_package_rows(results)),
        **_labels(results),
        agree=counts[AGREE],
        differ=counts[DIFFER],
        needs=counts[NEEDS_ARCHIVE],
        not_as_printed=counts[NOT_AS_PRINTED],
        scoreboard=SCOREBOARD_PAGE,
        licences=LICENCES,
    )


def _denominators(results: Results) -> dict[str, object]:
    natural = {
        digest for (name, _), (_, digest) in results.index.packages.items() if name == NATURAL
    }
    variants = results.sensitivity["budgets"].values()
    runs = [summary["rows"] for summary in results.summaries.values()]
    return {
        "optima": sum(_over_cells(rows, "distinct_packages") for rows in runs),
        "uncertified": sum(_over_cells(rows, "uncertified") for rows in runs),
        "natural_optima": len(natural) * len(results.natural["spec"]["budgets"]),
        "natural_uncertified": _over_cells(results.natural["rows"], "uncertified"),
        "variant_optima": 3 * sum(means["packages"] for means in variants),
        "variant_uncertified": results.sensitivity["uncertified"],
    }


def _over_cells(rows: Iterable[Mapping[str, Any]], count: str) -> int:
    """A count of optima over distributions and budgets; it is the same for every writer."""
    cells = {(row["distribution"], row["budget"]): row[count] for row in rows}
    return sum(cells.values())


def _package_rows(results: Results) -> list[str]:
    counts: Counter[str] = Counter()
    digests: dict[str, set[str]] = {}
    for (name, _), (_, digest) in results.index.packages.items():
        counts[name] += 1
        digests.setdefault(name, set()).add(digest)
    origin = {NATURAL: "the project's own conversations and labels"}
    return [
        f"| {name} | {count} | {len(digests[name])} | {origin.get(name, 'generator, by seed')} |"
        for name, count in sorted(counts.items())
    ]


def _labels(results: Results) -> dict[str, object]:
    (blind,) = (
        pair["scales"][SCALE]
        for pair in results.agreement["pairs"]
        if {pair["first"]["name"], pair["second"]["name"]}
        == {f"pass:{name}" for name in BLIND_PASSES}
    )
    overall = [label_set["shifts"][-1] for label_set in results.ratios["label_sets"]]
    preserved = all(shift["ranking"]["preserved"] for shift in overall)
    return {
        "conversations": results.reliability["packages"],
        "queries": results.reliability["queries"],
        "units": results.reliability["units"],
        "cells": blind["cells"],
        "kappa": ratio(blind["as_drawn"]["kappa"]["value"]),
        "raw": ratio(blind["as_drawn"]["raw_agreement"]["value"]),
        "mad": " and ".join(ratio(shift["ratio_mad"]["mean"]) for shift in overall[:2]),
        "writers": len(results.ratios["stores"]),
        "ranking": "preserved" if preserved else "not preserved in full",
    }


def scoreboard_page(board: Scoreboard, remark: str = "") -> str:
    """The scoreboard for people, with a remark on the settings where there is one."""
    settings = ", ".join(f"{number} {name}" for name, number in board.settings.items())
    lines = [
        (
            line.where,
            line.what,
            line.published,
            line.ours,
            f"{line.verdict}: {line.why}" if line.why else line.verdict,
        )
        for line in board.lines
    ]
    figures = [
        (
            figure.where,
            figure.what,
            ", ".join(f"`{name}.*`" for name in figure.files) or f"needs {figure.needs}",
        )
        for figure in board.figures
    ]
    beside = [(where, f"[{path}]({path})") for where, path in board.own_set.items()]
    return page(
        "Published numbers beside ours",
        f"{board.headline}; {settings}. {f'This was {remark}. ' if remark else ''}A number agrees "
        "if ours rounds to what the paper prints; counts and zeros must be equal. What needs "
        "the published archive rests on its packages, labels or exported stores; with it, "
        "`memaudit reproduce all --archive DIR` computes what its files allow. What cannot be "
        "reproduced as printed says why.",
        table(("paper", "number", "published", "ours", "verdict"), lines),
        "## Figures\n",
        table(("paper", "figure", "ours"), figures),
        "## The same measures on the project's own natural set\n",
        "Other packages than the paper's, so they confirm and contradict nothing above.\n",
        table(("beside", "table"), beside),
    )
