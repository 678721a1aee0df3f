"""Small libraries of stores, scores, audits and diagnoses: a plain one, and one of attacks."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from memaudit.adapters.store import ExportedStore, ImportCount, Memory, Origin, write_store
from memaudit.downstream.answers import AnswerVerdict
from memaudit.downstream.chain import EvidenceStage
from memaudit.downstream.outcomes import TABLE
from memaudit.formats.diagnosis_files import LOST_BY, MEASURES, Outcome
from memaudit.io.journal import to_line
from memaudit.io.packages import write_package
from memaudit.label_audit.agreement import audit_agreement
from memaudit.label_audit.agreement_json import agreement_data
from memaudit.label_audit.frame import Frame, FrameCell, KeyedCell, Label, LabelSet
from memaudit.label_audit.frame_files import write_frame, write_labels
from memaudit.natural.named_packages import natural_set
from tests.cli.running import run
from tests.web.explorer.libraries import CORPUS

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
"""The stores of docs/scoring.md, whose losses are worked out there."""


def exported(name: str, texts: tuple[str, ...], example: str | None = None) -> ExportedStore:
    """A store of some texts."""
    memories = tuple(
        Memory(id=f"{name}-{number}", text=text, example=example, metadata={"turn": number})
        for number, text in enumerate(texts, start=1)
    )
    return ExportedStore(
        name=name, origin=Origin(system="own notes", format="plain"), memories=memories,
        count=ImportCount(read=len(texts) + 3, kept=len(texts), skipped={"no text": 3}),
        warnings=("truncated: the list may go on",) if name == "digest" else (),
    )  # fmt: skip


def frame_of(count: int, package: str = "hotel-rooms") -> Frame:
    """Cells of a package's candidate m1 and unit u1; the key says full to all of them."""
    cells = tuple(
        FrameCell(f"c{n:04}", package, "m1", "u1", "fact", "preference", True, f"memory text {n}",
                  f"unit text {n}", "")
        for n in range(1, count + 1)
    )  # fmt: skip
    key = {cell.id: KeyedCell(Fraction(1), "secret-provenance", Fraction(1)) for cell in cells}
    return Frame(cells, key)


def labels_of(annotator: str, *labels: Label) -> LabelSet:
    """Labels of the first cells."""
    return LabelSet(annotator, {f"c{n:04}": label for n, label in enumerate(labels, start=1)})


def said_in_json(*arguments: object) -> str:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return result.stdout


def records_library(folder: Path) -> Path:
    """The worked example of docs/scoring.md and what comes of it, all made by the commands."""
    packages = {package.name: package for package in natural_set()}
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
    pair = (stores / "notes.json", stores / "digest.json", "--budget", "12,24")
    cells = said_in_json("score", hotel, *pair, "--show-cells")
    (folder / "scores" / "cells.json").write_text(cells)
    (folder / "scores" / "plain.json").write_text(said_in_json("score", hotel, *pair))
    many = ("score", folder / "packages", folder / "named" / "notes.json", "--budget", "24")
    (folder / "scores" / "many.json").write_text(said_in_json(*many))
    done = run("diagnose", hotel, *pair[:3], "24", "--writer", "gvt", "--out", folder / "diagnosis")
    assert done.exit_code == 0, done.output
    write_frame(frame_of(4), folder / "blind")
    write_frame(frame_of(4), folder / "labelled")
    write_labels(labels_of("ann", "full", "full", "none", "partial"), folder / "labelled/ann.csv")
    write_labels(labels_of("ben", "full", "none", "none", "none"), folder / "labelled/ben.csv")
    (folder / "labelled" / "other.csv").write_text("a,b\n1,2\n")
    (folder / "agreement.json").write_text(agreement_text(frame_of(4)))
    return folder


def agreement_text(frame: Frame) -> str:
    """What `audit agreement --json` writes for two people."""
    ann, ben = labels_of("ann", "full", "full"), labels_of("ben", "full", "none")
    data = agreement_data(audit_agreement(frame, [ann, ben], draws=50))
    return json.dumps({**data, "notes": ["a note"]})


def ratios_data(text: str) -> dict[str, Any]:
    """What `audit ratios --json` writes, with a text in every field that holds one."""
    number = {"value": 0.5, "mean": 0.5, "low": 0.25, "high": 0.75}
    shift = {"budget": 3, "ratio_mad": number,
             "ranking": {"preserved": False, "swapped": [1], "tied_under_one": [],
                         "tau_b": number, "spearman_rho": number}}  # fmt: skip
    unit = {"package": text, "unit": text, "text": text, "ratio_change": 0.125}
    return {
        "format": "memaudit-label-ratios", "version": 1, "packages": 2, "solved_optima": 4,
        "uncertified_optima": 1, "draws": 3, "notes": [text],
        "label_sets": [{"name": text, "changed_cells": 1, "shifts": [shift], "units": [unit]}],
        "ratios": [{"store": text, "budget": "3", "ratios": {"package": number, text: number},
                    "label_draws": number, "bounds": {**number, "exact": True}}],
    }  # fmt: skip


def sheet_data(package: str, text: str, lost: bool = True) -> dict[str, Any]:
    """The scores of one store, with a text in every field: 8 of OPT, a quarter lost at each step
    but one."""
    ratio = {"value": None, "undefined": text, "between": [0.25, 0.5], "optimum": 8.0,
             "certified": False, "bound": 9.0}  # fmt: skip
    cut = {"value": 2.0, "cost": 1, "memories": 1, "union_ratio": 0.25, "common_union_ratio": 0.25}
    loss = {"share": "1/4", "value": 2.0, "units": [[f"unit {text}", 2.0]], "queries": [text]}
    losses: dict[str, Any] = {
        step: {**loss, "more_units": 5} for step in ("generation", "extraction", "cost")
    }
    losses["selection"] = {"share": "0", "value": 0.0}
    parts = dict.fromkeys(("generation", "extraction", "cost", text), 1.5)
    unit = {"unit": f"unit {text}", "kind": f"kind {text}", "text": f"what {text}", "weight": 8.0,
            "lost": 6.0, "kept": 0.0, "step": text, "parts": parts,
            "queries": [{"id": f"q {text}", "text": f"asked {text}"}]}  # fmt: skip
    cell = {"store": text, "id": f"m {text}", "text": f"memory {text}", "cost": 1, "unit": text,
            "value": "1/3", "provenance": text, "rationale": text}  # fmt: skip
    score = {
        "store": f"store {text}", "budget": 3, "memories": 1, "value": 2.0, "cost": 1,
        "feasible": True, "package_ratio": ratio, "union_ratio": ratio,
        "common_union_ratio": ratio, "upper_pruned": cut, "pruned": {f"policy {text}": cut},
        "unit_kinds": {f"sort {text}": {"units": 1, "weight": 8.0, "value": 2.0}},
        "diagnosis": {"optimum": 8.0, "kept": "1/4", "kept_by": text, "losses": losses,
                      "advice": f"advice {text}"},
    }  # fmt: skip
    sheet = {
        "format": "memaudit-scores", "version": 1, "package": package, "digest": text,
        "judge": f"judge {text}", "coverage_is_an_estimate": True, "cost_rule": text,
        "group_cap": 1, "scores": [score],
        "stores": [{"name": f"store {text}", "warnings": [text], "unread_rows": 2,
                    "undecided_cells": 3, "left_out": {text: 4}, "without_salience": {text: 5}}],
    }  # fmt: skip
    if lost:
        score["lost_units"] = [unit]
        sheet["cells"] = {f"store {text}": [cell]}
    return sheet


def diagnosis_row(package: str, query: str, store: str, text: str) -> dict[str, Any]:
    """A question whose evidence was cut, with a text in every field."""
    memory = f"m {text}"
    unit = {"unit": f"unit {text}", "says": f"says {text}", "supports": True, "stage": "pruned",
            "needs": 1,
            "written": "4/3", "kept": "1/3", "retrieved": 0,
            "memories": [{"id": memory, "covers": "1/3", "kept": True, "rank": None},
                         {"id": "gone", "covers": 1, "kept": False, "rank": None}]}  # fmt: skip
    decided = TABLE[EvidenceStage.PRUNED][AnswerVerdict.WRONG]
    return {
        "package": package, "store": store, "query": query, "kind": f"kind {text}",
        "question": f"asked {text}", "gold": f"gold {text}", "abstention": False,
        "outcome": decided.outcome.value, "layer": decided.layer.value, "stage": "pruned",
        "verdict": "wrong", "why": ["partly_written"], "reply": "answered",
        "answer": f"said {text}", "used": [memory], "retrieved": [memory], "evidence": [unit],
        "stale_units": [text], "measures": {"answered": 0},
        "texts": {memory: f"memory {text}", "gone": f"gone {text}"},
    }  # fmt: skip


def write_diagnosis(folder: Path, rows: list[dict[str, Any]], text: str = "x") -> None:
    """A diagnosis on disk, without a summary."""
    folder.mkdir(parents=True)
    stores = list(dict.fromkeys(row["store"] for row in rows))
    spec = {"stores": stores, "budget": 3, "retriever": text, "reader": text, "judge": text,
            "packages": {rows[0]["package"]: text} if rows else {}}  # fmt: skip
    data = {"format": "memaudit-diagnosis", "version": 1, "spec": spec}
    (folder / "spec.json").write_text(json.dumps(data))
    (folder / "rows.jsonl").write_text("".join(map(to_line, rows)))


def summary_data(stores: list[str], text: str) -> dict[str, Any]:
    """A summary of one question per store, with a text in every field that may hold any."""
    mean = {"n": 1, "undefined": 1, "mean": 0.5, "ci_low": 0.25, "ci_high": 0.75}
    gap = {"measure": text, "first": stores[0], "second": stores[-1], "n": 1,
           "mean_difference": -0.5, "ci_low": -1.0, "ci_high": 0.0, "p": 0.5,
           "p_holm": 1.0}  # fmt: skip
    store = {"questions": 1, "outcomes": dict.fromkeys(Outcome, 0), "answered": "0",
             "losses": dict.fromkeys(LOST_BY, "0"), "why": {text: 1}, "kinds": {},
             "measures": dict.fromkeys(MEASURES, mean), "curve": []}  # fmt: skip
    spec = {"retriever": text, "k": 1, "reader": text, "budget": 3, "rules": {text: text},
            "packages": {text: text}}  # fmt: skip
    return {"format": "memaudit-diagnosis", "version": 1, "spec": spec, "questions": 1,
            "packages": 1, "clusters": text, "about": {text: text},
            "summaries": [{"store": name, **store} for name in stores],
            "differences": [gap]}  # fmt: skip


def hostile_records(folder: Path, corpus: tuple[str, ...] = CORPUS) -> Path:
    """Every attack in every field of every record."""
    folder.mkdir(parents=True)
    stores = [_hostile_store(number, text) for number, text in enumerate(corpus)]
    for number, store in enumerate(stores):
        write_store(store, folder / f"store-{number}.json")
    sheets = [sheet_data(f"{n} {text}", text) for n, text in enumerate(corpus)]
    (folder / "bare.json").write_text(json.dumps(sheet_data("p", "\n".join(corpus), lost=False)))
    standing = {"store": corpus[0], "budget": 3, "kept": {"n": 1, "mean": 0.5}}
    many = {"format": "memaudit-scores", "version": 1, "packages": sheets,
            "not_scored": [{"package": t, "store": t, "reason": t} for t in corpus],
            "summary": {"standings": [standing]}}  # fmt: skip
    (folder / "scores.json").write_text(json.dumps(many))
    (folder / "ratios.json").write_text(json.dumps(ratios_data("\n".join(corpus))))
    cells = tuple(
        FrameCell(f"c{n:04}", text, text, text, text or "x", text or "x", None, text, text, text)
        for n, text in enumerate(corpus, start=1)
    )
    frame = Frame(cells, {one.id: KeyedCell(Fraction(1), "", Fraction(1)) for one in cells})
    (folder / "agreement.json").write_text(_hostile_agreement(frame, corpus))
    rows = [diagnosis_row(f"{n} {t}", f"q {t}", "one store", t) for n, t in enumerate(corpus)]
    write_diagnosis(folder / "questions", rows, corpus[0])
    rows = [diagnosis_row("p", "q", f"{n} {text}", text) for n, text in enumerate(corpus)]
    write_diagnosis(folder / "in-stores", rows, corpus[1])
    names = [row["store"] for row in rows]
    summary = summary_data(names, "\n".join(corpus))
    (folder / "in-stores" / "summary.json").write_text(json.dumps(summary))
    return folder


def _hostile_store(number: int, text: str) -> ExportedStore:
    memory = Memory(id=f"m {text}", text=f"memory {text}", created_at=f"made {text}",
                    updated_at=text, valid_from=text, namespace=text, example=f"for {text}",
                    sources=(text,), metadata={text: text})  # fmt: skip
    origin = Origin(system=text, format=text, guessed=True, view=text, files={text: text},
                    versions={text: text}, configuration={text: [text]})  # fmt: skip
    count = ImportCount(read=1, kept=1, inactive={text: 1}, skipped={text: 1})
    return ExportedStore(name=f"{number} {text}", origin=origin, memories=(memory,), count=count,
                         warnings=(text,))  # fmt: skip


def _hostile_agreement(frame: Frame, corpus: tuple[str, ...]) -> str:
    """Two people called by attacks, who agree on nothing."""
    ids = [cell.id for cell in frame.cells]
    sets = [LabelSet(corpus[1], dict.fromkeys(ids, "full")),
            LabelSet(corpus[2], dict.fromkeys(ids, "none"))]  # fmt: skip
    data = agreement_data(audit_agreement(frame, sets, draws=20))
    return json.dumps({**data, "notes": list(corpus)})
