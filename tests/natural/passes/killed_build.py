"""A build in a process of its own, to be killed: ADDRESS FOLDER."""

import sys
from pathlib import Path

from tests.natural.passes.building import live, make

if __name__ == "__main__":
    make(Path(sys.argv[2]), live(sys.argv[1]), concurrency=1)
