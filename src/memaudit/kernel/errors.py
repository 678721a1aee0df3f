"""Errors a user can cause, each in one line: where, what, and what to do about it."""

import errno
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input, and where it is."""

    message: str
    fix: str = ""
    id: str = ""
    table: str = ""
    row: int = -1
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = self.file or self.table
        if self.line:
            place = f"{place}:{self.line}"
        elif self.row >= 0 and not self.file:
            place = f"{place}[{self.row}]"
        subject = f"{self.id!r} " if self.id else ""
        hint = f" ({self.fix})" if self.fix else ""
        return (
            f"{place}: {subject}{self.message}{hint}" if place else f"{subject}{self.message}{hint}"
        )


class MemAuditError(Exception):
    """Base of every error a user can cause; its text is one clear line."""


class ParameterError(MemAuditError):
    """A refusal that names parameters, as `{max_cells}`; the command line writes --max-cells."""

    def __init__(self, template: str, **values: object) -> None:
        self.template, self.values = template, values
        super().__init__(self.naming(lambda name: name))

    def naming(self, shown: Callable[[str], str]) -> str:
        """The text with parameters named another way."""

        def filled(match: re.Match[str]) -> str:
            name = match[1]
            return str(self.values[name]) if name in self.values else shown(name)

        return re.sub(r"\{(\w+)\}", filled, self.template)

    def __reduce__(self) -> tuple[Any, ...]:
        """Whole in another process: by default, the values would be lost."""
        return partial(type(self), self.template, **self.values), ()


class InvalidPackage(MemAuditError):
    """An inconsistent package, with all its problems."""

    def __init__(self, problems: Sequence[Problem], source: str = "package") -> None:
        self.problems = tuple(problems)
        self.source = source
        more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        super().__init__(f"{self.problems[0]}{more}" if self.problems else f"{source} is invalid")

    def __reduce__(self) -> tuple[type[Self], tuple[Sequence[Problem], str]]:
        """Whole in another process: by default, its text would come back as its problems."""
        return type(self), (self.problems, self.source)


class UnknownSolver(MemAuditError):
    """A solver name that is not registered."""


class MissingTool(MemAuditError):
    """An optional part that is not installed; the text says what to install."""


def install_line(extra: str) -> str:
    """How to install an extra: never by name, which on the package index is another project's."""
    return f"in MemAudit's checkout, pip install '.[{extra}]'"


_DENIED = (errno.EROFS, errno.EACCES, errno.EPERM)


def cannot_write(path: Path, error: OSError, verb: str = "write") -> MemAuditError:
    """The one line for a path that the operating system does not let us write."""
    hint = "; choose a place that you may write to" if error.errno in _DENIED else ""
    return MemAuditError(f"cannot {verb} {path}: {error.strerror or error}{hint}")


class LostWorker(MemAuditError):
    """A process that was killed: the same command may well succeed, and resumes."""


class InvalidCertificate(MemAuditError):
    """A certificate file that cannot be read as one."""
