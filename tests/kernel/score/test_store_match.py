"""Stores of other builds of a conversation: accepted by the turns that were fed."""

from itertools import cycle
from typing import Any

import pytest

from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin
from memaudit.kernel.package.budgets import asked_budgets
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.package_scores import score_package
from memaudit.kernel.score.result import ScoreResult, Scoring
from memaudit.kernel.score.store_match import (
    NOT_FED,
    fed_digests,
    fed_part,
    parse_names,
    renamed,
    turn_digests,
    written_from,
)
from memaudit.lab.capture.messages import as_example

TURNS = {
    "t1": "Hey Bo!  I adopted a cat called Tom.",
    "t2": "Lovely. I sold my boat.\nAnd my car: it was old.",
    "t3": "I moved to Bonn.",
}


def package(name: str, turns: dict[str, str], speakers: tuple[str, ...] = ("Ann", "Bo")) -> Package:
    when = {"session": "s", "timestamp": "2023-05-08T13:56"}
    who = ({"speaker": one, **when} for one in cycle(speakers))
    return Package.model_validate(
        {
            "name": name,
            "cost_rule": "words",
            "candidates": [],
            "experiences": [
                *(
                    {**said, "id": id, "text": text}
                    for said, (id, text) in zip(who, turns.items(), strict=False)
                ),
                {"id": "end", "session": "s"},
            ],
            "units": [
                {"id": f"u{id}", "kind": "fact", "text": text, "weight": 1, "sources": [{"id": id}]}
                for id, text in turns.items()
            ],
        }
    )


def captured(fed: Package, *memories: str) -> ExportedStore:
    """A store as a capture writes it, with digests of what was fed."""
    example = as_example(fed)
    turns = [line for one in example.messages for line in fed_digests(one.message.content)]
    return ExportedStore(
        name="store",
        origin=Origin(
            system="x",
            format="plain",
            configuration={"examples": {fed.name: len(memories)}, "turns": {fed.name: turns}},
        ),
        memories=tuple(
            Memory(id=f"m{at}", text=text, example=fed.name) for at, text in enumerate(memories)
        ),
    )


WHOLE = package("conv", TURNS)
JOINED = {"all": "\n".join(f"Ann: {text}" for text in TURNS.values())}


def scored(store: ExportedStore) -> ScoreResult:
    scoring = Scoring(asked_budgets([100]), {store.name: LexicalJudge()})
    return score_package(WHOLE, [store], scoring)


def test_sessions_as_messages_are_the_same_conversation() -> None:
    """However turns were joined, with speakers and dates in front or not."""
    for fed in (package("sessions", JOINED, ("",)), package("dated", JOINED)):
        store = captured(fed, "Ann adopted a cat called Tom.")
        assert written_from(store, WHOLE) == {fed.name}
        assert fed_part(WHOLE, [store]).left_out == 0
    assert set(turn_digests("I moved  to Bonn.")) < set(
        fed_digests("[May 8] Ann: I moved to Bonn.")[0]
    )
    assert turn_digests("\n \n") == ()


def test_units_of_turns_that_were_not_fed_are_counted() -> None:
    """Of a slice, only units of fed turns are scored."""
    store = captured(package("slice", {"t1": TURNS["t1"], "t2": TURNS["t2"]}), TURNS["t1"])
    part = fed_part(WHOLE, [store])
    assert part.left_out == 1
    assert dict(part.package.weights) == {"ut1": 1, "ut2": 1, "ut3": 0}
    result = scored(store)
    assert result.stores[0].caveats.left_out == {NOT_FED: 1}
    assert sum(result.package.weights.values()) == 2


def test_slices_of_one_conversation_belong_together() -> None:
    """Both are read, and line breaks inside a turn do not matter."""
    flat = TURNS["t2"].replace("\n", " ")
    parts = [package("one", {"t1": TURNS["t1"]}), package("two", {"t2": flat})]
    stores = [captured(part, "A memory of it.") for part in parts]
    fed: list[Any] = [store.origin.configuration["turns"] for store in stores]
    turns = {name: digests for one in fed for name, digests in one.items()}
    origin = Origin(system="x", format="plain", configuration={"turns": turns})
    both = ExportedStore(
        name="both",
        origin=origin,
        memories=tuple(
            memory.model_copy(update={"id": store.memories[0].example})
            for store in stores
            for memory in store.memories
        ),
    )
    assert written_from(both, WHOLE) == {"one", "two"}
    assert fed_part(WHOLE, [both]).left_out == 1


def test_another_conversation_is_refused() -> None:
    """By its turns: the right name would leave no unit that every store was fed."""
    other = captured(package("other", {"x": "Something else.", "y": "Quite."}), "Something else.")
    assert written_from(other, WHOLE) == set()
    with pytest.raises(MemAuditError, match="not written for the package 'conv' but for 'other'; "):
        scored(other)
    wrong = captured(package("conv", {"x": "Something else was said here."}), TURNS["t1"])
    with pytest.raises(MemAuditError, match="not written for the package 'conv'"):
        scored(wrong)


def test_map_renames_examples() -> None:
    store = captured(package("other", {"x": "Something else."}), TURNS["t1"])
    again = renamed(store, parse_names(["other=conv"]))
    assert written_from(again, WHOLE) == {"conv"}
    assert again.memories[0].example == "conv"
    with pytest.raises(MemAuditError, match="--map 'x' is not a pair of names; write OLD=NEW"):
        parse_names(["x"])


def test_brackets_are_no_warning() -> None:
    """The end of a session has no text; an experience without text and session is counted."""
    assert as_example(WHOLE).empty == 0
    bare = WHOLE.replace(
        experiences=(
            *WHOLE.experiences,
            WHOLE.experiences[-1].model_copy(update={"id": "lost", "session": None, "index": 9}),
        )
    )
    assert as_example(bare).empty == 1
