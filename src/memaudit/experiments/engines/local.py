"""What an engine does, and the engines of this machine: one process, or several through joblib."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from joblib import Parallel, delayed

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs a function over tasks; the function and the tasks can travel to other processes."""

    @property
    def name(self) -> str: ...

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Results in the order of the tasks, each as soon as those before it are there."""
        ...


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


class Serial:
    """No parallelism: for small runs and for debugging."""

    name = "serial"

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        yield from map(function, tasks)


class Processes:
    """One process per core unless told otherwise."""

    name = "processes"

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or len(os.sched_getaffinity(0))

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        run = Parallel(n_jobs=self.jobs, return_as="generator", batch_size=1)
        yield from run(delayed(function)(task) for task in tasks)
