"""Files that the commands wrote."""

from tests.show.downstream.conftest import calibration, diagnosis

__all__ = ["calibration", "diagnosis"]
