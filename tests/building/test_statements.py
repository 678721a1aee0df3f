"""Units found by rules: which sentences count, and how often that is right."""

import pytest

from memaudit.building.named_packages import natural_set
from memaudit.building.statements import statements, with_statements
from memaudit.kernel.package.package import Experience
from memaudit.kernel.words.text import terms


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I moved to Leeds in March.", "current"),
        ("We prefer aisle seats on long flights.", "preference"),
        ("My appointment is on Tuesday at 9.", "temporal"),
        ("My sister Vera is a dentist in Porto.", "fact"),
        ("How are you doing in Leeds?", None),
        ("Thanks a lot for that!", None),
        ("Nice.", None),
    ],
)
def test_sentences(text: str, kind: str | None) -> None:
    turn = Experience(id="t", text=text, speaker="Ann")
    assert [found.kind for found in statements((turn,))] == ([kind] if kind else [])


def test_an_assistant_states_nothing_about_a_person() -> None:
    turn = Experience(id="t", text="I moved your appointment to Tuesday at 9.", speaker="assistant")
    assert list(statements((turn,))) == []


def test_a_package_of_statements() -> None:
    """Every unit has weight 1 and a quote from its turn, and the turn covers it."""
    package = with_statements(natural_set()[0])
    covers = {(cell.candidate, cell.unit) for cell in package.coverage}
    raw = {one.experience: one.id for one in package.candidates if one.kind == "raw"}
    said = {one.id: one.text for one in package.experiences}
    assert set(package.weights.values()) == {1}
    for unit in package.units:
        (source,) = unit.sources
        assert source.text in said[source.id]
        assert source.id not in raw or (raw[source.id], unit.id) in covers


def test_how_often_it_is_right() -> None:
    """On conversations that the rules were not tuned on, as `quick` says: half of the sentences are
    what a labelled unit says, and seven of ten required units are found."""
    right = found = kept = wanted = 0
    for package in natural_set()[::4]:
        chosen: dict[str, list[frozenset[str]]] = {}
        for sentence in statements(package.experiences):
            chosen.setdefault(sentence.turn, []).append(terms(sentence.text))
        quotes: dict[str, list[frozenset[str]]] = {}
        for unit in package.units:
            own = [(source.id, terms(source.text)) for source in unit.sources if source.text]
            for at, said in own:
                quotes.setdefault(at, []).append(said)
            if package.weights[unit.id]:
                wanted += 1
                kept += any(
                    2 * len(said & one) >= len(said)
                    for at, said in own
                    for one in chosen.get(at, ())
                )
        for turn, all_of in chosen.items():
            for one in all_of:
                found += 1
                right += any(
                    2 * len(one & said) >= min(len(one), len(said)) for said in quotes.get(turn, ())
                )
    assert 0.45 <= right / found <= 0.65
    assert 0.6 <= kept / wanted <= 0.8
