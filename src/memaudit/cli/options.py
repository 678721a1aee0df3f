"""Arguments and options that commands share, spelled and checked once."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from memaudit.cli.cache import DEFAULT_CACHE
from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.io.files import beside
from memaudit.solvers.protocol import checked_seconds

if TYPE_CHECKING:
    from memaudit.models.session import ModelSession


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of a dataclass as options, if a parameter has that type."""
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
    """Refuse to overwrite a file of another kind: it may be the only copy."""
    if not path.is_file():
        return  # new, or a folder: whoever writes folders looks into them
    with path.open("rb") as file:
        head = file.read(_HEAD).lower()
    if head and _MARKS[kind] not in head:
        raise MemAuditError(f"{path}: already exists and is not a {kind}; choose another file")


def _group_cap(value: int | None) -> int | None:
    if value is not None and value < 1:
        raise MemAuditError(f"--group-cap must be at least 1, not {value}")
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
    typer.Option(metavar="FILE", help="The same, made with the question in sight."),
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


BUDGETS = "write budgets as --budget 30 or --budget 10,20,40"


def parse_budgets(text: str) -> list[Fraction]:
    """The budgets of "10,20,40", each taken at its decimal value."""
    from memaudit.core.exact import exact

    budgets = []
    for part in text.split(","):
        if not part.strip():
            raise MemAuditError(f"budgets {text!r} have an empty entry; {BUDGETS}")
        try:
            budgets.append(exact(part))
        except ValueError as error:
            raise MemAuditError(f"budget {part.strip()!r}: {error}; {BUDGETS}") from None
        if budgets[-1] < 0:
            raise MemAuditError(f"budget {part.strip()} is negative; budgets are 0 or more")
    return budgets


def distinct_budgets(text: str) -> tuple[Fraction, ...]:
    """The budgets of "10,20,40", each once."""
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
        raise MemAuditError("a gate takes one budget; run it once per budget")
    return at


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """The options of commands that call a model; `spread` makes options of the fields."""

    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="model: any OpenAI-compatible address.")
    ] = None
    provider: Annotated[
        str, typer.Option(metavar="NAME", help="model: live, batch, or offline from the cache.")
    ] = "live"
    cache: Annotated[Path, typer.Option(metavar="DB", help="model: the cache of replies.")] = (
        DEFAULT_CACHE
    )
    price_in: Annotated[
        str | None,
        typer.Option(
            metavar="USD", help="model: price per million input tokens, for the estimate."
        ),
    ] = None
    price_out: Annotated[
        str | None, typer.Option(metavar="USD", help="model: price per million output tokens.")
    ] = None
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="model: stop after this many tokens.")
    ] = None
    yes: Annotated[bool, typer.Option("--yes", help="model: do not ask before spending.")] = False


NO_SESSION = SessionOptions()


@contextmanager
def judging_session(
    wanted: Sequence[str] | bool, options: SessionOptions, out: Path
) -> Iterator["ModelSession | None"]:
    """The session for calling a model, or None if neither an option nor a judge names one."""
    if not (wanted if isinstance(wanted, bool) else any(map(_is_model, wanted))):
        yield None
        return
    from memaudit.models.cache import Cache
    from memaudit.models.providers import DEFAULT_BASE_URL, ModelSettings
    from memaudit.models.session import SessionCallbacks, open_session
    from memaudit.models.spending import price_of

    if options.max_tokens is not None and options.max_tokens < 1:
        raise MemAuditError(f"--max-tokens must be at least 1, not {options.max_tokens}")
    settings = ModelSettings(
        provider=options.provider,
        base_url=options.base_url or DEFAULT_BASE_URL,
        price=price_of(options.price_in, options.price_out),
        max_total_tokens=options.max_tokens,
    )
    callbacks = SessionCallbacks(
        show=lambda line: typer.echo(safe(line), err=True),
        agree=lambda: typer.confirm("go on?", err=True),
        yes=options.yes,
    )
    with Cache(options.cache) as opened:
        yield open_session(settings, opened, beside(out, "-requests.jsonl", stem=True), callbacks)


def _is_model(judge: str) -> bool:
    return judge.startswith("model:")
