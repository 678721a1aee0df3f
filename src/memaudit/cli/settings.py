"""Settings: a file, the environment and `--set`, read into one typed group for each section."""

import math
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from memaudit.cli.assignments import SET, taken
from memaudit.kernel.errors import MemAuditError
from memaudit.models.defaults import BASE_URL, CONCURRENCY, PROVIDERS, RETRIES, TIMEOUT

FILE = "memaudit.toml"
PREFIX = "MEMAUDIT_"


@dataclass(frozen=True, slots=True)
class Rule:
    """What a key means, and which values it takes."""

    meaning: str
    least: int | None = None
    above_zero: bool = False
    choices: tuple[str, ...] = ()
    by_commas: bool = False
    """The path may be several, separated by commas."""


ENGINES = ("processes", "serial", "dask")
TIMES = ("shown", "none", "all")


@dataclass(frozen=True, slots=True)
class ModelKeys:
    """[model]: how commands call a model."""

    base_url: Annotated[
        str,
        Rule("Base URL of an OpenAI-compatible server."),
    ] = BASE_URL
    provider: Annotated[
        str,
        Rule("Who answers: live or offline (cached replies only).", choices=PROVIDERS),
    ] = "live"
    cache: Annotated[Path, Rule("The cache file of replies.")] = Path("memaudit-cache.sqlite")
    price_in: Annotated[
        Fraction | None,
        Rule("Dollars per million input tokens, for the cost estimate.", least=0),
    ] = None
    price_out: Annotated[Fraction | None, Rule("Dollars per million output tokens.", least=0)] = (
        None
    )
    max_tokens: Annotated[
        int | None, Rule("Stop after this many tokens. Default: no limit.", least=1)
    ] = None
    max_cost: Annotated[
        Fraction | None, Rule("Stop at this total cost in dollars. Default: no limit.", least=0)
    ] = None
    concurrency: Annotated[int, Rule("Requests sent in parallel.", least=1)] = CONCURRENCY
    timeout: Annotated[float, Rule("Seconds to wait for a reply.", above_zero=True)] = TIMEOUT
    retries: Annotated[int, Rule("Retries of a failed request.", least=0)] = RETRIES
    yes: Annotated[bool, Rule("Do not ask for confirmation before spending.")] = False


@dataclass(frozen=True, slots=True)
class EngineKeys:
    """[engine]: where packages are computed."""

    name: Annotated[
        str | None,
        Rule(
            "processes, serial or dask. Default: processes, or serial if there are few packages.",
            choices=ENGINES,
        ),
    ] = None
    jobs: Annotated[int | None, Rule("Number of processes. Default: one per core.", least=1)] = None
    address: Annotated[
        str | None, Rule("Address of a running Dask cluster. Default: a local one.")
    ] = None
    journal: Annotated[
        Path | None,
        Rule("Keep finished results in this file; the same command run again resumes."),
    ] = None


@dataclass(frozen=True, slots=True)
class SolverKeys:
    """[solver]: how long and how wide a solve is."""

    seconds: Annotated[
        float | None,
        Rule("Stop each solve after this many seconds. Default: no limit.", above_zero=True),
    ] = None
    threads: Annotated[
        int | None,
        Rule("Threads; the result is the same. Default: all cores, up to 8.", least=1),
    ] = None


@dataclass(frozen=True, slots=True)
class ScoreKeys:
    """[score]: choices behind a score that rarely change."""

    group_cap: Annotated[
        int | None,
        Rule("Candidates a store may keep per experience. Default: the package's.", least=1),
    ] = None
    draws: Annotated[
        int | None,
        Rule(
            "Draws behind an interval, of labels or conversations. Default: the command's own.",
            least=0,
        ),
    ] = None
    times: Annotated[
        str | None,
        Rule(
            "Times in the texts of memories: shown (those that the system's reader is shown), "
            "none or all. Default: as imported.",
            choices=TIMES,
        ),
    ] = None
    trust_package_cells: Annotated[
        bool, Rule("Keep the package's assumed cells. Default: the judge judges them too.")
    ] = False


@dataclass(frozen=True, slots=True)
class JudgeKeys:
    """[judge]: what a judge reads besides its name."""

    memories: Annotated[
        Path | None,
        Rule(
            "labels:FILE only: the memories that the labels refer to, one file for each, "
            "separated by commas.",
            by_commas=True,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Every value in force, and where those that were given come from."""

    model: ModelKeys = field(default_factory=ModelKeys)
    engine: EngineKeys = field(default_factory=EngineKeys)
    solver: SolverKeys = field(default_factory=SolverKeys)
    score: ScoreKeys = field(default_factory=ScoreKeys)
    judge: JudgeKeys = field(default_factory=JudgeKeys)
    origins: Mapping[str, str] = field(default_factory=dict)
    """`section.key` to a file, a variable or --set."""

    def rows(self) -> Iterator[tuple[str, Any, str]]:
        """Each key, its value, and where it comes from, in the order of the table."""
        for name, key in keys().items():
            value = getattr(getattr(self, key.section), key.name)
            yield name, value, self.origins.get(name, "default")


SECTIONS: dict[str, Any] = {
    entry.name: entry.default_factory for entry in fields(Settings) if entry.name != "origins"
}
"""By name: the class of its values."""


@dataclass(frozen=True, slots=True)
class Key:
    """One row of the table of settings."""

    section: str
    name: str
    kind: type
    default: Any
    rule: Rule

    @property
    def variable(self) -> str:
        return f"{PREFIX}{self.section}_{self.name}".upper()


@cache
def keys() -> dict[str, Key]:
    """The table, by `section.key`."""
    table = {}
    for section, group in SECTIONS.items():
        hints = get_type_hints(group, include_extras=True)
        for entry in fields(group):
            hint, rule = get_args(hints[entry.name])
            kinds = get_args(hint) if get_origin(hint) is UnionType else (hint,)
            (kind,) = (kind for kind in kinds if kind is not NoneType)
            assert entry.default is not MISSING
            key = Key(section, entry.name, kind, entry.default, rule)
            table[f"{section}.{entry.name}"] = key
    return table


def check_assignments() -> None:
    """Refuse a mistake in a `--set` option, whether the command reads that setting or not."""
    for text in taken:
        _assigned(text)


def in_force() -> Settings:
    """The settings of this command, in this folder."""
    return read_settings(Path.cwd(), os.environ, taken)


def read_settings(
    folder: Path, environment: Mapping[str, str], assignments: Sequence[str]
) -> Settings:
    """File, then environment, then `--set`; a later one replaces an earlier one."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    given = (
        *_from_file(folder),
        *_from_environment(environment),
        *(_assigned(text) for text in assignments),
    )
    for name, value, origin in given:
        values[name], origins[name] = value, origin
    groups = {
        section: group(
            **{name.partition(".")[2]: values[name] for name in values if _of(name, section)}
        )
        for section, group in SECTIONS.items()
    }
    return Settings(**groups, origins=origins)


def _of(name: str, section: str) -> bool:
    return name.partition(".")[0] == section


Given = tuple[str, Any, str]
"""`section.key`, the value, and where it comes from."""


def settings_file(folder: Path) -> Path | None:
    """The file of this folder, or of the nearest parent that has one."""
    places = (place / FILE for place in (folder, *folder.parents))
    return next((path for path in places if path.is_file()), None)


def _from_file(folder: Path) -> Iterator[Given]:
    path = settings_file(folder)
    if path is None:
        return
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MemAuditError(f"{path}: not TOML: {error}") from None
    for section, table in tables.items():
        if section not in SECTIONS or not isinstance(table, dict):
            _refuse_secret(section, table, str(path))
            expected = ", ".join(f"[{name}]" for name in SECTIONS)
            raise MemAuditError(f"{path}: unknown section {section!r}; sections are {expected}")
        for name, value in table.items():
            yield _read(f"{section}.{name}", value, str(path), path.parent)


def _from_environment(environment: Mapping[str, str]) -> Iterator[Given]:
    for variable, text in sorted(environment.items()):
        for section in SECTIONS:
            # MEMAUDIT_API_KEY is of no section, so the key of a model is never read as a setting.
            start = f"{PREFIX}{section}_".upper()
            if variable.startswith(start):
                name = variable.removeprefix(start).lower()
                yield _read(f"{section}.{name}", text, variable)


def _assigned(text: str) -> Given:
    name, equals, value = text.partition("=")
    if not equals:
        raise MemAuditError(f"{SET} {text}: write {SET} section.key=value")
    return _read(name.strip(), value, SET)


_NAMES_A_SECRET = re.compile(r"key|secret|password|token$|credential", re.IGNORECASE)
_LOOKS_LIKE_A_SECRET = re.compile(r"(?i:bearer\s)|\b(?:sk|pk|rk|gsk|xai|hf)[-_][\w-]{6,}")


def _refuse_secret(name: str, value: object, origin: str) -> None:
    """Keys have no place in a file that is committed or a command that is remembered."""
    named = name not in keys() and _NAMES_A_SECRET.search(name) is not None
    if named or (isinstance(value, str) and _LOOKS_LIKE_A_SECRET.search(value)):
        raise MemAuditError(
            f"{origin}: {name} holds a secret, and secrets are not settings; put the key of a "
            f"model in the environment, as {PREFIX}API_KEY, and remove it here"
        )


def _read(name: str, value: Any, origin: str, folder: Path | None = None) -> Given:
    """The checked value; paths in a file are relative to the file. Nothing means the default."""
    # First of all: no other message may quote a secret.
    _refuse_secret(name, value, origin)
    key = keys().get(name)
    if key is None:
        raise MemAuditError(f"{origin}: unknown setting {name}; the nearest is {_nearest(name)}")
    if value == "":
        return name, key.default, origin
    try:
        checked = _typed(key, value)
    except ValueError as error:
        shown = str(value).lower() if isinstance(value, bool) else value
        raise MemAuditError(f"{origin}: {name} {error}, not {shown}") from None
    if name == "model.base_url":
        from memaudit.models.secret import checked_address

        try:
            checked_address(checked)
        except MemAuditError as error:  # without the address, which may hold a password
            raise MemAuditError(f"{origin}: {name}: {error}") from None
    if key.kind is Path and folder is not None and folder != Path.cwd():
        parts = str(checked).split(",") if key.rule.by_commas else [str(checked)]
        checked = Path(",".join(str(folder / part) for part in parts))
    return name, checked, origin


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    (nearest,) = get_close_matches(name, keys(), n=1, cutoff=0.0)
    return nearest


def _typed(key: Key, value: Any) -> Any:
    """The value as the type of its key; a ValueError says what it must be."""
    kind, rule = key.kind, key.rule
    if kind is bool:
        words = {"true": True, "false": False}
        if not isinstance(value, bool) and str(value) not in words:
            raise ValueError("must be true or false")
        return value if isinstance(value, bool) else words[str(value)]
    if kind in (str, Path):
        if not isinstance(value, str):
            raise ValueError("must be a text")
        if rule.choices and value not in rule.choices:
            raise ValueError(f"must be one of {', '.join(rule.choices)}")
        return kind(value)
    return _number(kind, rule, value)


def _number(kind: type, rule: Rule, value: Any) -> Any:
    from memaudit.kernel.exact import exact

    what = "a whole number" if kind is int else "a number"
    try:
        if isinstance(value, bool):
            raise ValueError
        # Through text: the decimal that was written, not the nearest binary fraction.
        number = exact(str(value)) if kind is Fraction else kind(str(value))
    except (ValueError, ArithmeticError):
        raise ValueError(f"must be {what}") from None
    if not math.isfinite(number):
        raise ValueError(f"must be {what}")
    if rule.least is not None and number < rule.least:
        raise ValueError(f"must be at least {rule.least}")
    if rule.above_zero and number <= 0:
        raise ValueError("must be above 0")
    return number
