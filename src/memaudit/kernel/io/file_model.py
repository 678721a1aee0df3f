"""What the models of our files share: a file of another form is refused in one line."""

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.io.strict_json import first_fault

LARGEST = 1e60
"""Bound of a number in a file: sums of such numbers stay finite."""
MOST_COUNTED = 10**12
"""Bound of a count in a file: nothing counted here is larger."""


def _exact_text(number: int | float | str) -> int | float | str:
    exact(number)
    return number


WithinOne = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=MOST_COUNTED)]
ExactText = Annotated[int | float | str, AfterValidator(_exact_text)]
"""A number as a file holds it. `Exact` of kernel/exact.py makes a Fraction of it."""


class FileModel(BaseModel):
    """Reads what it knows. Later versions may write more, which is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class StrictFileModel(FileModel):
    """Does not convert: a number in quotes is not a number."""

    model_config = ConfigDict(strict=True)


Form = TypeVar("Form", bound=BaseModel)


def validated(form: type[Form], data: Any, place: str, advice: str = "") -> Form:
    """The data as a model, or an error that names the place, the field and what to do."""
    try:
        return form.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
            advice = f"known fields: {', '.join(form.model_fields)}"
        end = f"; {advice}" if advice else ""
        raise MemAuditError(f"{place}: {first_fault(error)}{end}") from None
