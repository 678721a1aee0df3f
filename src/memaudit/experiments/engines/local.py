"""The engines of this machine: one process, or several through joblib."""

import os
from collections.abc import Callable, Iterable, Iterator

from joblib import Parallel, delayed

from memaudit.experiments.engines.protocol import Result, Task


class Serial:
    """No parallelism: for small runs and for debugging."""

    name = "serial"

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        yield from map(function, tasks)


class Processes:
    """One process per core unless another number is given."""

    name = "processes"

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or len(os.sched_getaffinity(0))

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        run = Parallel(n_jobs=self.jobs, return_as="generator", batch_size=1)
        yield from run(delayed(function)(task) for task in tasks)
