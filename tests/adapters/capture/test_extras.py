"""The extras of the project name what the capture of a system was tested with."""

import tomllib
from pathlib import Path

import pytest

from memaudit.adapters.capture.systems import SYSTEMS

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.mark.parametrize("name", SYSTEMS)
def test_extra(name: str) -> None:
    """The same versions as in the pip line that a missing system is answered with."""
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    assert sorted(extras[name]) == sorted(SYSTEMS[name].requirements.split())
