"""Files that the commands wrote."""

from tests.lab.downstream.conftest import diagnosis

__all__ = ["diagnosis"]
