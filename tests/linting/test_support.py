"""Support by words: a memory of this conversation, of another one, and with a changed detail."""

from collections import Counter
from pathlib import Path

import pytest

from memaudit.building.named_packages import natural_set, natural_stores
from memaudit.kernel.package.package import Experience, Package
from memaudit.linting.lint import LintPlan, lint
from memaudit.linting.support import ConversationIndex
from memaudit.stores.registry import import_store

SAID = (
    ("a", "Ann", "Yesterday I bought a green bicycle from Marek for 240 euros."),
    ("a", "assistant", "Nice! Has it lights?"),
    ("a", "Ann", "No, I still need to get some."),
    ("b", "Ann", "My sister Vera is coming to stay in June, she is a dentist."),
)
TURNS = tuple(
    Experience(
        id=f"t{at + 1}",
        index=at,
        session=session,
        speaker=who,
        timestamp=None if at else "2024-05-08",
        text=text,
    )
    for at, (session, who, text) in enumerate(SAID)
)


@pytest.mark.parametrize(
    ("text", "verdict", "turn", "missing"),
    [
        (
            "Ann bought a green bicycle from Marek for 240 euros on 7 May 2024",
            "supported",
            "t1",
            (),
        ),
        ("User's sister Vera, a dentist, visits in June", "supported", "t4", ()),
        ("Ann bought a green bicycle from Marek for 310 euros", "partly", "t1", ("310",)),
        ("Ann bought a green bicycle from Jacek for 240 euros", "partly", "t1", ("Jacek",)),
        ("Ann plays the trombone in a brass ensemble", "not", None, ()),
    ],
)
def test_verdicts(text: str, verdict: str, turn: str | None, missing: tuple[str, ...]) -> None:
    found = ConversationIndex(TURNS).support(text)
    assert (found.verdict, found.missing) == (verdict, missing)
    if turn is not None:
        assert found.turn is not None
        assert TURNS[found.turn].id == turn


def turns(package: Package) -> list[Experience]:
    return [one for one in package.experiences if one.text]


def test_shipped_stores() -> None:
    """The rates of docs/lint.md, on stores that nothing here was tuned on: few memories of a
    conversation are said to be in no turn of it, and nearly all of another one's are."""
    own, other = Counter[str](), Counter[str]()
    packages = natural_set()[::8]
    store = natural_stores()[0]
    for place, package in enumerate(packages):
        here, there = (
            ConversationIndex(turns(one))
            for one in (package, packages[(place + 1) % len(packages)])
        )
        for memory in store.active_by_example[package.name]:
            own[here.support(memory.text).verdict] += 1
            other[there.support(memory.text).verdict] += 1
    assert own["not"] <= 0.02 * own.total()
    assert own["supported"] >= 0.9 * own.total()
    assert other["not"] >= 0.9 * other.total()


def test_a_model_is_shown_the_nearest_turns() -> None:
    """Both ends of a session, and neighbours of the same session only."""
    asked = ConversationIndex(TURNS).to_check("Vera is a dentist")
    assert 3 in asked.near
    assert ConversationIndex(()).support("anything at all").verdict == "supported"


def test_headings_need_no_support(tmp_path: Path) -> None:
    """What stands above an entry is how the file is ordered, not what somebody said."""
    path = tmp_path / "MEMORY.md"
    path.write_text("# Project memory\n## People and things\n- Vera is a dentist\n")
    opened = import_store([path])
    talk = Package(name="p", experiences=TURNS, candidates=(), units=())
    assert lint(opened, LintPlan(talk)).of("unsupported") == []
