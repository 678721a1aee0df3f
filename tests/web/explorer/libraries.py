"""Small libraries on disk: a plain one with one thing of every kind, and one full of attacks."""

import json
from pathlib import Path
from typing import Any

from memaudit.adapters.store import ExportedStore, Memory, Origin, write_store
from memaudit.core.package import Package
from memaudit.experiments.engines.local import Serial
from memaudit.experiments.spec import RunSpec
from memaudit.experiments.summary import summarise
from memaudit.experiments.sweep import RUN, run
from memaudit.generators.registry import named_distribution
from memaudit.io.certificates import write_certificates
from memaudit.io.journal import read_journal, to_line
from memaudit.io.packages import write_package
from memaudit.io.published_folder import write_artifact
from memaudit.io.run_folder import ROWS
from memaudit.io.strict_json import json_text
from memaudit.natural.named_packages import natural_set
from memaudit.solvers.solve import solve
from tests.report.run_report.conftest import ATTACK, Hostile
from tests.web.annotate.small_frames import frame_folder

WRITERS = ("opt", "greedy", "mem0_style", "random_feasible", "recency_raw")

CORPUS = (
    ATTACK,
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>",
    "</script><script>alert(1)</script>", "</title><h1>x</h1>", "'\"><iframe src=//evil.example>",
    "<style>body{display:none}</style>", "}body{display:none}", "@import url(//evil.example/x.css)",
    "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "//evil.example/x",
    "../../../etc/passwd", "..\\..\\x", "%2e%2e%2f", "a/b?c#d&e=f", "{{ 7*7 }} ${7*7} <%= 7 %>",
    "]]><!--", "&lt;b&gt; &amp;", "\u202egnp.exe\u2066", "\u200b\u200d\ufeff", "W" * 900,
    "__proto__", "constructor", "\x07\x1b[31m",
)  # fmt: skip
"""Script, markup, CSS, URLs, paths, templates, bidi controls and names that scripts know."""


IN_FIVES = tuple(" ".join(CORPUS[start : start + 5]) for start in range(0, len(CORPUS), 5))
"""The same in fewer texts: a browser takes its time over every page."""


def plain_library(folder: Path) -> Path:
    """One thing of every kind, and files that cannot be read."""
    packages = {package.name: package for package in natural_set()}
    hotel, knee = packages["hotel-rooms"], packages["new-knee"]
    build = folder / "natural"
    build.mkdir(parents=True)
    rows = []
    for package in (hotel, knee):
        write_package(package, build / f"{package.name}.json")
        rows.append({"name": package.name, "file": f"{package.name}.json"})
    manifest = {"format": "memaudit-build", "version": 1, "packages": rows}
    (build / "manifest.json").write_text(json_text(manifest))
    write_package(packages["puppy-name"], folder / "tables")
    write_artifact([packages["cv-gaps"]], folder / "published")
    write_package(named_distribution("base").package(1), folder / "base-1.json")
    spec = RunSpec(("base", "update_chain"), (0, 1, 2), ("2", "4"), WRITERS)
    run(spec, folder / "a-run", Serial())
    summarise(folder / "a-run")
    memories = (
        Memory(id="m1", text="Ingrid wants hotel rooms away from the lift.", example="hotel-rooms"),
        Memory(id="m2", text="She had tea.", example="hotel-rooms"),
    )
    store = ExportedStore(name="notes", origin=Origin(system="own", format="plain"),
                          memories=memories)  # fmt: skip
    write_store(store, folder / "notes.json")
    best = [solve(hotel, budget).certificate for budget in (12, 24)]
    write_certificates([one for one in best if one], folder / "proofs.json")
    frame_folder(folder / "frame", 6)
    (folder / "broken.json").write_text('{"format": "memaudit-package", "name": ')
    (folder / "wrong.json").write_text('{"format": "memaudit-package", "version": 1, "name": "w"}')
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "foreign.json").write_text('{"name": "left-pad"}')
    return folder


def large_package(candidates: int, units: int) -> Package:
    """Candidate c covers the unit at the same share of the way, and nothing else."""
    cells = [
        {"candidate": f"c{i:04}", "unit": f"u{i * units // candidates:03}", "value": 1}
        for i in range(candidates)
    ]
    return Package.model_validate({
        "name": "large",
        "experiences": [{"id": f"e{i:04}", "text": f"message {i}"} for i in range(candidates // 4)],
        "candidates": [
            {"id": f"c{i:04}", "experience": f"e{i // 4:04}", "kind": "fact", "cost": 1,
             "text": f"memory {i}"}
            for i in range(candidates)
        ],
        "units": [{"id": f"u{i:03}", "kind": "fact", "weight": 1, "text": f"unit {i}"}
                  for i in range(units)],
        "coverage": cells,
    })  # fmt: skip


def hostile_package(text: str, number: int) -> Package:
    """A package in which every field of text is the attack."""

    def said(place: str) -> str:
        return f"{place} {text}"

    data: dict[str, Any] = {
        "name": f"{number} {text}", "cost_rule": "declared", "budgets": [2, 3],
        "attributes": {text: text},
        "experiences": [
            {"id": said(f"e{i}"), "text": said("said"), "session": said("session"),
             "timestamp": said("time"), "speaker": said("speaker"), "attributes": {text: text}}
            for i in range(2)
        ],
        "candidates": [
            {"id": said(f"c{i}"), "experience": said(f"e{i % 2}"), "kind": said(f"kind{i}"),
             "text": said("memory"), "cost": 1 + i, "generator": text}
            for i in range(3)
        ],
        "units": [
            {"id": said(f"u{i}"), "kind": said(f"sort{i}"), "text": said("unit"),
             "timestamp": text, "sources": [{"id": text, "session": text, "text": said("quote")}]}
            for i in range(2)
        ],
        "queries": [
            {"id": said(f"q{i}"), "text": said("asked"), "answer": said("answer"),
             "kind": said("sort"), "required": [said(f"u{i}")]}
            for i in range(2)
        ],
        "coverage": [
            {"candidate": said("c0"), "unit": said("u0"), "value": 0.5, "label": text,
             "rationale": said("why"), "provenance": text},
            {"candidate": said("c1"), "unit": said("u1"), "value": 1},
            {"candidate": said("c2"), "unit": said("u0"), "value": 1},
        ],
    }  # fmt: skip
    return Package.model_validate(data)


def hostile_library(folder: Path, corpus: tuple[str, ...] = CORPUS) -> Path:
    """Every attack in every field of a package; the worst in a run, a store and a file name too."""
    from memaudit.generators import registry

    folder.mkdir()
    for number, text in enumerate(corpus):
        package = hostile_package(text, number)
        write_package(package, folder / f"{number}.json")
        memories = (Memory(id=f"m {text}", text=f"memory {text}", example=package.name),)
        store = ExportedStore(name=f"store {text}", origin=Origin(system=text, format=text),
                              memories=memories, warnings=(text,))  # fmt: skip
        write_store(store, folder / f"store-{number}.json")
    write_package(hostile_package("x", 99), folder / "<img src=x onerror=alert(1)>\u202e.json")
    (folder / "bad <b>.json").write_text("{<script>alert(1)</script>")
    hostile = Hostile()
    registry.DISTRIBUTIONS[hostile.name] = hostile
    try:
        run(RunSpec((hostile.name,), (0, 1), ("2", "3"), WRITERS), folder / "run", Serial())
    finally:
        registry.DISTRIBUTIONS.pop(hostile.name, None)  # pages of two suites use it
        registry.named_distribution.cache_clear()
    _rename_writer(folder / "run")
    return folder


def _rename_writer(folder: Path) -> None:
    """The last writer of the run gets an attack for a name, and fails with another."""
    manifest = json.loads((folder / RUN).read_text())
    manifest["spec"]["writers"][-1] = ATTACK
    (folder / RUN).write_text(json.dumps(manifest))
    rows = list(read_journal(folder / ROWS))
    for row in rows:
        if row["writer"] == WRITERS[-1]:
            row |= {"writer": ATTACK, "failed": f"failed {ATTACK}", "store": [], "kinds": {}}
            row |= {"value": None, "ratio": None, "cost": None, "unit_values": {}}
    (folder / ROWS).write_text("".join(map(to_line, rows)))
