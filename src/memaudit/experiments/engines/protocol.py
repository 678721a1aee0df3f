"""What an engine does, and how those with a queue keep results in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
Promise = TypeVar("Promise")


class Engine(Protocol):
    """Runs a function over tasks. The function and the tasks can travel to other processes."""

    @property
    def name(self) -> str: ...

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Results in the order of the tasks, each as soon as those before it are there."""
        ...


def in_order(
    submit: Callable[[Task], Promise],
    fetch: Callable[[Promise], Result],
    tasks: Iterable[Task],
    width: int,
) -> Iterator[Result]:
    """Submit ahead by at most `width` tasks; fetch in the order of submission."""
    submitted: deque[Promise] = deque()
    for task in tasks:
        submitted.append(submit(task))
        if len(submitted) >= width:
            yield fetch(submitted.popleft())
    while submitted:
        yield fetch(submitted.popleft())
