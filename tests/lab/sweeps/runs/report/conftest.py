"""Small real runs to report on: a plain one, one without OPT, and one full of attacks."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.package.package import Package
from memaudit.lab.sweeps.generators import registry
from memaudit.lab.sweeps.runs.report.page import build_report
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.sweep import RUN, run
from memaudit.workspace.engines import Serial
from memaudit.workspace.journal import read_journal, to_line
from memaudit.workspace.run_folder import ROWS

WRITERS = ("opt", "greedy", "no_tombstone_opt", "mem0_style", "random_feasible", "recency_raw")

ATTACK = (
    "</style></title></svg></script><script>alert(1)</script>\"><img src=x onerror=alert(1)>'>"
    "<a href=javascript:alert(1)><!-- x --> {{7*7}} {% for x in y %} }body{display:none} &lt;b&gt; "
    "\x00\x1b[31m\u202egnp.exe\u2066 "
)
SHOWN = ATTACK.replace("\x00\x1b[31m\u202e", r"\x00\x1b[31m\u202e").replace("\u2066", r"\u2066")
"""The attack as a reader has to see it."""


@dataclass(frozen=True)
class Hostile:
    """A distribution whose every text attacks the page."""

    name: str = f"hostile {ATTACK.replace(':', '')}"
    about: str = ATTACK
    draws: bool = True

    def package(self, seed: int) -> Package:
        def text(place: str) -> str:
            return f"{place}{seed} {ATTACK}"

        experiences = [
            {
                "id": text(f"e{i}"),
                "text": text("said"),
                "session": text("session"),
                "timestamp": text("time") + "<!--",
                "speaker": text("speaker"),
            }
            for i in range(2)
        ]
        candidates = [
            {
                "id": text(f"c{i}"),
                "experience": text(f"e{i % 2}"),
                "kind": text(f"kind{i}"),
                "text": text("memory"),
                "cost": 1 + i,
            }
            for i in range(3)
        ]
        units = [
            {"id": text(f"u{i}"), "kind": text(f"sort{i}"), "text": text("unit"), "weight": 1 + i}
            for i in range(2)
        ]
        coverage = [
            {"candidate": text("c0"), "unit": text("u0"), "value": 0.5},
            {"candidate": text("c1"), "unit": text("u1"), "value": 1},
            {"candidate": text("c2"), "unit": text("u0"), "value": 1},
        ]
        return Package.model_validate(
            {
                "name": text("package"),
                "experiences": experiences,
                "candidates": candidates,
                "units": units,
                "coverage": coverage,
            }
        )


def rewrite(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change every row of a run, checksums and all."""
    rows = list(read_journal(folder / ROWS))
    for row in rows:
        change(row)
    (folder / ROWS).write_text("".join(map(to_line, rows)))


@pytest.fixture(scope="session")
def plain_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two distributions, one of them without draws, three budgets, six writers."""
    folder = tmp_path_factory.mktemp("plain")
    spec = RunSpec(("base", "update_chain"), (0, 1, 2), ("2", "0.08", "9"), WRITERS)
    run(spec, folder, Serial())
    return folder


@pytest.fixture(scope="session")
def run_without_opt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("no-opt")
    spec = RunSpec(("base", "update_chain"), (0, 1, 2), ("2", "0.08", "9"), WRITERS[1:])
    run(spec, folder, Serial())
    return folder


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a run in which every text, and a writer's name, is an attack."""
    folder = tmp_path_factory.mktemp("hostile")
    hostile = Hostile()
    registry.DISTRIBUTIONS[hostile.name] = hostile
    try:
        run(RunSpec((hostile.name,), (0, 1), ("2", "3"), WRITERS), folder, Serial())
        manifest = json.loads((folder / RUN).read_text())
        manifest["spec"]["writers"][-1] = ATTACK
        (folder / RUN).write_text(json.dumps(manifest))

        def attack(row: dict[str, Any]) -> None:
            if row["writer"] == WRITERS[-1]:
                row |= {"writer": ATTACK, "failed": f"failed {ATTACK}", "store": [], "kinds": {}}
                row |= {"value": None, "ratio": None, "cost": None, "unit_values": {}}

        rewrite(folder, attack)
        yield build_report(folder, title=f"title {ATTACK}")
    finally:
        registry.DISTRIBUTIONS.pop(hostile.name, None)  # pages of two suites use it
        registry.named_distribution.cache_clear()


@pytest.fixture(scope="session")
def plain_page(plain_run: Path) -> str:
    return build_report(plain_run)
