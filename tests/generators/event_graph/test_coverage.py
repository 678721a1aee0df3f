"""Coverage is counted from the text: every slot that counts is literally stated."""

from fractions import Fraction

import pytest

from memaudit.core.package import Package
from memaudit.generators.event_graph import EventGraph, Parameters
from tests.generators.event_graph.reading import full, says, slots, stated

VALUES = {
    "fact": "value", "current": "value", "preference": "value", "stale": "value",
    "supersession": "old", "relation": "other", "rule": "action", "temporal": "end",
    "event": "start", "skill": "step3", "deletion": "gone", "abstention": "open",
}  # fmt: skip
"""The slot without which a unit of that kind is not known."""


@pytest.fixture(params=range(12), scope="module")
def package(request: pytest.FixtureRequest) -> Package:
    return EventGraph(Parameters(experiences=7 + 10 * request.param)).package(request.param)


def test_stated_slots_are_in_the_text(package: Package) -> None:
    """Every slot that counts is in the text, and the share is what is counted.

    Without its distinguishing value a unit is never covered in full, and naming the person and the
    attribute alone covers nothing.
    """
    units = {unit.id: unit for unit in package.units}
    for cell in package.coverage:
        text, wordings = package.candidate[cell.candidate].text, slots(units[cell.unit])
        said = stated(cell)
        assert all(any(says(text, form) for form in wordings[name]) for name in said), (text, said)
        assert cell.value == Fraction(len(said), len(wordings))
        assert cell.label == ("full" if cell.value == 1 else "partial")
        assert cell.provenance == "event_graph"
        kind = units[cell.unit].kind
        if not any(says(text, form) for form in wordings[VALUES[kind]]):
            assert cell.value < 1, (units[cell.unit].text, text)
        if kind in ("fact", "current", "preference", "stale", "supersession"):
            assert not set(said) <= {"who", "what", "ended"}


def test_what_is_not_counted_is_not_said(package: Package) -> None:
    """No slot of a unit a text is about goes uncounted: dates, values and details are unique."""
    units = {unit.id: unit for unit in package.units}
    for cell in package.coverage:
        text, wordings = package.candidate[cell.candidate].text, slots(units[cell.unit])
        for name in ("value", "detail", "other", "end", "place", "unless", "reason", "by"):
            if name in wordings and name not in stated(cell) and " " in wordings[name][0]:
                kind = package.candidate[cell.candidate].kind
                assert kind == "summary" or not says(text, wordings[name][0]), (text, name)


def test_raw_coverage_follows_from_the_message(package: Package) -> None:
    """The raw candidate is the message, and covers only what has its source in it."""
    messages = {experience.id: experience for experience in package.experiences}
    sources = {unit.id: {source.id for source in unit.sources} for unit in package.units}
    told = {unit.id: unit for unit in package.units}
    for cell in package.coverage:
        candidate = package.candidate[cell.candidate]
        if candidate.kind == "raw":
            assert candidate.text == messages[candidate.experience].text
            old = told[cell.unit].kind == "stale"  # a change speaks of the old value as well
            assert old or candidate.experience in sources[cell.unit]


def test_facts_say_no_more_than_the_message(package: Package) -> None:
    """Facts, events, edges, rules and skills hold nothing that was not said in the message."""
    raw = {
        (package.candidate[cell.candidate].experience, cell.unit): set(stated(cell))
        for cell in package.coverage
        if package.candidate[cell.candidate].kind == "raw"
    }
    for cell in package.coverage:
        candidate = package.candidate[cell.candidate]
        if candidate.kind in ("fact", "event", "edge", "rule", "skill"):
            assert set(stated(cell)) <= raw[candidate.experience, cell.unit], candidate.text


def test_sources_quote_the_stream(package: Package) -> None:
    """Every unit has a source; its quote stands in that message, its session is right."""
    messages = {experience.id: experience for experience in package.experiences}
    for unit in package.units:
        assert unit.sources
        for source in unit.sources:
            assert source.text
            assert source.text in messages[source.id].text
            assert source.session == messages[source.id].session


def test_every_unit_can_be_covered_in_full(package: Package) -> None:
    assert all(full(package, unit.id) for unit in package.units)


def test_answers_stand_in_the_evidence(package: Package) -> None:
    """An answer is in some text that covers a required unit in full, unless none is known."""
    kinds = {unit.id: unit.kind for unit in package.units}
    for query in package.queries:
        assert query.required
        if query.kind == "abstention":
            assert query.answer == "not known"
            assert {kinds[unit] for unit in query.required} <= {"abstention", "deletion"}
        else:
            answer = query.answer or ""
            texts = [text for unit in query.required for text in full(package, unit)]
            assert any(answer in text for text in texts), query.text
