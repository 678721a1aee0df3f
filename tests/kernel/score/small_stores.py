"""Small packages and judged stores whose scores can be worked out by hand."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin
from memaudit.kernel.package.budgets import asked_budgets
from memaudit.kernel.package.equal_texts import distinct_texts
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.response import Log1p, Sqrt
from memaudit.kernel.score.judge import Cell
from memaudit.kernel.score.package_scores import score_judged_stores
from memaudit.kernel.score.priced_store import JudgedStore, WrittenDocument, WrittenMemory
from memaudit.kernel.score.result import ScoreResult, Scoring
from tests.proofs import package
from tests.strategies import COSTS, packages

F = Fraction
MEALS = package(
    "old:e1:2 both:e2:4:compound_update",
    {
        "now": {"kind": "current", "weight": 3},
        "ended": {"kind": "supersession", "weight": 3},
        "once": {"kind": "stale", "weight": 1},
    },
    [("old", "once", 1), ("both", "now", 1), ("both", "ended", 1)],
    name="meals",
    queries=[{"id": "q", "required": ["now", "ended"]}, {"id": "p", "required": ["once"]}],
)
IRRATIONAL = MEALS.replace(
    units=tuple(
        unit.model_copy(update={"response": response})
        for unit, response in zip(MEALS.units, (Sqrt(), Log1p(), Sqrt()), strict=True)
    )
)
PETS = package(
    "a:e1:2 b:e1:1",
    {"dog": 3, "cat": 1, "fish": 0},
    [("a", "dog", 1, "exact:statement"), ("b", "cat", 1, "heuristic:x")],
    texts={"a": "dog Rex", "b": "cat"},
    name="pets",
    cost_rule="words",
)


def memory(id: str, cost: int, text: str = "", **covers: object) -> WrittenMemory:
    cells = {unit: Cell(F(str(share)), "pass:x") for unit, share in covers.items()}
    return WrittenMemory(id, text or f"text of {id}", F(cost), cells)


LONG = JudgedStore("long", (memory("m1", 1, once=1), memory("m2", 5, now=1), memory("m3", 1)))
"""Of MEALS: 7 words, two of its three units."""

DOG = JudgedStore("dog", (memory("m", 3, "the dog Rex", dog=1),))
CAT = JudgedStore("cat", (memory("m", 1, "cat", cat=1),))
"""Of PETS."""


def meals_scores(*budgets: object) -> ScoreResult:
    """LONG on MEALS. Its coverage is given, so the judge is asked for nothing."""
    scoring = Scoring(asked_budgets(budgets), {"long": LexicalJudge()})
    return score_judged_stores(MEALS, [exported(name="long")], [LONG], scoring)


def fish_package(name: str, **attributes: object) -> Package:
    """One unit of weight 1, `Ann eats fish now.`, and a candidate of 4 words that says it."""
    text = "Ann eats fish now."
    return package(
        "c:e:4",
        {"u": {"text": text, "weight": 1}},
        [("c", "u", 1)],
        texts={"c": text},
        name=name,
        cost_rule="words",
        attributes=attributes,
    )


def exported(*memories: Memory, name: str = "s", **more: object) -> ExportedStore:
    data = {"name": name, "origin": Origin(system="x", format="plain"), "memories": memories}
    return ExportedStore.model_validate(data | more)


TEXTS = ("has a cat", "sold a boat", "likes tea", "eats fish")


@st.composite
def judged_problems(draw: st.DrawFn) -> tuple[Package, list[JudgedStore]]:
    """A package of any h and group cap, with one or two stores: equal texts in both and in the
    package, counted once or each; files with entries, cheaper or more expensive than those."""
    problem = draw(packages(max_groups=2, max_candidates=2, max_units=3))
    if draw(st.booleans()):
        texts = st.sampled_from(TEXTS)
        named = [one.model_copy(update={"text": draw(texts)}) for one in problem.candidates]
        once = distinct_texts(problem.experiences, named, problem.coverage)
        problem = problem.replace(
            experiences=once.experiences,
            candidates=once.candidates,
            coverage=once.coverage,
            equal_texts_once=True,
        )
    shares = st.dictionaries(
        st.sampled_from([unit.id for unit in problem.units]), st.sampled_from(["1/3", "1/2", "1"])
    )
    covers = {text: draw(shares) for text in TEXTS}  # one judge: a text covers what it covers
    found = [draw(_stores_of_files(name, covers)) for name in draw(st.sampled_from(["a", "ab"]))]
    return problem, found


@st.composite
def _stores_of_files(draw: st.DrawFn, name: str, covers: dict[str, dict[str, str]]) -> JudgedStore:
    costs, timed = st.sampled_from(COSTS), draw(st.booleans())
    memories: list[WrittenMemory] = []
    files: dict[str, list[WrittenMemory]] = {}
    for n in range(draw(st.integers(0, 3))):
        text, file = draw(st.sampled_from(TEXTS)), draw(st.sampled_from([None, None, "x", "y"]))
        one = replace(memory(f"m{n}", 0, text, **covers[text]), cost=draw(costs))
        if file is not None:
            inside = files.setdefault(file, [])
            one = replace(one, document=file, first_line=len(inside) + 1, has_order=timed)
            inside.append(one)
        memories.append(one)
    documents = [
        WrittenDocument(
            file,
            draw(st.sampled_from(("file: " + " ".join(one.text for one in entries), *TEXTS))),
            draw(costs),
            tuple(one.id for one in entries),
        )
        for file, entries in files.items()
    ]
    return JudgedStore(name, tuple(memories), documents=tuple(documents))


@st.composite
def stores(draw: st.DrawFn, name: str) -> JudgedStore:
    """A few memories over the units of MEALS."""
    covers = st.dictionaries(
        st.sampled_from(["now", "ended", "once"]), st.sampled_from(["0.5", "1"])
    )
    drawn = draw(st.lists(st.tuples(st.integers(1, 6), covers), max_size=5))
    return JudgedStore(
        name, tuple(memory(f"m{n}", cost, **cells) for n, (cost, cells) in enumerate(drawn))
    )
