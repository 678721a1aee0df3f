"""A package as read from disk, and what is wrong with it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails

from memaudit.kernel.errors import Problem
from memaudit.kernel.exact import common_denominator, exact, plain
from memaudit.kernel.io.strict_json import JsonRow, fault_message, floats
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import TABLES, Package, checked_package
from memaudit.kernel.package.package_problems import find_problems
from memaudit.kernel.package.response import SHAPES
from memaudit.kernel.package.unit_parts import core_problems

FORMAT = "memaudit-package"
VERSION = 1
WEIGHT_ON_DISK = "query_weight"
"""Unit rows on disk also carry the weight the queries give, next to an explicit one."""

HEADER = ("name", "group_cap", "cost_rule", "budgets", "equal_texts_once", "attributes")


@dataclass(slots=True)
class PackageDraft:
    """The header, the rows with their places, and the problems found while reading.

    `digest` is what the file claims. `spelling` is how the files name our fields, per table.
    `added_prefix` means that the ids were prefixed with the name when they were written.
    """

    header: JsonRow
    tables: dict[str, list[JsonRow]]
    problems: list[Problem] = field(default_factory=list)
    digest: str | None = None
    spelling: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    added_prefix: bool = False


def open_header(document: Mapping[str, Any], file: str, own: set[str]) -> tuple[PackageDraft, bool]:
    """A draft from a manifest or one-file package, and whether it is a package at all.

    `own` are the further fields this form of a package has.
    """
    fields = {name: document[name] for name in HEADER if name in document}
    draft = PackageDraft(JsonRow(fields, file, 0), {table: [] for table in TABLES})
    if document.get("format") != FORMAT:
        message = f'is not a package: it lacks the line "format": "{FORMAT}"'
        draft.problems.append(
            Problem(message, "a conversation becomes one by memaudit build", file=file)
        )
        return draft, False
    if document.get("version") != VERSION:
        message = f"has format version {str(document.get('version', 'none'))[:20]}"
        draft.problems.append(Problem(message, f"this program reads {VERSION}", file=file))
        return draft, False
    known = {*HEADER, "format", "version", "digest", *own}
    draft.problems += [
        Problem(
            f"has the unknown field {name!r}",
            f"known fields: {', '.join(sorted(known))}",
            file=file,
        )
        for name in document
        if name not in known
    ]
    if document.get("digest") is not None:
        draft.digest = str(document["digest"])
    return draft, True


def header_data(package: Package) -> dict[str, Any]:
    """Format, version and what the package holds outside its tables."""
    data = package.model_dump(include=set(HEADER))
    if not package.equal_texts_once:  # programs before this field can read the package
        del data["equal_texts_once"]
    names = [name for name in HEADER if name in data]
    return {"format": FORMAT, "version": VERSION, **{name: data[name] for name in names}}


def table_data(package: Package) -> dict[str, list[dict[str, Any]]]:
    """Every table as plain rows, in the package's order; defaults are left out."""
    tables = {
        table: [row.model_dump(exclude_defaults=True) for row in getattr(package, table)]
        for table in TABLES
    }
    for row, experience in zip(tables["experiences"], package.experiences, strict=True):
        row["index"] = experience.index
    for row, unit in zip(tables["units"], package.units, strict=True):
        if "response" in row:  # in full: leaving defaults out would drop the shape
            row["response"] = unit.response.model_dump(exclude_none=True)
        row[WEIGHT_ON_DISK] = plain(package.query_weights[unit.id])
    return {
        table: [{"id": row["id"], **row} if "id" in row else row for row in rows]
        for table, rows in tables.items()
    }


Model = TypeVar("Model", bound=BaseModel)

Header = create_model(  # type: ignore[call-overload]
    "Header",
    __config__=ConfigDict(extra="forbid"),
    **{
        name: (Package.model_fields[name].annotation, Package.model_fields[name]) for name in HEADER
    },
)
"""What a package holds outside its tables, under the package's own rules."""


def check_package(draft: PackageDraft) -> tuple[Package | None, list[Problem]]:
    """The package, or None and every problem.

    First those of single rows. What is wrong between rows is looked for when all can be read: that
    others refer to a damaged row is no problem of its own.
    """
    problems = list(draft.problems)
    parsed: dict[str, list[Any]] = {}
    for table in TABLES:
        rows = _numbered(draft.tables[table]) if table == "experiences" else draft.tables[table]
        parsed[table] = _parse(table, rows, draft.spelling.get(table, {}), problems)
    header = _header(draft.header, problems)
    if problems:
        return None, problems
    contents = SimpleNamespace(**header, **parsed)
    found = [*find_problems(contents), *core_problems(contents.units, contents.coverage)]
    problems += [_placed(problem, draft) for problem in found]
    factors = (
        *(query.importance for query in contents.queries),
        *(unit.share for unit in contents.units),
    )
    # Sums of numbers without a usable common denominator take for ever; they have a problem
    # already.
    if common_denominator(factors) is not None:
        shares = {unit.id: unit.share for unit in contents.units}
        problems += _weight_problems(contents.queries, shares, draft.tables["units"])
    if problems:
        return None, problems
    package = checked_package(header | {table: tuple(rows) for table, rows in parsed.items()})
    problems += _digest_problems(draft, digest(package))
    return (None if problems else package), problems


def _parse(
    table: str, rows: Sequence[JsonRow], spelling: Mapping[str, str], problems: list[Problem]
) -> list[Any]:
    """The valid rows."""
    parsed: list[Any] = []
    for row in rows:
        data = {name: value for name, value in row.data.items() if name != WEIGHT_ON_DISK}
        try:
            parsed.append(parse_row(TABLES[table], data if table == "units" else row.data))
        except ValidationError as error:
            problems += row_problems(error, TABLES[table], row, spelling)
    return parsed


def _numbered(rows: Sequence[JsonRow]) -> Sequence[JsonRow]:
    """Experiences without an index take their position in the file."""
    if any("index" in row.data for row in rows):
        return rows
    return [replace(row, data={**row.data, "index": position}) for position, row in enumerate(rows)]


def _header(row: JsonRow, problems: list[Problem]) -> dict[str, Any]:
    """The header's fields; none where one is not valid."""
    try:
        header = parse_row(Header, row.data)
    except ValidationError as error:
        problems += row_problems(error, Header, row, {})
        return {}
    return {name: getattr(header, name) for name in HEADER}


def parse_row(model: type[Model], data: Mapping[str, Any]) -> Model:
    """The row as its model; free-form attributes hold plain floats."""
    attributes = {"attributes": floats(data["attributes"])} if "attributes" in data else {}
    return model.model_validate({**data, **attributes})


def row_problems(
    error: ValidationError, model: type[BaseModel], row: JsonRow, spelling: Mapping[str, str]
) -> Iterator[Problem]:
    """One problem for every field that is wrong; `spelling` is how the file names our fields."""
    for detail in error.errors(include_url=False):
        field, fix = _field(detail, spelling), ""
        if detail["type"] == "missing":
            message = f"lacks the field {field!r}"
        elif detail["type"] == "extra_forbidden":
            message = f"has the unknown field {field!r}"
            if len(detail["loc"]) == 1:
                fix = f"known fields: {', '.join(model.model_fields)}"
        else:
            message = f"has a bad field {field!r}: {fault_message(detail)}"
        yield Problem(message, fix, row_id(row.data), file=row.file, line=row.line)


def _field(detail: ErrorDetails, spelling: Mapping[str, str]) -> str:
    """A dotted path to the field, without the steps validation adds itself."""
    steps = [str(step) for step in detail["loc"] if step not in SHAPES]
    return ".".join([spelling.get(step, step) for step in steps[:1]] + steps[1:])


def row_id(data: Mapping[str, Any]) -> str:
    """How messages name a row: its id, or the cell of the coverage matrix."""
    if isinstance(data.get("id"), str):
        return str(data["id"])
    if "candidate" in data and "unit" in data:
        return f"{data['candidate']} x {data['unit']}"
    return ""


def _placed(problem: Problem, draft: PackageDraft) -> Problem:
    """The problem with the file and line of its row instead of the row's number."""
    if problem.row < 0:
        return replace(problem, file=draft.header.file)
    rows = draft.tables[problem.table]
    message = re.sub(
        r"\brow (\d+)$", lambda match: f"line {rows[int(match[1])].line}", problem.message
    )
    place = rows[problem.row]
    return replace(problem, message=message, file=place.file, line=place.line)


def _weight_problems(
    queries: Sequence[Any], shares: Mapping[str, Fraction], units: Sequence[JsonRow]
) -> Iterator[Problem]:
    """Unit rows whose recorded query weight is not what the queries give."""
    weights: dict[str, Fraction] = {}
    for query in queries:
        for unit in set(query.required):
            weights[unit] = weights.get(unit, Fraction(0)) + query.importance
    for row in units:
        if row.data.get(WEIGHT_ON_DISK) is None:
            continue
        at = row_id(row.data)
        truth = weights.get(at, Fraction(0)) * shares.get(at, 1)
        try:
            recorded = exact(row.data[WEIGHT_ON_DISK])
        except ValueError as error:
            message = f"has a bad field {WEIGHT_ON_DISK!r}: {error}"
            yield Problem(message, "", at, file=row.file, line=row.line)
            continue
        if recorded != truth:
            message = f"has {WEIGHT_ON_DISK} {plain(recorded)} but its queries give {plain(truth)}"
            yield Problem(message, "correct it or leave it out", at, file=row.file, line=row.line)


def _digest_problems(draft: PackageDraft, truth: str) -> Iterator[Problem]:
    """A declared digest that is not the digest of the content."""
    if draft.digest is not None and draft.digest != truth:
        message = f"declares the digest {draft.digest[:12]} but the content has {truth[:12]}"
        fix = "the content changed after the digest was taken"
        yield Problem(message, fix, file=draft.header.file)
