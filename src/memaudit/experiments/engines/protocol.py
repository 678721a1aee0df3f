"""What an engine does."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs a function over tasks; the function and the tasks can travel to other processes."""

    @property
    def name(self) -> str: ...

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Results in the order of the tasks, each as soon as those before it are there."""
        ...
