"""The checked-in JSON Schema is the models', and real files satisfy it."""

import json
import tempfile
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings

from memaudit.core.package import Package
from memaudit.io.packages import package_schema, schema_text, write_package
from tests.strategies import packages

CHECKED_IN = Path(__file__).parents[2] / "schema" / "package.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(package_schema())


def test_schema_is_up_to_date() -> None:
    """`make schema` writes it again."""
    assert CHECKED_IN.read_text() == schema_text()
    jsonschema.Draft202012Validator.check_schema(package_schema())


@given(packages())
@settings(max_examples=25)
def test_written_packages_satisfy_it(package: Package) -> None:
    """Whatever we write is described by the schema."""
    with tempfile.TemporaryDirectory() as folder:
        write_package(package, Path(folder) / "p.json")
        VALIDATOR.validate(json.loads((Path(folder) / "p.json").read_text()))


@pytest.mark.parametrize("change", [{"version": 2}, {"more": 1}, {"group_cap": 0}, {"units": 3}])
def test_it_refuses_what_reading_refuses(
    tiny: Package, tmp_path: Path, change: dict[str, object]
) -> None:
    """The schema is not just permissive."""
    write_package(tiny, tmp_path / "p.json")
    document = json.loads((tmp_path / "p.json").read_text())
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({**document, **change})
