"""Files that the commands wrote."""

from tests.lab.downstream.conftest import calibration, diagnosis

__all__ = ["calibration", "diagnosis"]
