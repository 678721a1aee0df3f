"""Keeps a bounded number of tasks in flight and hands their results on in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
Promise = TypeVar("Promise")


def in_order(
    submit: Callable[[Task], Promise],
    fetch: Callable[[Promise], Result],
    tasks: Iterable[Task],
    width: int,
) -> Iterator[Result]:
    """Submit ahead by at most `width` tasks; fetch in the order of submission."""
    flying: deque[Promise] = deque()
    for task in tasks:
        flying.append(submit(task))
        if len(flying) >= width:
            yield fetch(flying.popleft())
    while flying:
        yield fetch(flying.popleft())
