"""Fits the shipped model of pairs: `python -m memaudit.lab.studies.train_pairs`.

To the written pairs come pairs from shipped conversations that lint would compare: memories that
cover no common unit do not say the same. Without them a model takes every two memories about one
subject for a pair. Thresholds are the lowest at which written pairs that were left out of the fit,
ten parts in turn, reach a precision of 0.95 for the same and 0.85 for a conflict.
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.building.named_packages import long_set, natural_set
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.package.package import STALE, VALIDITY_KINDS
from memaudit.kernel.score.judge import foremost_script
from memaudit.lab.studies.judge_training import fit_logistic
from memaudit.linting.similar_memories import pairs_to_compare
from memaudit.linting.statement_pairs import FEATURES, Floats, PairModel, feature_table

SAME = {"duplicate", "paraphrase"}
CONFLICT = {"update", "negation"}
RAW = "raw"
CHANGING = VALIDITY_KINDS | {STALE}
"""Kinds of units about what changes; two memories about such units may contradict each other."""
MOST_WORDS = 45
PENALTY = 4.0
PARTS = 10
SAME_PRECISION, CONFLICT_PRECISION = 0.95, 0.85


def labelled_pairs(name: str) -> list[dict[str, str]]:
    """The pairs that come with the program: `training` or `held_out`."""
    text = files("memaudit").joinpath("examples", "pairs", f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def different_pairs() -> list[tuple[str, str, bool]]:
    """Pairs of memories of one conversation that cover no common unit, and whether it is certain
    that they do not contradict each other: one of them is about nothing that ever changed."""
    pairs: list[tuple[str, str, bool]] = []
    for package in (*natural_set(), *long_set()):
        kind = {unit.id: unit.kind for unit in package.units}
        covers: dict[str, set[str]] = {}
        for cell in package.coverage:
            covers.setdefault(cell.candidate, set()).add(cell.unit)
        memories = [
            candidate
            for candidate in package.candidates
            if candidate.kind != RAW
            and candidate.id in covers
            and len(candidate.text.split()) <= MOST_WORDS
        ]
        texts = [candidate.text for candidate in memories]
        # The written pairs are English; features of other scripts would be told from them by
        # script.
        if foremost_script(texts) != "Latin":
            continue
        for first, second in pairs_to_compare(texts):
            units = covers[memories[first].id], covers[memories[second].id]
            if not units[0] & units[1]:
                changing = [any(kind[unit] in CHANGING for unit in own) for own in units]
                pairs.append((texts[first], texts[second], not all(changing)))
    return pairs


def fitted(rows: list[dict[str, str]]) -> PairModel:
    """The model of labelled pairs, with thresholds by parts left out."""
    table = feature_table([(row["first"], row["second"]) for row in rows])
    truth = [np.array([row["label"] in labels for row in rows]) for labels in (SAME, CONFLICT)]
    mined = different_pairs()
    other = feature_table([pair[:2] for pair in mined])
    others = other, other[np.array([certain for *_, certain in mined])]
    # Every tenth row, since rows come in blocks of one kind.
    part = np.arange(len(rows)) % PARTS
    likely = np.zeros((2, len(rows)))
    for left_out in range(PARTS):
        model = _fit(table[part != left_out], [pair[part != left_out] for pair in truth], others)
        verdicts = model.verdicts(table[part == left_out])
        likely[:, part == left_out] = [
            [pair.same for pair in verdicts],
            [pair.conflict for pair in verdicts],
        ]
    wanted = SAME_PRECISION, CONFLICT_PRECISION
    thresholds = [_lowest(*given) for given in zip(likely, truth, wanted, strict=True)]
    return _fit(table, truth, others, *thresholds)


def _fit(
    table: Floats,
    truth: list[NDArray[np.bool_]],
    others: tuple[Floats, Floats],
    same_from: float = 0.5,
    conflict_from: float = 0.5,
) -> PairModel:
    """`others` are pairs that do not say the same, and those that do not contradict either."""
    mean, scale = table.mean(0), table.std(0) + 1e-9
    heads = []
    for hits, more in zip(truth, others, strict=True):
        rows = (np.vstack([table, more]) - mean) / scale
        labels = np.concatenate([hits, np.zeros(len(more), bool)])
        heads.append(np.append(*fit_logistic(rows, labels, PENALTY)))
    return PairModel(mean, scale, heads[0], heads[1], same_from, conflict_from)


def _lowest(likely: Floats, hits: NDArray[np.bool_], precision: float) -> float:
    """The lowest threshold from which all higher ones, down to it, are as precise."""
    # From the top, down to where precision first falls short: below it a threshold may look precise
    # by chance.
    steps = np.arange(0.98, 0.3, -0.01)
    best = float(steps[0])
    for step in steps.tolist():
        chosen = likely >= step
        if chosen.sum() >= 20 and hits[chosen].mean() < precision:
            break
        best = step
    return round(best, 2)


def model_data(model: PairModel) -> dict[str, Any]:
    arrays = {
        name: getattr(model, name).round(6).tolist()
        for name in ("mean", "scale", "same", "conflict")
    }
    return {
        "features": list(FEATURES),
        **arrays,
        "same_from": model.same_from,
        "conflict_from": model.conflict_from,
    }


def main() -> None:
    model = fitted(labelled_pairs("training"))
    path = Path(str(files("memaudit.linting"))) / "words" / "pair_model.json"
    write_file(path, json.dumps(model_data(model), indent=1) + "\n")


if __name__ == "__main__":
    main()
