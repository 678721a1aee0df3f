"""Files that the commands wrote."""

from tests.report.downstream.conftest import calibration, diagnosis

__all__ = ["calibration", "diagnosis"]
