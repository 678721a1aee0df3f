"""What the page sends, checked before anything is done with it."""

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from starlette.requests import Request

from memaudit.io.strict_json import first_fault
from memaudit.label_audit.cells import Label
from memaudit.web.annotate.desk import Refused

LONGEST_NOTE = 10_000
LONGEST_BODY = 1 << 17


class Said(BaseModel):
    """What the page sends about a cell."""

    model_config = ConfigDict(extra="forbid", strict=True)

    position: int
    note: str = Field("", max_length=LONGEST_NOTE)

    @field_validator("note")
    @classmethod
    def _writable(cls, note: str) -> str:
        """No NUL and no half of a surrogate pair: no text file could hold them."""
        if "\0" in note or any("\ud800" <= letter <= "\udfff" for letter in note):
            raise ValueError("a note is text")
        return note


class Labelled(Said):
    """A label given to a cell."""

    label: Label


class Noted(Said):
    """A note on a cell, being written or finished."""

    finished: bool


Sent = TypeVar("Sent", bound=Said)


async def read_sent(request: Request, model: type[Sent]) -> Sent:
    """The JSON of a request."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise Refused("expected application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise Refused("the request is too long")
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise Refused(first_fault(error)) from None
