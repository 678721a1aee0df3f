"""What a typed model has against some data, in one short line."""

from pydantic import ValidationError

LONGEST_STEP, MOST_STEPS, LONGEST = 40, 6, 200
"""Names in a file are as long as whoever wrote it likes."""


def first_fault(error: ValidationError) -> str:
    """Where the first fault is and what it is: `spec.writers: input should be a valid list`."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    # The name of a check, function-after[...], is no place in a file.
    named = [str(step) for step in first["loc"] if not str(step).startswith("function-")]
    steps = [step[:LONGEST_STEP] for step in named]
    place = ".".join(steps if len(steps) <= MOST_STEPS else [*steps[:MOST_STEPS], "..."])
    said = first["msg"].removeprefix("Value error, ")
    said = f"{said[:1].lower()}{said[1:LONGEST]}"
    return f"{place}: {said}" if place else said
