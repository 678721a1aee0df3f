"""Small libraries on disk: one entry of every kind, the records of docs/scoring.md, and attacks."""

import json
from pathlib import Path
from typing import Any

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.certificates import write_certificates
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.store_file import ExportedStore, ImportCount, Memory, Origin, write_store
from memaudit.kernel.io.strict_json import json_text
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.downstream.answers import AnswerVerdict
from memaudit.lab.downstream.diagnosis_files import LOST_BY, MEASURES, Outcome
from memaudit.lab.downstream.evidence_trace import EvidenceStage
from memaudit.lab.downstream.outcomes import TABLE
from memaudit.lab.sweeps.generators.registry import named_distribution
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.summary import summarise
from memaudit.lab.sweeps.runs.sweep import RUN, run
from memaudit.workspace.engines import Serial
from memaudit.workspace.journal import read_journal, to_line
from memaudit.workspace.run_folder import ROWS
from tests.cli.running import run as run_command
from tests.lab.sweeps.runs.report.conftest import ATTACK, Hostile
from tests.published_layout import write_artifact

WRITERS = ("opt", "greedy", "mem0_style", "random_feasible", "recency_raw")

CORPUS = (
    ATTACK,
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "</script><script>alert(1)</script>",
    "</title><h1>x</h1>",
    "'\"><iframe src=//evil.example>",
    "<style>body{display:none}</style>",
    "}body{display:none}",
    "@import url(//evil.example/x.css)",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "//evil.example/x",
    "../../../etc/passwd",
    "..\\..\\x",
    "%2e%2e%2f",
    "a/b?c#d&e=f",
    "{{ 7*7 }} ${7*7} <%= 7 %>",
    "]]><!--",
    "&lt;b&gt; &amp;",
    "\u202egnp.exe\u2066",
    "\u200b\u200d\ufeff",
    "W" * 900,
    "__proto__",
    "constructor",
    "\x07\x1b[31m",
)
"""Script, markup, CSS, URLs, paths, templates, bidi controls and names that scripts know."""


IN_FIVES = tuple(" ".join(CORPUS[start : start + 5]) for start in range(0, len(CORPUS), 5))
"""The same in fewer texts: a browser takes its time over every page."""


def plain_library(folder: Path) -> Path:
    """One thing of every kind, and files that cannot be read."""
    packages = {package.name: package for package in short_set()}
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
    store = ExportedStore(
        name="notes", origin=Origin(system="own", format="plain"), memories=memories
    )
    write_store(store, folder / "notes.json")
    best = [solve(hotel, budget).certificate for budget in (12, 24)]
    write_certificates([certificate for certificate in best if certificate], folder / "proofs.json")
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
    return Package.model_validate(
        {
            "name": "large",
            "experiences": [
                {"id": f"e{i:04}", "text": f"message {i}"} for i in range(candidates // 4)
            ],
            "candidates": [
                {
                    "id": f"c{i:04}",
                    "experience": f"e{i // 4:04}",
                    "kind": "fact",
                    "cost": 1,
                    "text": f"memory {i}",
                }
                for i in range(candidates)
            ],
            "units": [
                {"id": f"u{i:03}", "kind": "fact", "weight": 1, "text": f"unit {i}"}
                for i in range(units)
            ],
            "coverage": cells,
        }
    )


def hostile_package(text: str, number: int) -> Package:
    """A package in which every field of text is the attack."""

    def said(place: str) -> str:
        return f"{place} {text}"

    data: dict[str, Any] = {
        "name": f"{number} {text}",
        "cost_rule": "declared",
        "budgets": [2, 3],
        "attributes": {text: text},
        "experiences": [
            {
                "id": said(f"e{i}"),
                "text": said("said"),
                "session": said("session"),
                "timestamp": said("time"),
                "speaker": said("speaker"),
                "attributes": {text: text},
            }
            for i in range(2)
        ],
        "candidates": [
            {
                "id": said(f"c{i}"),
                "experience": said(f"e{i % 2}"),
                "kind": said(f"kind{i}"),
                "text": said("memory"),
                "cost": 1 + i,
                "generator": text,
            }
            for i in range(3)
        ],
        "units": [
            {
                "id": said(f"u{i}"),
                "kind": said(f"sort{i}"),
                "text": said("unit"),
                "timestamp": text,
                "sources": [{"id": text, "session": text, "text": said("quote")}],
            }
            for i in range(2)
        ],
        "queries": [
            {
                "id": said(f"q{i}"),
                "text": said("asked"),
                "answer": said("answer"),
                "kind": said("sort"),
                "required": [said(f"u{i}")],
            }
            for i in range(2)
        ],
        "coverage": [
            {
                "candidate": said("c0"),
                "unit": said("u0"),
                "value": 0.5,
                "label": text,
                "rationale": said("why"),
                "provenance": text,
            },
            {"candidate": said("c1"), "unit": said("u1"), "value": 1},
            {"candidate": said("c2"), "unit": said("u0"), "value": 1},
        ],
    }
    return Package.model_validate(data)


def hostile_library(folder: Path, corpus: tuple[str, ...] = CORPUS) -> Path:
    """Every attack in every field of packages and records, and one in a run and a file name."""
    from memaudit.lab.sweeps.generators import registry

    folder.mkdir()
    for number, text in enumerate(corpus):
        package = hostile_package(text, number)
        write_package(package, folder / f"{number}.json")
        memories = (Memory(id=f"m {text}", text=f"memory {text}", example=package.name),)
        store = ExportedStore(
            name=f"store {text}",
            origin=Origin(system=text, format=text),
            memories=memories,
            warnings=(text,),
        )
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
    hostile_records(folder / "records", corpus)
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


NOTES = (
    "Ingrid wants hotel rooms away from the lift.",
    "Ingrid never wants breakfast booked.",
    "Feather pillows make Ingrid sneeze.",
    "Stayed in Rotterdam on 4 February and found the minibar dear.",
)
DIGEST = (
    "Ingrid's usual hotel requests, whatever the city: hotel rooms away from the lift, foam "
    "pillows, and never any breakfast booked.",
    "A man called Anders works at the hotel in Gothenburg.",
)
"""The stores of docs/scoring.md."""


def exported(name: str, texts: tuple[str, ...], example: str | None = None) -> ExportedStore:
    memories = tuple(
        Memory(id=f"{name}-{number}", text=text, example=example, metadata={"turn": number})
        for number, text in enumerate(texts, start=1)
    )
    return ExportedStore(
        name=name,
        origin=Origin(system="own notes", format="plain"),
        memories=memories,
        count=ImportCount(read=len(texts) + 3, kept=len(texts), skipped={"no text": 3}),
        warnings=("truncated: the list may go on",) if name == "digest" else (),
    )


def json_output(*arguments: object) -> str:
    result = run_command(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return result.stdout


def records_library(folder: Path) -> Path:
    """The stores of docs/scoring.md, judged by shared words, and what comes of that, all made by
    the commands."""
    packages = {package.name: package for package in short_set()}
    for name in ("packages", "stores", "named", "scores"):
        (folder / name).mkdir(parents=True)
    rows = [{"name": name, "file": f"{name}.json"} for name in ("hotel-rooms", "film-night")]
    for row in rows:
        write_package(packages[row["name"]], folder / "packages" / row["file"])
    manifest = {"format": "memaudit-build", "version": 1, "packages": rows}
    (folder / "packages" / "manifest.json").write_text(json.dumps(manifest))
    for name, texts in (("notes", NOTES), ("digest", DIGEST)):
        write_store(exported(name, texts), folder / "stores" / f"{name}.json")
        write_store(exported(name, texts, "hotel-rooms"), folder / "named" / f"{name}.json")
    hotel, stores = folder / "packages" / "hotel-rooms.json", folder / "stores"
    pair, judge = (stores / "notes.json", stores / "digest.json"), ("--judge", "lexical")
    score = ("score", hotel, *pair, *judge, "--budget", "12,24")
    (folder / "scores" / "cells.json").write_text(json_output(*score, "--explain", "cells"))
    (folder / "scores" / "plain.json").write_text(json_output(*score))
    many = ("score", folder / "packages", folder / "named" / "notes.json", *judge, "--budget", "24")
    (folder / "scores" / "many.json").write_text(json_output(*many))
    done = run_command(
        "diagnose",
        hotel,
        *pair,
        *judge,
        "--budget",
        "24",
        "--writer",
        "gvt",
        "--out",
        folder / "diagnosis",
    )
    assert done.exit_code == 0, done.output
    return folder


def sheet_data(package: str, text: str, lost: bool = True) -> dict[str, Any]:
    """The scores of one store, with a text in every field: 8 of OPT, a quarter lost at each step
    but one."""
    ratio = {
        "value": None,
        "undefined": text,
        "between": [0.25, 0.5],
        "optimum": 8.0,
        "certified": False,
        "bound": 9.0,
        "digest": text,
    }
    part = {"value": 2.0, "cost": 1, "memories": 1, "ratio": 0.25}
    optimum = {"value": 8.0, "certified": False, "bound": 9.0, "digest": text}
    loss = {"share": "1/4", "value": 2.0, "units": [[f"unit {text}", 2.0]], "queries": [text]}
    losses: dict[str, Any] = {
        step: {**loss, "more_units": 5} for step in ("generation", "extraction", "cost")
    }
    losses["selection"] = {"share": "0", "value": 0.0}
    unit = {
        "unit": f"unit {text}",
        "kind": f"kind {text}",
        "text": f"what {text}",
        "weight": 8.0,
        "lost": 6.0,
        "step": text,
        "asked_by": [{"id": f"q {text}", "text": f"asked {text}"}],
    }
    cell = {
        "store": text,
        "id": f"m {text}",
        "text": f"memory {text}",
        "cost": 1,
        "unit": text,
        "value": "1/3",
        "provenance": text,
        "rationale": text,
    }
    score = {
        "store": f"store {text}",
        "budget": 3,
        "asked": "3",
        "score": None,
        "undefined": text,
        "between": [0.25, 0.5],
        "kept_by": text,
        "optimum": optimum,
        "kept": part,
        "written": {"memories": 1, "cost": 1, "value": 2.0},
        "package_ratio": ratio,
        "union_ratio": ratio,
        "best_subset": part,
        "policies": {f"policy {text}": part},
        "unit_kinds": {f"sort {text}": {"units": 1, "weight": 8.0, "value": 2.0}},
        "diagnosis": {"optimum": 8.0, "kept": "1/4", "losses": losses, "advice": f"advice {text}"},
    }
    sheet = {
        "format": "memaudit-scores",
        "version": 2,
        "package": package,
        "digest": text,
        "union_digest": text,
        "judge": f"judge {text}",
        "package_cells": "judged",
        "coverage_is_an_estimate": True,
        "cost_rule": text,
        "group_cap": 1,
        "scores": [score],
        "stores": [
            {
                "name": f"store {text}",
                "warnings": [text],
                "unread_rows": 2,
                "undecided_cells": 3,
                "left_out": {text: 4},
                "without_salience": {text: 5},
                "mixed_users": [text, f"{text} 2"],
            }
        ],
    }
    if lost:
        score["lost_units"] = [unit]
        sheet["cells"] = {f"store {text}": [cell]}
    return sheet


def diagnosis_row(package: str, query: str, store: str, text: str) -> dict[str, Any]:
    """A question whose evidence was cut, with a text in every field."""
    memory = f"m {text}"
    unit = {
        "unit": f"unit {text}",
        "says": f"says {text}",
        "supports": True,
        "stage": "pruned",
        "needs": 1,
        "written": "4/3",
        "kept": "1/3",
        "retrieved": 0,
        "memories": [
            {"id": memory, "covers": "1/3", "kept": True, "rank": None},
            {"id": "gone", "covers": 1, "kept": False, "rank": None},
        ],
    }
    decided = TABLE[EvidenceStage.PRUNED][AnswerVerdict.WRONG]
    return {
        "package": package,
        "store": store,
        "query": query,
        "kind": f"kind {text}",
        "question": f"asked {text}",
        "gold": f"gold {text}",
        "abstention": False,
        "outcome": decided.outcome.value,
        "layer": decided.layer.value,
        "stage": "pruned",
        "verdict": "wrong",
        "why": ["partly_written"],
        "reply": "answered",
        "answer": f"said {text}",
        "used": [memory],
        "retrieved": [memory],
        "evidence": [unit],
        "stale_units": [text],
        "measures": {"answered": 0},
        "texts": {memory: f"memory {text}", "gone": f"gone {text}"},
    }


def write_diagnosis(folder: Path, rows: list[dict[str, Any]], text: str = "x") -> None:
    """A diagnosis on disk, without a summary."""
    folder.mkdir(parents=True)
    stores = list(dict.fromkeys(row["store"] for row in rows))
    spec = {
        "stores": stores,
        "budget": 3,
        "retriever": text,
        "reader": text,
        "judge": text,
        "packages": {rows[0]["package"]: text} if rows else {},
    }
    data = {"format": "memaudit-diagnosis", "version": 1, "spec": spec}
    (folder / "spec.json").write_text(json.dumps(data))
    (folder / "rows.jsonl").write_text("".join(map(to_line, rows)))


def summary_data(stores: list[str], text: str) -> dict[str, Any]:
    """A summary of one question per store, with a text in every field that may hold any."""
    mean = {"n": 1, "undefined": 1, "mean": 0.5, "ci_low": 0.25, "ci_high": 0.75}
    gap = {
        "measure": text,
        "first": stores[0],
        "second": stores[-1],
        "n": 1,
        "mean_difference": -0.5,
        "ci_low": -1.0,
        "ci_high": 0.0,
        "p": 0.5,
        "p_holm": 1.0,
    }
    store = {
        "questions": 1,
        "outcomes": dict.fromkeys(Outcome, 0),
        "answered": "0",
        "losses": dict.fromkeys(LOST_BY, "0"),
        "why": {text: 1},
        "kinds": {},
        "measures": dict.fromkeys(MEASURES, mean),
        "curve": [],
    }
    spec = {
        "retriever": text,
        "k": 1,
        "reader": text,
        "budget": 3,
        "rules": {text: text},
        "packages": {text: text},
    }
    return {
        "format": "memaudit-diagnosis",
        "version": 1,
        "spec": spec,
        "questions": 1,
        "packages": 1,
        "clusters": text,
        "about": {text: text},
        "summaries": [{"store": name, **store} for name in stores],
        "differences": [gap],
    }


def hostile_records(folder: Path, corpus: tuple[str, ...]) -> None:
    folder.mkdir(parents=True)
    stores = [_hostile_store(number, text) for number, text in enumerate(corpus)]
    for number, store in enumerate(stores):
        write_store(store, folder / f"store-{number}.json")
    sheets = [sheet_data(f"{n} {text}", text) for n, text in enumerate(corpus)]
    (folder / "bare.json").write_text(json.dumps(sheet_data("p", "\n".join(corpus), lost=False)))
    standing = {"store": corpus[0], "budget": "3", "score": {"n": 1, "mean": 0.5}}
    many = {
        "format": "memaudit-scores",
        "version": 1,
        "packages": sheets,
        "not_scored": [{"package": t, "store": t, "reason": t} for t in corpus],
        "summary": {"standings": [standing]},
    }
    (folder / "scores.json").write_text(json.dumps(many))
    rows = [diagnosis_row(f"{n} {t}", f"q {t}", "one store", t) for n, t in enumerate(corpus)]
    write_diagnosis(folder / "questions", rows, corpus[0])
    rows = [diagnosis_row("p", "q", f"{n} {text}", text) for n, text in enumerate(corpus)]
    write_diagnosis(folder / "in-stores", rows, corpus[1])
    names = [row["store"] for row in rows]
    summary = summary_data(names, "\n".join(corpus))
    (folder / "in-stores" / "summary.json").write_text(json.dumps(summary))


def _hostile_store(number: int, text: str) -> ExportedStore:
    memory = Memory(
        id=f"m {text}",
        text=f"memory {text}",
        created_at=f"made {text}",
        updated_at=text,
        valid_from=text,
        namespace=text,
        example=f"for {text}",
        sources=(text,),
        metadata={text: text},
    )
    origin = Origin(
        system=text,
        format=text,
        guessed=True,
        view=text,
        files={text: text},
        versions={text: text},
        configuration={text: [text]},
    )
    count = ImportCount(read=1, kept=1, inactive={text: 1}, skipped={text: 1})
    return ExportedStore(
        name=f"{number} {text}", origin=origin, memories=(memory,), count=count, warnings=(text,)
    )
