"""Values that a model gave to candidates when they were offered, read from a file.

`memaudit study utilities` asks the model. The file holds a score per text, so a run needs no model,
is the same on every machine, and can be repeated.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memaudit.kernel.errors import InvalidPackage, MemAuditError
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.strict_json import first_fault
from memaudit.lab.writers.estimators.lexical import LexicalNovelty, lexical_novelty
from memaudit.lab.writers.protocol import View


class UtilitiesFile(BaseModel):
    """Scores between 0 and 1 by text, and who gave them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["memaudit-utilities"] = "memaudit-utilities"
    version: Literal[1] = 1
    model: str
    prompt: str
    values: dict[str, float] = Field(min_length=1)


def read_utilities(path: Path) -> UtilitiesFile:
    try:
        return UtilitiesFile.model_validate_json(read_text(path))
    except InvalidPackage as error:
        raise MemAuditError(f"cannot read the utilities {path}: {error.problems[0]}") from None
    except ValidationError as error:
        raise MemAuditError(f"{path} is not a file of utilities: {first_fault(error)}") from None


class Utilities:
    """The model's score of each text; lexical novelty.

    Refuses a package with a text that the model was not asked about: a missing score is no zero.
    """

    name = "utilities"

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def file(self) -> UtilitiesFile:
        return read_utilities(self._path)

    @property
    def about(self) -> str:
        return f"write-time salience by {self.file.model}"

    def values(self, view: View) -> tuple[float, ...]:
        known = self.file.values
        if missing := [one.text for one in view.candidates if one.text not in known]:
            raise MemAuditError(
                f"{self._path} has no score of {len(missing)} candidates, the first "
                f"{missing[0][:60]!r}; run memaudit study utilities on these packages"
            )
        return tuple(known[candidate.text] for candidate in view.candidates)

    def novelty(self, view: View) -> Callable[[], LexicalNovelty]:
        return lexical_novelty(view)
