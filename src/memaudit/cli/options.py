"""Arguments and options that commands share, spelled and checked once."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from memaudit.core.errors import MemAuditError
from memaudit.scoring.gate import checked_seconds

if TYPE_CHECKING:
    from memaudit.core.package import Package


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of a dataclass as options, where that is a parameter's type."""
    signature = inspect.signature(command)
    parameters = list(signature.parameters.values())
    groups: dict[str, Any] = {
        one.name: one.annotation for one in parameters if is_dataclass(one.annotation)
    }

    @wraps(command)
    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
        command(**given)

    spread_out = [one for parameter in parameters for one in _options(parameter, groups)]
    called.__signature__ = signature.replace(parameters=spread_out)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in spread_out}
    return called


def _options(parameter: inspect.Parameter, groups: dict[str, Any]) -> Iterator[inspect.Parameter]:
    if parameter.name not in groups:
        yield parameter
        return
    group = groups[parameter.name]
    hints = get_type_hints(group, include_extras=True)
    for one in fields(group):
        yield parameter.replace(name=one.name, annotation=hints[one.name], default=one.default)


Kind = Literal["package", "certificate", "store", "subset", "page"]

_MARKS: dict[Kind, bytes] = {
    "package": b'"memaudit-package"',
    "certificate": b'"memaudit-certificate"',
    "store": b'"memaudit-store"',
    "subset": b'"memaudit-subset"',
    "page": b"<!doctype html",
}
_HEAD = 4096


def may_write(path: Path, kind: Kind) -> None:
    """Refuse to write over a file that holds anything else: it may be somebody's only copy."""
    if not path.is_file():
        return  # new, or a folder: whoever writes folders looks into them
    with path.open("rb") as file:
        head = file.read(_HEAD).lower()
    if head and _MARKS[kind] not in head:
        raise MemAuditError(f"{path}: is there already and is no {kind}; choose another file")


def _group_cap(value: int | None) -> int | None:
    if value is not None and value < 1:
        raise MemAuditError(f"--group-cap {value} is below 1; one candidate at least may be kept")
    return value


PackagePath = Annotated[Path, typer.Argument(metavar="PACKAGE", help="A package.")]
PackagesPath = Annotated[
    Path, typer.Argument(metavar="PACKAGE", help="A package, or a folder of many.")
]
StorePath = Annotated[Path, typer.Argument(metavar="STORE", help="A store memaudit import wrote.")]
StorePaths = Annotated[
    list[Path], typer.Argument(metavar="STORE...", help="Stores memaudit import wrote.")
]
Budgets = Annotated[str, typer.Option("--budget", metavar="B[,B...]", help="Budgets.")]
LabelMemories = Annotated[
    Path | None, typer.Option(metavar="FILE", help="labels: what their ids stand for.")
]
SalienceFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Published salience calls made at write time."),
]
QuerySalienceFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="... made with the question in sight; kept apart."),
]
CostRule = Annotated[
    str | None, typer.Option(metavar="RULE", help="Measure everything by another rule.")
]
GroupCap = Annotated[
    int | None,
    typer.Option(metavar="K", callback=_group_cap, help="Candidates one experience may keep."),
]
Seconds = Annotated[
    float | None,
    typer.Option(metavar="S", callback=checked_seconds, help="Stop each solve after S seconds."),
]
JudgeName = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="lexical (an estimate), pointer, labels:FILE, calls:FILE, model:NAME."
    ),
]


def distinct_budgets(text: str) -> tuple[Fraction, ...]:
    """The budgets of "10,20,40", each once."""
    from memaudit.cli.solve import parse_budgets
    from memaudit.core.exact import plain

    budgets = parse_budgets(text)
    for place, budget in enumerate(budgets):
        if budget in budgets[:place]:
            raise MemAuditError(f"budget {plain(budget)} is given twice; give each once")
    return tuple(budgets)


def one_budget(text: str) -> Fraction:
    """The budget of a command that takes one."""
    (at, *more) = distinct_budgets(text)
    if more:
        raise MemAuditError("a gate has one budget; run it once for each")
    return at


NATURAL = "natural"
SEEDS = "seeds="
DEFAULT_SEEDS = "10"


def packages_named(text: str) -> list["Package"]:
    """`natural`, a distribution with seeds, event_graph:experiences=30:seeds=0-9, or a path."""
    from memaudit.generators.registry import DISTRIBUTIONS

    if text == NATURAL:
        from memaudit.natural.named_packages import natural_set

        return list(natural_set())
    if text.split(":")[0] in DISTRIBUTIONS:
        return _generated(text)
    from memaudit.natural.build_folder import packages_at

    if not Path(text).exists():
        raise MemAuditError(
            f"there are no packages at {text!r}; give a path, {NATURAL}, or a distribution: "
            f"{', '.join(DISTRIBUTIONS)}"
        )
    return packages_at(Path(text))


def _generated(text: str) -> list["Package"]:
    from memaudit.experiments.spec import parse_seeds
    from memaudit.generators.registry import named_distribution

    parts = text.split(":")
    given = [part.removeprefix(SEEDS) for part in parts if part.startswith(SEEDS)]
    if len(given) > 1:
        raise MemAuditError(f"{text!r} gives seeds twice")
    name = ":".join(part for part in parts if not part.startswith(SEEDS))
    distribution = named_distribution(name)
    seeds = parse_seeds(given[0] if given else DEFAULT_SEEDS)
    if not seeds:
        raise MemAuditError(f"{text!r} names no seed; write seeds=0-9")
    return [distribution.package(seed) for seed in (seeds if distribution.draws else seeds[:1])]
