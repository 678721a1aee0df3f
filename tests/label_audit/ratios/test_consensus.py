"""The consensus: the same cells and labels as in `audit agreement`, by the same function."""

from hypothesis import given
from hypothesis import strategies as st

from memaudit.label_audit.cells import VALUES, LabelSet
from memaudit.label_audit.coding import LABEL_SCALE, ORDER, coded_frame
from memaudit.label_audit.readings import Reading, annotated, consensus
from tests.label_audit.agreement.labelled import WORDS
from tests.label_audit.ratios.tiny import F, case, frame, reading

CELLS = [(candidate, unit) for candidate in "abc" for unit in "uv"]
FRAME = frame(*(("pets", *at) for at in CELLS))


def test_by_hand() -> None:
    """au is agreed on by two of three, bv disputed, cu labelled once, cv in doubt for one."""
    ann = reading("ann", au="0.5", bv="1", cu="1", cv="1")
    bob = reading("bob", au="0.5", bv="0", cv="1")
    eve = Reading("eve", {"pets": {}}, undecided={"pets": frozenset({("c", "v")})})
    found = consensus([ann, bob, eve])
    assert found == Reading(
        "consensus", {"pets": {("a", "u"): F(1, 2)}}, "consensus",
        unsettled={"missing": 1, "cannot_tell": 1, "disagreed": 1},
    )  # fmt: skip


def test_models_have_no_say() -> None:
    """One person and a model agree on nothing; a model beside two people changes nothing."""
    ann, bob = reading("ann", au="1"), reading("bob", au="1")
    model = Reading("bot", {"pets": {("a", "u"): F(0)}}, "model")
    assert consensus([ann, model]) is None
    assert consensus([ann, bob, model]) == consensus([ann, bob])


letters = st.text("npf?.", min_size=len(CELLS), max_size=len(CELLS))


@given(st.lists(letters, min_size=2, max_size=4))
def test_the_same_as_in_agreement(said: list[str]) -> None:
    """Whoever says what: cells, labels and the reasons for having none are those of agreement."""
    sets = [
        LabelSet(f"x{n}", {f"c{at}": WORDS[one] for at, one in enumerate(row) if one != "."})
        for n, row in enumerate(said)
        if set(row) & set("npf")
    ]
    if len(sets) < 2:
        return
    held = coded_frame(FRAME, sets)
    codes = held.scaled[LABEL_SCALE.name]["consensus"].tolist()
    expected = {at: VALUES[ORDER[code]] for at, code in zip(CELLS, codes, strict=True) if code >= 0}
    found = consensus([annotated(one, FRAME, [case()]) for one in sets])
    assert found is not None
    assert found.labels == {"pets": expected}
    counts = held.consensus_counts(LABEL_SCALE.name)
    assert {"agreed": found.judged, **found.unsettled} == counts
