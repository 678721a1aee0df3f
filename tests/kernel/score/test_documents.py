"""Scores of documents: the whole file as a choice, the cut from the top, headings."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.judges.label_judges import LabelJudge
from memaudit.kernel.checker import verify
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import WRITTEN_AFTER, ExportedStore
from memaudit.kernel.package.response import Sqrt
from memaudit.kernel.score.judging import judge_store
from memaudit.kernel.score.pruning import NoSuchOrder, default_policy, keep_within, prune
from memaudit.kernel.score.score import StoreScorer
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.registry import import_store
from tests.proofs import package as made

F = Fraction
HEADING = "The long story of what Ann said about her plans"
DOCUMENT = f"# {HEADING}\n- tea\n- cake\n- bread\n\nBo sings loudly.\n"
"""11 + 2 + 2 + 2 + 3 words with the marks; entries cost 11, 11, 11 and 13."""

PACKAGE = made(
    "",
    {name: {"text": name, "weight": 1} for name in ("tea", "cake", "bread", "song", "plans")},
    name="p",
    cost_rule="words",
    equal_texts_once=True,
    experiences=[{"id": "e"}],
)


def imported(folder: Path, text: str = DOCUMENT, view: str | None = None) -> ExportedStore:
    (folder / "MEMORY.md").write_text(text)
    return import_store([folder / "MEMORY.md"], options=ImportOptions(name="doc", view=view))


def labels(folder: Path, cells: dict[str, dict[str, float]]) -> LabelJudge:
    """Labels of texts; texts without a cell are named too, and so judged to cover nothing."""
    memories = [{"memory_id": f"m{at}", "text": text} for at, text in enumerate(cells)]
    rows = [
        {"memory_id": f"m{at}", "unit_id": unit, "coverage": value}
        for at, by_unit in enumerate(cells.values())
        for unit, value in by_unit.items()
    ]
    for name, data in (("memories", memories), ("coverage", rows)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, data)))
    return LabelJudge(folder / "coverage.jsonl", folder / "memories.jsonl")


ENTRIES = {
    f"{HEADING}: tea": {"tea": 1, "plans": 0.5},
    f"{HEADING}: cake": {"cake": 1, "plans": 0.5},
    f"{HEADING}: bread": {"bread": 1, "plans": 0.5},
    f"{HEADING}: Bo sings loudly.": {"song": 0.5},
}


def test_the_whole_file_is_a_choice(tmp_path: Path) -> None:
    """The file costs 20 words, its entries 46: at 20 the optimum is the file, and no more."""
    judged = judge_store(PACKAGE, imported(tmp_path), labels(tmp_path, ENTRIES))
    assert (judged.cost, sum(memory.cost for memory in judged.memories)) == (20, 46)
    scorer = StoreScorer(PACKAGE, [judged])
    found = scorer.numbers(judged, F(20))
    assert found.fits
    assert found.written.cost == found.kept.worth.cost == 20
    assert scorer.common_optimum(F(20)).store == ("doc/MEMORY.md (whole)",)
    assert found.best.ids == judged.candidate_ids
    assert found.best.worth.cost == 20
    assert found.best.worth.value == found.written.value == found.kept.worth.value == F(4)
    assert scorer.numbers(judged, F(19)).best.worth.value == F(3, 2)
    # The file and its entry with half a song are not the whole song.
    most = scorer.common_optimum(F(100))
    assert most.value == F(4)
    assert most.certificate is not None
    assert verify(scorer.common, most.certificate).valid
    assert found.kept.ratio.value == found.kept.union_ratio.value == 1


def test_what_entries_owe_to_a_heading_counts_once(tmp_path: Path) -> None:
    """Three entries below the heading are half of "plans" each, and together half of it."""
    judged = judge_store(PACKAGE, imported(tmp_path), labels(tmp_path, ENTRIES))
    found = StoreScorer(PACKAGE, [judged]).numbers(judged, F(20))
    assert found.written.value == found.best.worth.value == F(4)
    added_up = StoreScorer(PACKAGE, [judged], additive=True).numbers(judged, F(20))
    assert added_up.written.value == F(9, 2)


def test_documents_are_refused_where_coverage_adds_up(tmp_path: Path) -> None:
    """With another h a heading would earn as often as it has entries."""
    units = tuple(unit.model_copy(update={"response": Sqrt()}) for unit in PACKAGE.units)
    with pytest.raises(
        MemAuditError, match=r"has documents, whose entries share headings, and 'p'"
    ):
        judge_store(PACKAGE.replace(units=units), imported(tmp_path), labels(tmp_path, ENTRIES))


def test_how_a_file_is_cut(tmp_path: Path) -> None:
    """Entries of an export have no times: recency has no number, and the cut from the top skips
    nothing. Entries of a capture have an order."""
    store, judge = imported(tmp_path), labels(tmp_path, ENTRIES)
    judged = judge_store(PACKAGE, store, judge)
    assert default_policy(judged) == "top"
    kept = keep_within(judged, F(19))
    assert (kept.ids, kept.kept_by) == (("doc/MEMORY.md:L2",), "cut by top")
    assert len(keep_within(judged, F(20)).ids) == 4
    assert prune(judged, F(10), "top") == ()
    with pytest.raises(NoSuchOrder, match=r"entries without times, so recency is .*; use top"):
        prune(judged, F(19), "recency")
    order = {"metadata": {WRITTEN_AFTER: ["e"]}}
    known = tuple(memory.model_copy(update=order) for memory in reversed(store.memories))
    judged = judge_store(PACKAGE, store.model_copy(update={"memories": known}), judge)
    assert keep_within(judged, F(19)).kept_by == "cut by recency"
    assert prune(judged, F(19), "recency") == prune(judged, F(19), "top") == ("doc/MEMORY.md:L2",)


BULLETS = st.lists(
    st.tuples(st.sampled_from(["- ", "  - "]), st.text("abc ", min_size=1, max_size=6)), max_size=6
)
VALUES = st.sampled_from([0, 0.5, 1])


@settings(max_examples=60, deadline=None)
@given(st.data(), BULLETS, st.integers(0, 40))
def test_nothing_kept_exceeds_the_optimum(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    bullets: list[tuple[str, str]],
    budget: int,
) -> None:
    """Whole files, best subsets and cuts of random documents with random cells."""
    folder = tmp_path_factory.mktemp("document")
    lines = [mark + text for mark, text in bullets if text.strip()]
    store = imported(folder, "\n".join([f"# {HEADING}", "Bo sings.", *lines]))
    texts = {memory.text for memory in store.active} | {HEADING}
    cells = {text: {unit: data.draw(VALUES) for unit in ("tea", "cake")} for text in sorted(texts)}
    judged = judge_store(PACKAGE, store, labels(folder, cells))
    scorer = StoreScorer(PACKAGE, [judged])
    found = scorer.numbers(judged, F(budget))
    best = scorer.common_optimum(F(budget))
    assert best.certified
    assert found.best.worth.value == best.value
    assert found.kept.worth.value <= best.value <= found.written.value
    if found.fits:
        assert found.kept.worth.value == found.written.value == best.value
