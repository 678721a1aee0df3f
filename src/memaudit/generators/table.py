"""The declarative form of a published distribution: one TOML file each, in `tables/`.

A number in a list is a draw: one of them, uniformly. Draws happen in the order of the file, units
before experiences, part after part. `{i}` counts within a part, `{half}` is i // 2, `{before}` is
i - 1, `{name}` is the i-th of the table's names.
"""

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memaudit.core.exact import Exact


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


Number = Exact | tuple[Exact, ...]
When = Literal["always", "even", "odd"]


class Count(_Frozen):
    """How often a part repeats: normal * 3 + update * 2 + plus, clamped to low..high."""

    normal: int = 0
    update: int = 0
    plus: int = 0
    low: int | None = None
    high: int | None = None


class UnitRow(_Frozen):
    """A unit; said again, the later row replaces the earlier one."""

    id: str
    kind: str
    weight: Number
    when: When = "always"


class CandidateRow(_Frozen):
    """A candidate; `covers_all` gives every unit whose id starts so the same coverage."""

    kind: str
    cost: Number
    confidence: Exact | None = None
    covers: Mapping[str, Exact] = Field(default_factory=dict)
    covers_all: Mapping[str, Exact] = Field(default_factory=dict)


class ExperienceRow(_Frozen):
    """An experience and its candidates."""

    text: str
    candidates: Sequence[CandidateRow]
    when: When = "always"


class Part(_Frozen):
    """Units and experiences that repeat."""

    count: Count
    first: int = 0
    units: Sequence[UnitRow]
    experiences: Sequence[ExperienceRow]

    @property
    def draws(self) -> bool:
        """Whether anything in it is drawn."""
        numbers: list[Number] = [unit.weight for unit in self.units]
        numbers += [row.cost for one in self.experiences for row in one.candidates]
        return any(isinstance(number, tuple) for number in numbers)


class Table(_Frozen):
    """A distribution. Without a salt its dice start from the seed itself."""

    name: str
    about: str
    salt: int | None = None
    names: Sequence[str] = ()
    parts: Sequence[Part]


def read_table(name: str) -> Table:
    """The table of a published distribution."""
    text = files("memaudit.generators").joinpath(f"tables/{name}.toml").read_text("utf-8")
    return Table.model_validate({"name": name, **tomllib.loads(text, parse_float=str)})
