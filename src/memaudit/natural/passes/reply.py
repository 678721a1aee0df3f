"""What every typed reply has in common."""

from pydantic import BaseModel, ConfigDict


class StrictRow(BaseModel):
    """Exactly the fields it names, of exactly their types: "1" is no number, 1 is no text.

    Lengths are not part of the types: some servers cannot follow a schema that limits them. What
    is empty or too much is refused item by item afterwards.
    """

    model_config = ConfigDict(extra="forbid", strict=True)
