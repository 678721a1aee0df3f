"""From requirements and verdicts to statuses, by hand."""

import pytest

from memaudit.building.passes.adjudication import (
    AdjudicatorVerdict,
    RequirementProposal,
    Ruling,
    Rulings,
    make_rulings,
    package_status,
)
from memaudit.building.passes.requirements import (
    MAX_CHARACTERS,
    Requirement,
    RequirementsReply,
    ShownUnit,
    merge_parts,
    parts,
)
from memaudit.conversations.conversation import Question

Q = [Question(f"q{i}", f"Question {i}?", "yes", "kind") for i in range(3)]
GOOD = Requirement("supported", ((1, "says it"), (2, "says so")), "both")


def unit(number: int, session: int = 1, length: int = 10) -> ShownUnit:
    return ShownUnit(number, "fact", None, "x" * length, "", session)


def test_without_an_adjudicator() -> None:
    requirements = {"q0": GOOD, "q1": Requirement("unsupported", ((1, "half"),), "no"), "q2": None}
    found = make_rulings(Q, requirements, None)
    assert {id: one.status for id, one in found.questions.items()} == {
        "q0": "unadjudicated",
        "q1": "unsupported",
        "q2": "failed",
    }
    assert found.required == {1, 2}
    assert found.counts() == {
        "accepted": 0,
        "corrected": 0,
        "ambiguous": 0,
        "rejected": 0,
        "unadjudicated": 1,
        "unsupported": 1,
        "contradicted": 0,
        "failed": 1,
    }
    assert package_status(found, []) == "unadjudicated"
    assert package_status(found, ["1 cells are undecided"]) == "incomplete"


def test_accepted_as_unsupported_is_unsupported() -> None:
    """An adjudicator who agrees that the units do not support the answer makes no query of it."""
    need = Requirement("unsupported", (), "nobody says it")
    found = make_rulings(Q[:1], {"q0": need}, {"q0": AdjudicatorVerdict("accepted", "right")})
    assert found.questions["q0"].status == "unsupported"
    assert package_status(found, []) == "unsupported"


def test_what_the_units_contradict_is_out_of_the_pool() -> None:
    """With or without an adjudicator who agrees; one who corrects it brings it back."""
    need = Requirement("contradicted", ((1, "says red"),), "red, not green")
    verdicts = (
        None,
        {"q0": AdjudicatorVerdict("accepted", "right")},
        {"q0": AdjudicatorVerdict("corrected", "no", (2,), alternatives={2: (3,)})},
    )
    found = [make_rulings(Q[:1], {"q0": need}, one) for one in verdicts]
    statuses = [one.questions["q0"].status for one in found]
    assert statuses == ["contradicted", "contradicted", "corrected"]
    assert package_status(found[0], []) == "contradicted"
    assert [one.groups for one in found] == [{(1,)}, {(1,)}, {(2, 3)}]
    assert found[2].required == {2, 3}


def test_the_first_rewrite_stands() -> None:
    """Two questions that want the same unit reworded differently: the later one is ambiguous."""
    verdicts = {
        "q0": AdjudicatorVerdict("corrected", "r", (1,), ((1, "Better."),)),
        "q1": AdjudicatorVerdict("corrected", "r", (1, 3), ((1, "Better."), (3, "Also."))),
        "q2": AdjudicatorVerdict("corrected", "r", (2,), ((2, "New."), (1, "Otherwise."))),
    }
    found = make_rulings(Q, dict.fromkeys(("q0", "q1", "q2"), GOOD), verdicts)
    statuses = [one.status for one in found.questions.values()]
    assert statuses == ["corrected", "corrected", "ambiguous"]
    assert found.rewrites == {1: ("Better.", "q0"), 3: ("Also.", "q1")}  # and 2 is not touched
    assert found.questions["q0"].before == (1, 2)
    assert found.questions["q2"].required == (1, 2)
    assert found.questions["q2"].reason == "wants unit 1 reworded otherwise than q0 does"


@pytest.mark.parametrize(
    ("statuses", "package"),
    [
        (["accepted", "accepted"], "accepted"),
        (["accepted", "rejected"], "accepted"),
        (["accepted", "corrected", "ambiguous"], "corrected"),
        (["ambiguous", "rejected"], "ambiguous"),
        (["rejected", "failed"], "rejected"),
        (["failed", "unsupported"], "unsupported"),
        ([], "without questions"),
    ],
)
def test_package_status(statuses: list[str], package: str) -> None:
    """In the pool as long as one question is; for one question, that question's status."""
    found = Rulings({str(i): Ruling(one, (), {}, "") for i, one in enumerate(statuses)})
    assert package_status(found, []) == package


def test_long_unit_lists_are_asked_about_in_parts() -> None:
    """Three of 15,000 characters: two in the first request, one in the second."""
    units = [unit(i, length=15_000) for i in (1, 2, 3)]
    assert [[one.number for one in part] for part in parts(units)] == [[1, 2], [3]]
    assert list(parts([])) == [[]]


def unsupported(*numbers: int) -> Requirement:
    return Requirement("unsupported", tuple((number, "") for number in numbers), "")


UNANSWERABLE = Requirement("unanswerable", (), "")


@pytest.mark.parametrize(
    ("requirements", "decision", "numbers"),
    [
        ([GOOD], "supported", (1, 2)),
        # a part that has nothing to say does not spoil another's evidence
        ([GOOD, unsupported()], "supported", (1, 2)),
        ([unsupported(5), unsupported()], "unsupported", (5,)),
        ([UNANSWERABLE, unsupported()], "unanswerable", ()),
        ([unsupported(3), UNANSWERABLE], "unsupported", (3,)),
    ],
)
def test_parts_are_merged(
    requirements: list[Requirement], decision: str, numbers: tuple[int, ...]
) -> None:
    found = merge_parts(requirements)
    assert found is not None
    assert (found.decision, found.numbers) == (decision, numbers)
    assert merge_parts([*requirements, None]) is None  # a part without a reply fails the question


def test_a_supported_answer_requirements_a_unit() -> None:
    with pytest.raises(ValueError, match="at least one unit"):
        RequirementsReply(decision="supported", required=[], reason="")
    twice = [{"unit": 1, "or": [2], "reason": ""}, {"unit": 2, "or": [], "reason": ""}]
    with pytest.raises(ValueError, match="appears twice"):
        RequirementsReply.model_validate({"decision": "supported", "required": twice, "reason": ""})


def test_an_adjudicator_is_shown_what_fits() -> None:
    """All units; of a list too long, those of the sessions that the required units are from."""
    few = [unit(1), unit(2), unit(3, session=2)]
    assert RequirementProposal(Q[0], GOOD, few).shown == few
    many = [unit(1, 1, MAX_CHARACTERS), unit(2, 2), unit(3, 3), unit(4, 2)]
    need = Requirement("supported", ((2, ""),), "")
    assert [one.number for one in RequirementProposal(Q[0], need, many).shown] == [2, 4]
