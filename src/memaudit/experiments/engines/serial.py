"""One task after the other, in this process."""

from collections.abc import Callable, Iterable, Iterator

from memaudit.experiments.engines.protocol import Result, Task


class Serial:
    """No parallelism: for small runs and for debugging."""

    name = "serial"

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        yield from map(function, tasks)
