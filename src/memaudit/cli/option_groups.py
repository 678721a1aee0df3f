"""Options that several commands share, given to a command as one parameter."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


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
