"""A run in a process of its own that is killed in the middle: FOLDER."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from memaudit.lab.downstream.question import PackageQuestion, StoredMemory
from memaudit.lab.downstream.retrievers import Ranking
from tests.lab.downstream.newest import Newest
from tests.lab.downstream.small_runs import made

CALLS = iter(range(1, 99))


class Deadly(Newest):
    """Kills its own process when it is called for the fourth time."""

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[PackageQuestion], k: int
    ) -> list[Ranking]:
        if next(CALLS) == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().rank(memories, questions, k)


if __name__ == "__main__":
    made(Path(sys.argv[1]), Deadly())
