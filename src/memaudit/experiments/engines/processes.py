"""Processes on this machine, through joblib: the default."""

import os
from collections.abc import Callable, Iterable, Iterator

from joblib import Parallel, delayed

from memaudit.experiments.engines.protocol import Result, Task


class Processes:
    """One process per core unless told otherwise."""

    name = "processes"

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or len(os.sched_getaffinity(0))

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        run = Parallel(n_jobs=self.jobs, return_as="generator", batch_size=1)
        yield from run(delayed(function)(task) for task in tasks)
