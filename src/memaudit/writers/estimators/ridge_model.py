"""A trained ridge model and its file: coefficients, and the packages it must not be judged on."""

import json
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.io.atomic import write_file
from memaudit.io.faults import first_fault
from memaudit.io.files import read_text
from memaudit.writers.estimators.features import FEATURES

_SHA256 = r"^[0-9a-f]{64}$"


class Trained(BaseModel):
    """One package that a model has seen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    package: str = Field(pattern=_SHA256, description="the package's digest")
    content: str = Field(pattern=_SHA256, description="digest of what it shows, without ids")


class RidgeModel(BaseModel):
    """Linear in the features; the intercept is what a row of zeros gets."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, ignored_types=(cached_property,)
    )

    format: Literal["memaudit-ridge"] = "memaudit-ridge"
    version: Literal[1] = 1
    memaudit: str = Field(description="version of the program that trained it")
    alpha: float = Field(gt=0)
    features: tuple[str, ...]
    coefficients: tuple[float, ...]
    intercept: float
    training: tuple[Trained, ...]

    @model_validator(mode="after")
    def _of_this_program(self) -> Self:
        if self.features != FEATURES:
            raise ValueError("its features are not those of this program; train it again")
        if len(self.coefficients) != len(self.features):
            raise ValueError(
                f"it has {len(self.coefficients)} coefficients for {len(self.features)} features"
            )
        return self

    @cached_property
    def trained_on(self) -> frozenset[str]:
        """The content digests of the training packages."""
        return frozenset(trained.content for trained in self.training)


def write_model(model: RidgeModel, path: Path) -> None:
    """Write a model as JSON."""
    write_file(path, json.dumps(model.model_dump(mode="json"), indent=1) + "\n")


def read_model(path: Path) -> RidgeModel:
    """Read a model, or say in one line what is wrong with the file."""
    try:
        text = read_text(path)
    except InvalidPackage as error:
        raise MemAuditError(f"cannot read the ridge model {path}: {error.problems[0]}") from None
    try:
        return RidgeModel.model_validate_json(text)
    except ValidationError as error:
        raise MemAuditError(f"{path} is not a ridge model: {first_fault(error)}") from None


def default_model() -> RidgeModel:
    """The model that comes with the program; train_default.py makes it."""
    with as_file(files("memaudit.writers.estimators").joinpath("ridge_default.json")) as path:
        return read_model(path)
