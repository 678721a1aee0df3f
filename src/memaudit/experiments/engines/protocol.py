"""What an engine does, and how those with a queue keep results in order."""

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from memaudit.core.errors import MemAuditError
from memaudit.solvers.protocol import use_threads

Task = TypeVar("Task")
Result = TypeVar("Result")
Promise = TypeVar("Promise")


class Engine(Protocol):
    """Runs a function over tasks.

    The function and the tasks can travel to other processes, the function once to each: what all
    tasks share belongs to it.
    """

    @property
    def name(self) -> str: ...

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Results in the order of the tasks, each as soon as those before it are there."""
        ...


def in_worker(function: Callable[[Task], Result], task: Task) -> Result:
    """What a worker does: it is one of several, so a solve has one thread.

    The garbage collector runs between tasks. During one it would find little, again and again.
    """
    use_threads(1)
    gc.disable()
    try:
        return function(task)
    finally:
        gc.enable()


def in_order(
    submit: Callable[[Task], Promise],
    fetch: Callable[[Promise], Result],
    tasks: Iterable[Task],
    width: int,
) -> Iterator[Result]:
    """Submit ahead by at most `width` tasks; fetch in the order of submission.

    If there is an error in the tasks, the results of those before it come first.
    """
    submitted: deque[Promise] = deque()
    waiting, error = iter(tasks), None
    while True:
        try:
            task = next(waiting)
        except StopIteration:
            break
        except MemAuditError as wrong:
            error = wrong
            break
        submitted.append(submit(task))
        if len(submitted) >= width:
            yield fetch(submitted.popleft())
    while submitted:
        yield fetch(submitted.popleft())
    if error is not None:
        raise error
