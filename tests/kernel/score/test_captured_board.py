"""The board of real systems: the command of docs/scoring.md, run as it stands there."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.running import done, printed_json
from tests.conversations.files import real_file

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[3] / "docs" / "scoring.md"
NAMES = {
    "Letta, entries, run 1": "letta-1",
    "Letta, entries, run 2": "letta-2",
    "Letta run 1, the block as one memory": "letta-1-block",
    "Letta run 1, bare lines": "letta-1-lines",
    "Mem0 2.2.1, run 1": "mem0-1",
    "Mem0 2.2.1, run 2": "mem0-2",
    "LangMem, run 1": "langmem-1",
    "LangMem, run 2": "langmem-2",
    "Mem0 of 2025": "mem0-2025",
    "LoCoMo's notes": "notes",
}


def commands(page: str, packages: Path) -> list[list[str]]:
    """The two commands of the section, with real paths."""
    text = re.search(r"```\n(memaudit build locomo10.*?)```", page, re.DOTALL)
    assert text is not None
    captures = real_file("captures/conv-26/memories.jsonl").parent
    labels = real_file("labels/locomo_conv26/memories.jsonl").parent
    places = {
        r"\bE/": f"{captures}/exports/",
        r"\bC/": f"{captures}/",
        r"\bL/": f"{labels}/",
        r"\blocomo10\.json": str(real_file("locomo/locomo10.json")),
        r"\blocomo_conv26_memories\.jsonl": str(
            real_file("stores/mem0/locomo_conv26_memories.jsonl")
        ),
        r"\bpackages\b": str(packages),
    }
    found = text[1].replace("\\\n", " ")
    for name, path in places.items():
        found = re.sub(name, path, found)
    return [shlex.split(line)[1:] for line in found.splitlines()]


def test_the_board_of_the_documentation(tmp_path: Path) -> None:
    """Complete, lean and cost of whole stores, and best subsets over a certified optimum, to the
    printed digits."""
    page = PAGE.read_text()
    build, score = commands(page, tmp_path / "built")
    done(*build)
    data = printed_json(*score, "--json")
    rows, verdicts = data["scores"], {row["store"]: row for row in data["verdicts"]}
    assert all(row["optimum"]["certified"] for row in rows)
    optima = {row["budget"]: row["optimum"]["value"] for row in rows}
    assert optima == {250: 79, 500: 126.5, 1000: 187.5, 2000: 235.5, 4000: 237.5}
    table = dict(re.findall(r"^\| ([^|]*?) \| ([\d.|, ]+) \|$", page, re.MULTILINE))
    for title, name in NAMES.items():
        printed = [float(cell.replace(",", "")) for cell in table[title].split("|")]
        whole = verdicts[name]
        best = [row["best_subset"]["ratio"] for row in rows if row["store"] == name]
        shown = [whole["complete"]["value"], whole["lean"]["value"], whole["cost"], *best]
        assert shown == pytest.approx(printed, abs=0.0006), title
