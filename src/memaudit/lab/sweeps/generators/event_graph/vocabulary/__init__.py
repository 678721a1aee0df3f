"""The words of the event graph: names, values and sentence templates, read from TOML files."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

Templates = tuple[str, ...]
SlotQuestions = tuple[tuple[str, str], ...]
"""Questions, each with the slot that answers it."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Told(_Section):
    tell: Templates
    fact: Templates
    brief: Templates
    """How a session summary puts it."""


class _Repeated(_Told):
    tell_again: Templates


class Verb(NamedTuple):
    """The forms of a verb phrase that states an attribute: live, I live, she lives ..."""

    base: str
    first: str
    third: str
    past: str
    ing: str
    noun: str

    @property
    def forms(self) -> tuple[str, ...]:
        """Every wording that states the attribute."""
        return (self.third, self.first, self.base, self.past, self.ing, self.noun)


class Attribute(_Section):
    """One thing that can be known about a person."""

    verb: Verb
    values: tuple[str, ...]
    details: tuple[str, ...]
    ask: str
    before: str = ""
    """The question for an earlier value; empty if the value never changes."""


class Attributes(_Repeated):
    tell_now: Templates
    change: Templates
    change_silent: Templates
    change_again: Templates
    fact_short: Templates
    fact_now: Templates
    compound: Templates
    tombstone: Templates
    edge: Templates
    edge_now: Templates
    brief_now: Templates
    ended: tuple[str, ...]
    ask_superseded: str
    ask_ended: str
    changing: tuple[Attribute, ...]
    lasting: tuple[Attribute, ...]


class Names(_Section):
    she: tuple[str, ...]
    he: tuple[str, ...]
    surnames: tuple[str, ...]


class Relations(_Repeated):
    speaker_labels: tuple[str, ...]
    labels: tuple[str, ...]
    edge: Templates
    ask: str


class OccasionKind(_Section):
    events: tuple[str, ...]
    tell: Templates
    tell_again: Templates
    event: Templates
    fact: Templates
    ask: SlotQuestions


class Occasions(_Section):
    places: tuple[str, ...]
    edge: Templates
    brief: Templates
    lasting: OccasionKind
    single: OccasionKind


class Preferences(_Repeated):
    scopes: tuple[str, ...]
    social_scopes: tuple[str, ...]
    practical: tuple[str, ...]
    shift: Templates
    fact_short: Templates
    edge: Templates
    ask: str
    topics: dict[str, tuple[str, ...]]


class RuleFamily(_Section):
    """A situation and the rules that can be set for it; {n} and {name} make it specific."""

    when: str
    actions: tuple[str, ...]
    unless: tuple[str, ...]
    reasons: tuple[str, ...]


class Rules(_Repeated):
    numbers: tuple[str, ...]
    rule: Templates
    ask: str
    general: tuple[RuleFamily, ...]
    personal: tuple[RuleFamily, ...]


class Procedure(_Section):
    """A goal and its steps in order; a skill tells three of them."""

    goal: str
    steps: tuple[str, ...]


class Skills(_Repeated):
    skill: Templates
    ask: SlotQuestions
    procedures: tuple[Procedure, ...]


class Deletions(_Told):
    secrets: tuple[tuple[str, str], ...]
    edge: Templates
    forget: Templates
    tombstone: Templates
    forget_fact: Templates
    forget_brief: Templates
    gone: tuple[str, ...]
    none: tuple[str, ...]
    ask: str


class OpenDecisions(_Told):
    decisions: tuple[tuple[str, str], ...]
    fact_short: Templates
    undecided: tuple[str, ...]


class Weather(_Section):
    remarks: tuple[str, ...]
    moods: tuple[str, ...]


class SmallTalk(_Section):
    openers: tuple[str, ...]
    first_openers: tuple[str, ...]
    no_opener_before: tuple[str, ...]
    greetings: tuple[tuple[str, ...], ...]
    closers: tuple[str, ...]
    subjects: tuple[str, ...]
    verdicts: tuple[str, ...]
    tails: tuple[str, ...]
    assistant: tuple[str, ...]
    note_heads: tuple[str, ...]
    summary_heads: tuple[str, ...]
    summary_empty: tuple[str, ...]
    weather: tuple[Weather, ...]


class Vocabulary(_Section):
    """One field per TOML file in this folder."""

    attributes: Attributes
    names: Names
    relations: Relations
    occasions: Occasions
    preferences: Preferences
    rules: Rules
    skills: Skills
    deletions: Deletions
    open_decisions: OpenDecisions
    small_talk: SmallTalk


@cache
def vocabulary() -> Vocabulary:
    """All words, read once per process."""
    folder = files("memaudit.lab.sweeps.generators.event_graph.vocabulary")
    return Vocabulary.model_validate(
        {
            name: tomllib.loads(folder.joinpath(f"{name}.toml").read_text("utf-8"))
            for name in Vocabulary.model_fields
        }
    )
