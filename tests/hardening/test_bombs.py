"""Small files that ask for much: each is a few megabytes, and would cost hours or gigabytes."""

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.hardening.box import Box
from tests.hardening.targets import FULL, lines

pytestmark = pytest.mark.slow

Row = dict[str, object]
Bomb = tuple[Callable[[Path], object], tuple[str, ...]]
"""What writes the files, and the commands that read them."""

BOMBS: dict[str, Bomb] = {}


def bomb(*commands: str) -> Callable[[Callable[[Path], object]], Callable[[Path], object]]:

    def register(make: Callable[[Path], object]) -> Callable[[Path], object]:
        BOMBS[make.__name__.replace("_", " ")] = (make, commands)
        return make

    return register


def _package(folder: Path, **changes: object) -> None:
    """A one-file package; tables not given are nearly empty."""
    rows: Row = {
        "format": "memaudit-package",
        "version": 1,
        "name": "bomb",
        "experiences": [{"id": "e"}],
        "candidates": [{"id": "m", "experience": "e", "kind": "raw", "cost": 1}],
        "units": [{"id": "u", "kind": "fact"}],
    }
    (folder / "p.json").write_text(json.dumps({**rows, **changes}))


def _odd(count: int) -> list[int]:
    """Long numbers that share no factor worth speaking of."""
    dice = random.Random(1)
    return [dice.randrange(10**57, 10**58) | 1 for _ in range(count)]


READ = ("package validate {in}/p.json", "package show {in}/p.json")


@bomb(*READ)
def importances_without_a_common_denominator(folder: Path) -> None:
    asked = {"required": ["u"]}
    odd = _odd(20_000)
    _package(folder, queries=[{"id": f"{n}", **asked, "importance": f"1/{n}"} for n in odd])


@bomb(*READ)
def costs_without_a_common_denominator(folder: Path) -> None:
    raw = {"experience": "e", "kind": "raw"}
    _package(folder, candidates=[{"id": f"{n}", **raw, "cost": f"1/{n}"} for n in _odd(20_000)])


@bomb(*READ)
def coverage_without_a_common_denominator(folder: Path) -> None:
    odd = _odd(20_000)
    cells = [{"candidate": "m", "unit": f"{n}", "value": f"1/{n}"} for n in odd]
    _package(
        folder, units=[{"id": f"{n}", "kind": "fact", "weight": 1} for n in odd], coverage=cells
    )


@bomb(*READ)
def responses_with_many_points(folder: Path) -> None:
    points = [[place + 1, f"{10**6 - 10**6 // (place + 2)}"] for place in range(50_000)]
    response = {"shape": "piecewise", "points": points}
    _package(folder, units=[{"id": "u", "kind": "fact", "weight": 1, "response": response}])


@bomb(*READ)
def slopes_without_a_common_denominator(folder: Path) -> None:
    """Whole numbers throughout: the slopes between them are not."""
    units = []
    for unit in range(100):
        x = 0
        points: list[list[str]] = []
        for number in sorted(_odd(200)):
            x += number // 1000 + unit
            points.append([str(x), f"{len(points) + 1}"])
        response = {"shape": "piecewise", "points": points}
        units.append({"id": f"u{unit}", "kind": "fact", "weight": 1, "response": response})
    _package(folder, units=units)


@bomb(*READ)
def broken_rows_and_rows_that_name_them(folder: Path) -> None:
    candidates = [
        {"id": f"m{n}", "experience": "e", "kind": "raw", "cost": "x"} for n in range(20_000)
    ]
    cells = [{"candidate": f"m{n}", "unit": "u", "value": 1} for n in range(20_000)]
    _package(folder, candidates=candidates, coverage=cells)


@bomb(*READ)
def one_long_id(folder: Path) -> None:
    _package(folder, units=[{"id": "u" * 3_000_000, "kind": "fact", "weight": -1}])


@bomb(*READ)
def wide_and_deep(folder: Path) -> None:
    """Millions of tiny values, under the limit of nesting."""
    _package(folder, attributes={"x": [[[] for _ in range(1000)] for _ in range(200)]})


def _published(folder: Path, **tables: list[Row]) -> None:
    """The published layout; tables not given are empty."""
    (folder / "a").mkdir()
    for name in (
        "experiences",
        "candidate_memories",
        "evidence_units",
        "queries",
        "coverage_matrix",
    ):
        (folder / "a" / f"{name}.jsonl").write_bytes(lines(tables.get(name, [])))


@bomb("package validate {in}/a")
def ids_of_many_parts(folder: Path) -> None:
    units: list[Row] = [{"unit_id": "::" * 700_000}]
    _published(folder, queries=[{"query_id": "q"}], evidence_units=units)


@bomb("package validate {in}/a")
def manifest_repeated_in_every_package(folder: Path) -> None:
    _published(folder, queries=[{"query_id": f"q{n}", "query": "x"} for n in range(5000)])
    manifest = {"prompt": ["x" * 100] * 10_000}
    (folder / "a" / "candidate_generation_manifest.json").write_text(json.dumps(manifest))


@bomb("package validate {in}/b", "audit built {in}/b")
def build_that_lists_one_file_often(folder: Path) -> None:
    (folder / "b").mkdir()
    _package(folder)
    (folder / "p.json").rename(folder / "b" / "p.json")
    rows = [{"file": "p.json", "name": "p"}] * 100_000
    data = {"format": "memaudit-build", "version": 1, "packages": rows}
    (folder / "b" / "manifest.json").write_text(json.dumps(data))


@bomb("import {in}/x.jsonl --out {out}/s.json")
def one_id_for_all_memories(folder: Path) -> None:
    rows: list[Row] = [{"id": "a", "text": f"text {place}"} for place in range(40_000)]
    (folder / "x.jsonl").write_bytes(lines(rows))


@bomb("import {in}/x.jsonl --out {out}/s.json")
def example_repeated_in_every_memory(folder: Path) -> None:
    memories = [{"memory_id": f"m{place}", "text": "x"} for place in range(20_000)]
    row: Row = {"instance_id": "e" * 1_000_000, "memories": memories}
    (folder / "x.jsonl").write_bytes(lines([row, {"instance_id": "f", "memories": []}]))


@bomb("import {in}/x.af --view lines --out {out}/s.json")
def block_repeated_in_every_line(folder: Path) -> None:
    block = {"id": "b", "label": "human", "value": "a\n" * 300_000, "metadata": {"x": "y" * 10**6}}
    data = {"agents": [], "blocks": [block]}
    (folder / "x.af").write_text(json.dumps(data))


@bomb("import {in}/m --view lines --out {out}/s.json", "import {in}/m --out {out}/t.json")
def front_matter_of_many_lines(folder: Path) -> None:
    (folder / "m").mkdir()
    text = "---\nname: x\n" + "  more\n" * 200_000 + "---\n" + "line\n" * 5000
    (folder / "m" / "a.md").write_text(text)


@bomb("import {in}/x.txt --out {out}/s.json")
def status_without_end(folder: Path) -> None:
    (folder / "x.txt").write_text("no memories " + "_" * 200_000 + "-")


@bomb("import langgraph {in}/x.db --out {out}/s.json")
def column_that_computes_gigabytes(folder: Path) -> None:
    """Rows are read in the order of `rowid`, which here is an expression of the file's author."""
    with closing(sqlite3.connect(folder / "x.db")) as link:
        link.execute(
            "CREATE TABLE store (prefix TEXT, key TEXT, value TEXT, rowid TEXT GENERATED ALWAYS AS"
            " (hex(zeroblob(300000000))) VIRTUAL)"
        )
        link.execute("INSERT INTO store VALUES ('a', 'b', '{\"content\": \"c\"}')")
        link.commit()


@bomb("package inspect {in}/x.jsonl")
def one_id_for_all_turns(folder: Path) -> None:
    rows: list[Row] = [{"conversation": "c"}]
    rows += [{"id": "t", "text": f"text {place}"} for place in range(30_000)]
    (folder / "x.jsonl").write_bytes(lines(rows))


@bomb("build {in}/x.jsonl --out {out}/b")
def text_of_blanks(folder: Path) -> None:
    (folder / "x.jsonl").write_bytes(lines([{"text": "a" + " " * 400_000 + "b"}]))


@bomb("build {in}/x.jsonl --out {out}/b")
def sentences_that_never_end(folder: Path) -> None:
    (folder / "x.jsonl").write_bytes(lines([{"text": "1. " * 200_000}]))


@bomb("package inspect locomo {in}/x.json")
def sessions_without_number(folder: Path) -> None:
    talk: Row = {f"session_{place}": [] for place in range(60_000)}
    talk |= {f"other_{place}": [] for place in range(60_000)}
    (folder / "x.json").write_text(json.dumps([{"conversation": talk, "qa": []}]))


@bomb("build {in}/talk.jsonl --units {in}/u.csv --out {out}/b")
def list_of_blanks(folder: Path) -> None:
    (folder / "talk.jsonl").write_bytes(lines([{"conversation": "c"}, {"id": "t", "text": "hi"}]))
    blanks = "t" + " " * 400_000 + "t"
    (folder / "u.csv").write_text(f"conversation,unit_id,kind,text,turns\nc,u,fact,x,{blanks}\n")


@bomb("reader:store {in}/s.json")
def store_nested_just_below_the_parser(folder: Path) -> None:
    deep = "[" * 900 + "]" * 900
    (folder / "s.json").write_text(f'{{"format": "memaudit-store", "x": {deep}}}')


def _certificate(folder: Path, proof: list[int]) -> None:
    """A package, and a certificate with this proof whose claims hold up to there."""
    from memaudit import solve
    from memaudit.kernel.io.packages import write_package

    best = solve(FULL, budget=3).certificate
    assert best is not None
    write_package(FULL, folder / "p.json")
    (folder / "c.json").write_text(json.dumps({**best.to_json(), "proof": proof}))


@bomb("verify {in}/p.json {in}/c.json")
def proof_of_many_words(folder: Path) -> None:
    _certificate(folder, [2, 1] * 500_000)


@bomb("verify {in}/p.json {in}/c.json")
def proof_of_many_prices(folder: Path) -> None:
    prices = [number for place in range(200_000) for number in (place, place, 10**200)]
    _certificate(folder, [3, 200_000, *prices] + [5] * 1000)


@bomb("verify {in}/p.json {in}/c.json")
def proof_with_one_long_number(folder: Path) -> None:
    """All numbers of a block become as long as the budget's price: gigabytes, were it allowed."""
    from memaudit.kernel.io.packages import write_package
    from tests.proofs import certificate, package

    dice, count = random.Random(1), 33
    names = [f"{place:02}" for place in range(count)]
    cells = [
        (f"c{one}", f"u{names[other]}", 1)
        for place, one in enumerate(names)
        for other in {place, *dice.sample(range(count), 3)}
    ]
    problem = package(
        " ".join(f"c{one}:e{one}:1" for one in names), {f"u{one}": 1 for one in names}, cells
    )
    block = (tuple(range(count)), tuple(range(count)))
    proof = (6, 0, 2, 10**4299, 4, 0, 0, 0)
    claim = certificate(problem, 3, 0, "", *proof, layouts=((block,),))
    write_package(problem, folder / "p.json")
    (folder / "c.json").write_text(json.dumps(claim.to_json()))


@bomb("verify {in}/p.json {in}/c.json")
def thousands_of_candidates_of_one_experience(folder: Path) -> None:
    """None of them can replace another."""
    from memaudit import solve
    from memaudit.kernel.io.packages import read_package

    count = 12_000
    rows = [
        {"id": f"m{place}", "experience": "e", "kind": "raw", "cost": 3} for place in range(count)
    ]
    cells = [
        {"candidate": f"m{place}", "unit": unit, "value": f"{level}/{count + 1}"}
        for place in range(count)
        for unit, level in (("u", place * 7919 % count + 1), ("v", count - place * 7919 % count))
    ]
    units = [{"id": id, "kind": "fact", "weight": 1} for id in "uv"]
    _package(folder, candidates=rows, units=units, coverage=cells)
    best = solve(read_package(folder / "p.json"), budget=6).certificate
    assert best is not None
    (folder / "c.json").write_text(json.dumps(best.to_json()))


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_bomb(bomb: Bomb, box: Box) -> None:
    """Neither a minute nor a gigabyte and a half; one line or a counted result."""
    make, commands = bomb
    box.run(make, [command.split(" ") for command in commands])
