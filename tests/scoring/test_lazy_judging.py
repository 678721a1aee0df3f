"""Lazy judging finds the optimum under all labels, and says what it knows when stopped."""

from collections.abc import Collection, Sequence
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.package import EvidenceUnit, Package
from memaudit.scoring.candidate_cells import judge_candidates
from memaudit.scoring.judge import Cell, Judgement, MemoryText, Pair
from memaudit.scoring.lazy_judging import LazyPlan, LazyRound, judge_lazily
from memaudit.scoring.pair_filters import CutOff, cut_off, named_filter
from memaudit.scoring.score import StoreScorer
from memaudit.scoring.written_store import WrittenMemory, WrittenStore

F = Fraction
WORDS = ["dog", "cat", "fish", "red", "blue", "Ann", "Bo", "three"]
BUDGETS = (F(2), F(5))


class Replay:
    """Labels by text, replayed as a model; counts what it is asked."""

    name, is_estimate, judges_candidates = "replay", False, True

    def __init__(self, truth: dict[tuple[str, str], Fraction]) -> None:
        self.truth, self.asked = truth, list[Pair]()

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        wanted = [(m.id, u.id) for m in memories for u in units] if pairs is None else pairs
        texts = {memory.id: memory.text for memory in memories}
        unit_texts = {unit.id: unit.text for unit in units}
        self.asked += wanted
        cells: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        for id, unit in wanted:
            cells[id][unit] = Cell(self.truth[texts[id], unit_texts[unit]], "pass:truth")
        return Judgement(cells)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Package, WrittenStore, Replay]:
    """Candidates and memories of a few words each, units of two, and a judge of all pairs."""
    sentence = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
    candidates = draw(st.lists(sentence, min_size=1, max_size=5))
    memories = draw(st.lists(sentence, min_size=1, max_size=4))
    units = draw(st.lists(sentence, min_size=1, max_size=4, unique=True))
    package = Package.model_validate(
        {
            "name": "p",
            "cost_rule": "words",
            "experiences": [{"id": f"e{n}"} for n in range(len(candidates))],
            "candidates": [
                {
                    "id": f"c{n}",
                    "experience": f"e{n}",
                    "kind": "raw",
                    "text": text,
                    "cost": len(text.split()),
                    "generator": "rule:raw",
                }
                for n, text in enumerate(candidates)
            ],
            "units": [
                {"id": f"u{n}", "kind": "fact", "text": text, "weight": 1 + n}
                for n, text in enumerate(units)
            ],
            "coverage": [
                {"candidate": "c0", "unit": "u0", "value": 1, "provenance": "heuristic:x"}
            ],
        }
    )
    store = WrittenStore(
        "s",
        tuple(
            WrittenMemory(f"m{n}", text, F(len(text.split()))) for n, text in enumerate(memories)
        ),
    )
    truth = {
        (text, unit): draw(st.sampled_from([F(0), F(1, 2), F(1)]))
        for text in {*candidates, *memories}
        for unit in units
    }
    return package, store, Replay(truth)


def judged_fully(
    package: Package, store: WrittenStore, judge: Replay
) -> tuple[Package, WrittenStore]:
    texts = [MemoryText(memory.id, memory.text) for memory in store.memories]
    cells = judge.judge(texts, package.units).cells
    memories = tuple(
        WrittenMemory(memory.id, memory.text, memory.cost, cells[memory.id])
        for memory in store.memories
    )
    return judge_candidates(package, judge), WrittenStore(store.name, memories)


@given(problems())
@settings(max_examples=40)
def test_without_a_cut_off_it_is_the_optimum_over_all_labels(
    problem: tuple[Package, WrittenStore, Replay],
) -> None:
    package, store, judge = problem
    lazy = judge_lazily(package, [store], judge, BUDGETS, LazyPlan(named_filter("all")))
    assert len(judge.asked) == len(set(judge.asked)) == lazy.asked <= lazy.kept == lazy.pairs
    found = StoreScorer(lazy.package, lazy.stores)
    truth_package, truth_store = judged_fully(package, store, judge)
    truth = StoreScorer(truth_package, [truth_store])
    for budget in BUDGETS:
        score = found.numbers(lazy.stores[0], budget)
        true = truth.numbers(truth_store, budget)
        assert found.common_optimum(budget).certified
        assert found.common_optimum(budget).value == truth.common_optimum(budget).value
        assert score.best_optimum.value == true.best_optimum.value
        assert score.kept.package_ratio.optimum.value == true.kept.package_ratio.optimum.value
        assert score.kept.ratio.value == true.kept.ratio.value
        assert [row.ratio.value for row in score.policies] == [
            row.ratio.value for row in true.policies
        ]


@given(problems(), st.integers(1, 6))
@settings(max_examples=25)
def test_stopped_early_the_interval_holds_the_optimum(
    problem: tuple[Package, WrittenStore, Replay], most: int
) -> None:
    package, store, judge = problem
    plan = LazyPlan(named_filter("all"), max_cells=most)
    lazy = judge_lazily(package, [store], judge, BUDGETS, plan)
    assert lazy.asked <= most
    truth_package, truth_store = judged_fully(package, store, judge)
    for budget in BUDGETS:
        best = StoreScorer(lazy.package, lazy.stores).common_optimum(budget)
        truth = StoreScorer(truth_package, [truth_store]).common_optimum(budget)
        assert best.value <= truth.value <= best.bound


def test_the_same_text_is_asked_about_once_and_progress_tells_the_interval() -> None:
    text = "Ann has a red dog"
    package = Package.model_validate(
        {
            "name": "p",
            "cost_rule": "words",
            "equal_texts_once": True,
            "experiences": [{"id": "e"}],
            "candidates": [
                {
                    "id": "c",
                    "experience": "e",
                    "kind": "raw",
                    "text": text,
                    "cost": 5,
                    "generator": "rule:raw",
                }
            ],
            "units": [{"id": "u", "kind": "fact", "text": "Ann's dog is red", "weight": 1}],
        }
    )
    store = WrittenStore(
        "s", tuple(WrittenMemory(f"m{n}", f"{text}{end}", F(5)) for n, end in enumerate(("", ".")))
    )
    judge = Replay({(text, "Ann's dog is red"): F(1, 2)})
    rounds: list[LazyRound] = []
    plan = LazyPlan(named_filter("two-terms"), progress=rounds.append)
    lazy = judge_lazily(package, [store], judge, [F(20)], plan)
    assert lazy.asked == lazy.kept == lazy.pairs == 1
    scorer = StoreScorer(lazy.package, lazy.stores)
    score = scorer.numbers(lazy.stores[0], F(20))
    assert (score.written.value, score.written.cost) == (F(1, 2), 10)
    assert (score.duplicates, score.duplicate_cost) == (1, 5)
    assert scorer.common_optimum(F(20)).value == F(1, 2)


def test_a_filter_says_what_it_cuts_off() -> None:
    rows = [
        {"candidate": "a", "unit": "u", "value": 1, "provenance": "pass:x"},
        {"candidate": "b", "unit": "u", "value": 1, "provenance": "pass:x"},
        {"candidate": "c", "unit": "u", "value": 1, "provenance": "heuristic:x"},
    ]
    texts = {"a": "Ann has a red dog", "b": "her pet is crimson", "c": "else"}
    package = Package.model_validate(
        {
            "name": "p",
            "experiences": [{"id": "e"}],
            "coverage": rows,
            "candidates": [
                {"id": id, "experience": "e", "kind": "f", "text": text, "cost": 1}
                for id, text in texts.items()
            ],
            "units": [{"id": "u", "kind": "f", "text": "Ann's dog is red"}],
        }
    )
    assert cut_off(named_filter("two-terms"), [package]) == CutOff(2, 1)
    assert cut_off(named_filter("all"), [package]) == CutOff(2, 0)
    assert cut_off(named_filter("all"), [package]).text == "0 of 2 covered cells (0.0%)"
