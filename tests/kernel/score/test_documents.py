"""Scores of documents: the whole file as a choice, the cut from the top, credit of headings."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.judges.label_judges import LabelJudge
from memaudit.kernel.checker import verify
from memaudit.kernel.io.store_file import WRITTEN_AFTER, ExportedStore
from memaudit.kernel.score.judged_store import NOT_NAMED, REPEATED, judge_store
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
    """The file costs 20 words, its entries 46: at 20 the optimum is the file, never more than it.

    Labels that do not name the heading leave its credit to add up, and say so.
    """
    judged = judge_store(PACKAGE, imported(tmp_path), labels(tmp_path, ENTRIES))
    assert judged.caveats.left_out == {NOT_NAMED: 1}
    assert (judged.cost, sum(memory.cost for memory in judged.memories)) == (20, 46)
    scorer = StoreScorer(PACKAGE, [judged])
    found = scorer.numbers(judged, F(20))
    assert found.fits
    assert found.written.cost == found.kept.worth.cost == 20
    assert scorer.common_optimum(F(20)).store == ("doc/MEMORY.md (whole)",)
    assert found.best.ids == judged.candidate_ids
    assert found.best.worth.cost == 20
    assert found.best.worth.value == found.written.value == found.kept.worth.value == F(9, 2)
    assert scorer.numbers(judged, F(19)).best.worth.value == F(3, 2)
    # The file and its entry with half a song are not the whole song.
    most = scorer.common_optimum(F(100))
    assert most.value == F(9, 2)
    assert most.certificate is not None
    assert verify(scorer.common, most.certificate).valid
    assert found.kept.ratio.value == found.kept.union_ratio.value == 1


def test_credit_of_a_heading_counts_once(tmp_path: Path) -> None:
    """The heading alone is half of what "plans" says, so three entries below it are half too."""
    judge = labels(tmp_path, ENTRIES | {HEADING: {"plans": 0.5}})
    judged = judge_store(PACKAGE, imported(tmp_path), judge)
    assert judged.caveats.left_out == {REPEATED: 2}
    plans = [memory.coverage.get("plans") for memory in judged.memories]
    assert [cell and cell.value for cell in plans] == [F(1, 2), 0, 0, None]
    found = StoreScorer(PACKAGE, [judged]).numbers(judged, F(20))
    assert found.written.value == found.best.worth.value == F(4)


def test_a_heading_in_two_places_earns_once(tmp_path: Path) -> None:
    """In two files, or below two others; and at the cheapest entry that carries it."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# 2023\n## Plans\n- a long story about tea\n")
    (folder / "b.md").write_text("# 2024\n## Plans\n- cake\n")
    half = {"plans": 0.5}
    texts = {"2023: Plans: a long story about tea": half, "2024: Plans: cake": half}
    judge = labels(tmp_path, texts | {"Plans": half})
    judged = judge_store(PACKAGE, import_store([folder]), judge)
    scorer = StoreScorer(PACKAGE, [judged])
    assert scorer.numbers(judged, F(99)).written.value == F(1, 2)
    assert scorer.numbers(judged, F(3)).best.worth.value == F(1, 2)


def test_parents_and_nested_headings(tmp_path: Path) -> None:
    """Half credit of "Ann" is shared by all below it, that of "work" only by its own bullets;
    what an entry says itself stays its own."""
    text = "# Ann\n- likes\n  - tea\n- work\n  - bakery\n  - early\n  - late\n"
    entries = {
        "Ann: likes: tea": {"tea": 0.5, "plans": 0.5},
        "Ann: work: bakery": {"tea": 0.5, "cake": 0.5, "plans": 0.5},
        "Ann: work: early": {"cake": 0.5, "bread": 0.5},
        "Ann: work: late": {"bread": 0.5, "plans": 1},
    }
    headings = {"Ann": {"tea": 0.5}, "Ann: work": {"tea": 0.5, "cake": 0.5}}
    judged = judge_store(PACKAGE, imported(tmp_path, text), labels(tmp_path, entries | headings))
    cells = {
        memory.id: {u: c.value for u, c in memory.coverage.items()} for memory in judged.memories
    }
    half = F(1, 2)
    assert cells == {
        "MEMORY.md:L3": {"tea": half, "plans": half},
        "MEMORY.md:L5": {"tea": 0, "cake": half, "plans": half},
        "MEMORY.md:L6": {"cake": 0, "bread": half},
        "MEMORY.md:L7": {"bread": half, "plans": 1},
    }


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
