"""A tiny named package and how hypothesis runs here."""

import pytest
from hypothesis import settings

from memaudit.core.package import Package

settings.register_profile("memaudit", deadline=None)
settings.load_profile("memaudit")


@pytest.fixture
def tiny() -> Package:
    """Two experiences, three candidates, two units, one query; optimum 3 at budget 3."""
    return Package.model_validate(
        {
            "name": "tiny",
            "experiences": [{"id": "e1", "text": "Ann moved to Rome."}, {"id": "e2"}],
            "candidates": [
                {"id": "m1", "experience": "e1", "kind": "raw", "text": "Ann moved", "cost": 2},
                {"id": "m2", "experience": "e1", "kind": "fact", "text": "Ann Rome", "cost": 1},
                {"id": "m3", "experience": "e2", "kind": "fact", "text": "Bob", "cost": "1/3"},
            ],
            "units": [{"id": "u1", "kind": "fact", "weight": 2}, {"id": "u2", "kind": "current"}],
            "queries": [{"id": "q1", "text": "Where?", "required": ["u2"]}],
            "coverage": [
                {"candidate": "m1", "unit": "u1", "value": 1},
                {"candidate": "m2", "unit": "u1", "value": 0.5},
                {"candidate": "m3", "unit": "u2", "value": 1},
            ],
        }
    )
