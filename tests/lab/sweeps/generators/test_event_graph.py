"""The package of an event graph: its form, its coverage counted from the text, its parameters."""

import re
from collections import Counter
from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.cost import words
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Coverage, EvidenceUnit, Package
from memaudit.kernel.solvers.solve import solve_all
from memaudit.lab.sweeps.generators.event_graph import EventGraph, Parameters
from memaudit.lab.sweeps.generators.event_graph.parameters import Dice


def drawn(experiences: int, seed: int) -> Package:
    return EventGraph(Parameters(experiences=experiences)).package(seed)


@pytest.mark.parametrize(("length", "least"), [(7, 8), (12, 9), (40, 9), (150, 9)])
def test_kinds(length: int, least: int) -> None:
    """All kinds of questions from the shortest stream on; all kinds of candidates from 12 on."""
    for seed in range(12):
        package = drawn(length, seed)
        kinds = {row.kind for row in package.candidates}
        assert kinds <= KINDS
        assert len(kinds) >= least
        assert {row.kind for row in package.queries} == QUESTIONS


def test_times_run_forward_within_sessions() -> None:
    """Timestamps increase, sessions are blocks of several messages, most by the speaker."""
    for seed in range(10):
        package = drawn(150, seed)
        rows = package.experiences
        times = [datetime.fromisoformat(row.timestamp or "") for row in rows]
        assert all(before < after for before, after in pairwise(times))
        sessions = [row.session for row in rows]
        starts = [0] + [at for at in range(1, len(rows)) if sessions[at] != sessions[at - 1]]
        assert len(starts) == len(set(sessions))
        lengths = [after - before for before, after in pairwise([*starts, len(rows)])]
        assert min(lengths) >= 3
        assert len({row.speaker for row in rows} - {"assistant"}) == 1
        assert sum(row.speaker == "assistant" for row in rows) < 20
        told = {row.id: (row.timestamp or "")[:10] for row in rows}
        for unit in package.units:
            days = [told[source.id] for source in unit.sources]
            assert days == sorted(days)
            assert unit.timestamp == days[0]


def test_ids_are_neutral_and_costs_are_words() -> None:
    package = drawn(80, 3)
    assert all(re.fullmatch(r"x\d{4}", row.id) for row in package.experiences)
    assert all(re.fullmatch(r"u\d{4}", row.id) for row in package.units)
    assert all(re.fullmatch(r"q\d{4}", row.id) for row in package.queries)
    for row in package.candidates:
        assert re.fullmatch(rf"{row.experience}\.{row.kind}\d", row.id)
        assert row.cost == words(row.text)
        assert (row.confidence is None) == (row.kind == "raw")
    assert all(unit.weight is None for unit in package.units)


def test_confidence_says_nothing_about_weight() -> None:
    """Facts that questions need and facts that none needs are equally sure, on average."""
    needed: list[Fraction] = []
    idle: list[Fraction] = []
    for seed in range(20):
        package = drawn(100, seed)
        covered = {cell.candidate for cell in package.coverage if package.weights[cell.unit] > 0}
        for row in package.candidates:
            if row.kind == "fact" and row.confidence is not None:
                (needed if row.id in covered else idle).append(row.confidence)
    means = [sum(group, Fraction(0)) / len(group) for group in (needed, idle)]
    assert abs(means[0] - means[1]) < Fraction(1, 100)


def test_summaries_close_sessions() -> None:
    """One summary a session, with the last message, and it never covers all it speaks of."""
    package = drawn(120, 4)
    last = {row.session: row.id for row in package.experiences}
    summaries = [row for row in package.candidates if row.kind == "summary"]
    assert [row.experience for row in summaries] == list(last.values())
    cells = [cell for cell in package.coverage if ".summary" in cell.candidate]
    assert any(cell.value < 1 for cell in cells)
    own = {unit.id: {source.id for source in unit.sources} for unit in package.units}
    assert any(cell.candidate.split(".")[0] not in own[cell.unit] for cell in cells)


def test_stale_units_matter_little() -> None:
    """What was true once is asked rarely, and counts less than any question about what holds."""
    for seed in range(10):
        package = drawn(150, seed)
        stale = [unit.id for unit in package.units if unit.kind == "stale"]
        weights = [package.weights[unit] for unit in stale]
        assert set(weights) == {Fraction(0), Fraction(1)}
        others = [query for query in package.queries if not set(query.required) & set(stale)]
        assert {query.importance for query in others} == {2, 3, 4}
        assert sum(weight > 0 for weight in weights) < len(weights) / 2


def test_english() -> None:
    for seed in range(20):
        package = drawn(100, seed)
        texts = [row.text for row in package.candidates] + [row.text for row in package.queries]
        for text in texts:
            assert not re.search(r"[{}\[\]|]|  | [,.;:?!]|\.\.|,,|,\.", text), text
            assert text[0].isupper() or text[0] == "(", text
            assert not re.search(r"[.!?] [a-z]", text), text
            assert not re.search(r"\b[Aa] [aeioAEIO]|\b[Aa]n (?!hour)[^aeiouAEIOU]", text), text
            assert not re.search(r"\b(\w+) \1\b", text), text
            assert not re.search(r"\bI (is|has|does|likes|prefers|wants)\b", text), text
            assert len(re.findall(r": ", text)) <= 2, text
        for row in package.experiences:
            assert 1 <= len(re.findall(r"[.!?](?: |$)", row.text)) <= 3, row.text


def test_budgets_bite_and_are_certified() -> None:
    """The declared budgets are whole, grow, and have certified optima that differ."""
    for length in (7, 40):
        for seed in range(2):
            package = drawn(length, seed)
            assert all(budget.denominator == 1 and budget >= 1 for budget in package.budgets)
            optima = solve_all(package, package.budgets)
            assert [optimum.status for optimum in optima] == ["certified"] * 4
            values = [optimum.value for optimum in optima]
            assert values == sorted(set(values))
            assert values[0] < sum(package.weights.values()) / 2


@pytest.mark.parametrize("seed", [-1, True, "7", 1.5])
def test_bad_seeds(seed: object) -> None:
    with pytest.raises(MemAuditError, match="must be a whole number of at least 0"):
        EventGraph().package(seed)  # type: ignore[arg-type]


GOLDEN = {
    (40, 0): "bff2b965d54629e9c8e7613272f5cee0d4087b2eb8b20379f381bf6653ad3e22",
    (7, 1): "7b35156ef3c50bf2f33429304865508bd30caac899c85b75a348366a92a2ae03",
}
"""Digests of two packages. They change only with the words or the order of draws."""


def test_golden_digests() -> None:
    digests = {(length, seed): digest(drawn(length, seed)) for length, seed in GOLDEN}
    assert digests == GOLDEN


def test_settings_travel_with_the_package() -> None:
    package = EventGraph(Parameters(experiences=9, redundancy=Fraction(1, 3))).package(4)
    assert package.name == "event_graph-4"
    assert package.attributes["seed"] == 4
    assert package.attributes["knobs"] == {"experiences": 9, "redundancy": "1/3"}


def test_dice_are_fair_and_repeat() -> None:
    """Hand-checked: six sides come up alike, a chance of 1 always, of 0 never, seeds repeat."""
    dice = Dice(1)
    rolls = Counter(dice.below(6) for _ in range(6000))
    assert sorted(rolls) == list(range(6))
    assert all(900 < times < 1100 for times in rolls.values())
    assert all(dice.chance(Fraction(1)) and not dice.chance(Fraction(0)) for _ in range(100))
    assert {dice.between(3, 5) for _ in range(100)} == {3, 4, 5}
    assert sorted(dice.shuffled(range(50))) == list(range(50))
    assert Dice(0).bits() == 0.8444218515250481 * 2**53  # the first `random()` of seed 0


KINDS = {
    "raw",
    "fact",
    "event",
    "edge",
    "summary",
    "rule",
    "skill",
    "compound_update",
    "tombstone",
}
QUESTIONS = {
    "single_hop",
    "multi_hop",
    "temporal",
    "current_truth",
    "supersession",
    "abstention",
}


def says(text: str, words: str) -> bool:
    """Whether the text contains the words, as whole words."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


def slots(unit: EvidenceUnit) -> dict[str, list[str]]:
    by_name = unit.attributes["slots"]
    assert isinstance(by_name, dict)
    return {name: [str(form) for form in forms] for name, forms in by_name.items()}  # type: ignore[union-attr]


def stated(cell: Coverage) -> list[str]:
    assert cell.rationale is not None
    return cell.rationale.removeprefix("states ").split(";")[0].split(", ")


def full(package: Package, unit: str) -> list[str]:
    """The texts that cover a unit in full."""
    return [
        package.candidate[cell.candidate].text
        for cell in package.coverage
        if cell.unit == unit and cell.value == Fraction(1)
    ]


def count(package: Package, *kinds: str) -> int:
    return sum(unit.kind in kinds for unit in package.units)


VALUES = {
    "fact": "value",
    "current": "value",
    "preference": "value",
    "stale": "value",
    "supersession": "old",
    "relation": "other",
    "rule": "action",
    "temporal": "end",
    "event": "start",
    "skill": "step3",
    "deletion": "gone",
    "abstention": "open",
}
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


def many(**values: Any) -> list[Package]:
    return [EventGraph(Parameters(experiences=80, **values)).package(seed) for seed in range(6)]


def repeats(package: Package) -> int:
    """Units that are told more than once."""
    return sum(len(unit.sources) > 1 for unit in package.units)


def shifts(package: Package) -> int:
    """Preferences beyond the first of a person and topic."""
    topics: Counter[tuple[str, str]] = Counter()
    for unit in package.units:
        if unit.kind == "preference":
            topics[slots(unit)["who"][0], slots(unit)["what"][0]] += 1
    return sum(topics.values()) - len(topics)


def small_talk(package: Package) -> int:
    """Messages that no unit has its source in."""
    told = {source.id for unit in package.units for source in unit.sources}
    return sum(experience.id not in told for experience in package.experiences)


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("update_rate", lambda package: count(package, "supersession")),
        ("interval_rate", lambda package: count(package, "temporal")),
        ("redundancy", repeats),
        ("scope_shifts", shifts),
        ("distractors", small_talk),
    ],
)
def test_more_of_it(name: str, measure: Any) -> None:
    counts = [
        sum(map(measure, many(**{name: share}))) for share in (0, Fraction(1, 5), Fraction(4, 5))
    ]
    assert counts[0] == 0
    assert counts[0] < counts[1] < counts[2]


@pytest.mark.parametrize("longest", [2, 3, 5, 8])
def test_chains_are_as_long_as_allowed(longest: int) -> None:
    """One value less is superseded than the chain has values; the longest chains do occur."""
    chains: Counter[tuple[int, str, str]] = Counter()
    for seed, package in enumerate(many(chain_length=longest, update_rate=1)):
        for unit in package.units:
            if unit.kind == "supersession":
                who, what = slots(unit)["who"][0], slots(unit)["what"][0]
                chains[seed, who, what] += 1
    assert max(chains.values()) == longest - 1


@given(
    st.builds(
        Parameters,
        experiences=st.integers(7, 130),
        chain_length=st.integers(2, 8),
        update_rate=st.fractions(0, 1),
        interval_rate=st.fractions(0, 1),
        redundancy=st.fractions(0, 1),
        scope_shifts=st.fractions(0, 1),
        distractors=st.fractions(0, Fraction(9, 10)),
    ),
    st.integers(0, 2**70),
)
@settings(max_examples=25, deadline=None)
def test_any_setting_gives_a_package(parameters: Parameters, seed: int) -> None:
    package = EventGraph(parameters).package(seed)
    assert [row.index for row in package.experiences] == list(range(parameters.experiences))
    assert small_talk(package) == int(parameters.experiences * parameters.distractors)


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"experiences": 6}, "event_graph: experiences is 6; give a whole number from 7 to 10000"),
        ({"experiences": 10001}, "from 7 to 10000"),
        ({"experiences": 7.0}, "a whole number"),
        ({"experiences": True}, "a whole number"),
        ({"chain_length": 1}, "from 2 to 8"),
        ({"update_rate": 2}, "event_graph: update_rate is 2; give a number from 0 to 1"),
        ({"redundancy": "often"}, "redundancy is 'often'"),
        ({"redundancy": None}, "from 0 to 1"),
        ({"interval_rate": -1}, "from 0 to 1"),
        ({"scope_shifts": float("nan")}, "from 0 to 1"),
        ({"distractors": 1}, "from 0 to 0.9"),
    ],
)
def test_bad_parameters(values: dict[str, Any], line: str) -> None:
    with pytest.raises(MemAuditError) as caught:
        Parameters(**values)
    assert line in str(caught.value)


def test_shares_in_any_form() -> None:
    """0.2, "0.2", "1/5" and Fraction(1, 5) are the same setting."""
    assert Parameters(redundancy=0.2) == Parameters(redundancy="1/5") == Parameters()  # type: ignore[arg-type]
    assert Parameters(redundancy=0.2).changed() == {}  # type: ignore[arg-type]


def test_seeds_differ_in_content() -> None:
    """Also when name and settings are left out."""
    packages = [drawn(7, seed) for seed in range(200)]
    bare = [package.model_copy(update={"name": "x", "attributes": {}}) for package in packages]
    assert len({digest(package) for package in bare}) == 200
    assert len({package.experiences[0].text for package in packages}) > 150
