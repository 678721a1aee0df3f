"""Fitting an offline judge to labelled packages, and measuring it on those it was not fitted to.

A small conversation has few rivals for a memory and many covered pairs, a real store has hundreds
of memories and one covered pair in a hundred. So small conversations are merged into stores like
real ones, with their people renamed so that names do not give them away; a memory of one never
covers a unit of another.

Entries of profiles often leave out whom they are about. Copies of memories without the names of
the people teach that: between two people, a text that names nobody covers in part at most. Texts of
words drawn from the units teach that words alone say nothing.

Every conversation that is large enough is predicted once by a judge fitted to all others. These
predictions calibrate the probabilities, choose the thresholds, and are the published error.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memaudit.building.label_passes import cells_judged_by, label_passes
from memaudit.judges.judge_file import (
    LABELS,
    ErrorRow,
    HeldOutError,
    JudgeFile,
    Logistic,
    OtherScript,
    TrainingConversation,
)
from memaudit.judges.offline_judge import stated_unit
from memaudit.judges.pair_features import FEATURES, Floats, PairFeatures, StatedUnit, form_of
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.provenance import Ground, ground
from memaudit.kernel.package.unit_parts import whole_units
from memaudit.kernel.score.judge import foremost_script
from memaudit.kernel.version import VERSION
from memaudit.kernel.words.text import counted

Table = NDArray[np.float64]

LARGE = 40
"""Units from which a conversation is a store of its own; smaller ones are merged."""
MERGES = 2
"""How often the small conversations are dealt into two halves."""
WITHOUT_NAMES = 0.35
"""The share of memories that are also taken without names."""
DRAWN_TEXTS, DRAWN_WORDS = 4, (15, 40, 120, 240)
"""Texts of words in no order, and their lengths."""
PENALTY = 33.0
"""Of squared weights, against one for each pair: chosen on held-out conversations."""
LEAST_COVERED = 8
"""Covered pairs of a form of memories from which it tells how far stores differ."""
DIGITS = 6
MOST_STEPS, NEAR = 40, 1e-5
"""Newton's method ends when no weight moves further than this."""


@dataclass(frozen=True, slots=True)
class LabelledStore:
    """Units, memories, and how much each memory covers of each unit; NaN where nobody said."""

    name: str
    digest: str
    units: tuple[StatedUnit, ...]
    kinds: tuple[str, ...]
    memories: tuple[str, ...]
    labels: Table
    between_people: bool

    @property
    def pairs(self) -> int:
        return int(np.isfinite(self.labels).sum())


def labelled_store(package: Package) -> LabelledStore:
    """The judged pairs of a package."""
    passes = label_passes(package)
    rows = {(row.candidate, row.unit): row for row in package.coverage}
    judged = cells_judged_by(package, passes) if passes is not None else None
    if judged is None:
        judged = frozenset(
            at for at, row in rows.items() if ground(row.provenance) is Ground.JUDGED
        )
    named = {candidate for candidate, _ in judged}
    memories = [candidate for candidate in package.candidates if candidate.id in named]
    if not memories:
        raise MemAuditError(
            f"{package.name!r} has no judged cells to learn from; build it with labels or a model"
        )
    wholes = whole_units(package.units)
    turns = {turn.id: turn.text for turn in package.experiences}
    labels = np.full((len(wholes), len(memories)), np.nan)
    for at, whole in enumerate(wholes):
        for place, memory in enumerate(memories):
            ids = [(memory.id, unit.id) for unit in whole.units]
            if any(cell in judged for cell in ids):
                values = [float(rows[cell].value) if cell in rows else 0.0 for cell in ids]
                # A statement is full or none only if all of its parts are; anything between is
                # partial.
                labels[at, place] = min(values) if min(values) == max(values) else 0.5
    return LabelledStore(
        package.name,
        digest(package),
        tuple(stated_unit(whole.core, whole.text, turns) for whole in wholes),
        tuple(whole.core.kind for whole in wholes),
        tuple(memory.text for memory in memories),
        labels,
        not any(turn.speaker == "assistant" for turn in package.experiences),
    )


_FIRST_NAME = re.compile(r"[A-Z][a-z]+(?=['\u2019 ])")
_NO_NAME = frozenset({"The", "As", "On", "In", "At", "For", "A", "Since", "By", "From", "After"})
STAND_INS = ("Alex", "Robin", "Sam", "Kim")


def _people(store: LabelledStore) -> list[str]:
    """Whom the units are about, the most frequent first."""
    first = (_FIRST_NAME.match(unit.text) for unit in store.units)
    counts = Counter(name[0] for name in first if name and name[0] not in _NO_NAME)
    return [name for name, count in counts.most_common(len(STAND_INS)) if count > 1]


def _changed(store: LabelledStore, change: Callable[[str], str]) -> LabelledStore:
    return replace(
        store,
        units=tuple(
            StatedUnit(change(unit.text), change(unit.quote), change(unit.turns))
            for unit in store.units
        ),
        memories=tuple(map(change, store.memories)),
    )


def _renamed(store: LabelledStore) -> LabelledStore:
    stand_in = dict(zip(_people(store), STAND_INS, strict=False))
    if not stand_in:
        return store
    pattern = re.compile(rf"\b({'|'.join(stand_in)})\b")
    return _changed(store, lambda text: pattern.sub(lambda name: stand_in[name[0]], text))


def merged(stores: Sequence[LabelledStore]) -> LabelledStore:
    """Several conversations as one store; no memory covers a unit of another conversation."""
    renamed = [_renamed(store) for store in stores]
    sizes = [store.labels.shape for store in renamed]
    labels = np.zeros((sum(rows for rows, _ in sizes), sum(columns for _, columns in sizes)))
    row = column = 0
    for store, (rows, columns) in zip(renamed, sizes, strict=True):
        labels[row : row + rows, column : column + columns] = store.labels
        row, column = row + rows, column + columns
    return LabelledStore(
        "merged",
        "",
        tuple(unit for store in renamed for unit in store.units),
        tuple(kind for store in renamed for kind in store.kinds),
        tuple(text for store in renamed for text in store.memories),
        labels,
        False,
    )


def without_names(store: LabelledStore, seed: int = 0) -> LabelledStore | None:
    """Some memories without the people's names: about them, full becomes partial, partial none."""
    people = _people(store)
    if not people or not store.between_people:
        return None
    # A date or speaker in brackets goes with the name behind it, as in `[May 3] Ann: ...`.
    pattern = re.compile(rf"(?:\[[^\]]*\]\s*)?\b(?:{'|'.join(people)})\b(?:['\u2019]s)?:?\s*")
    bare = [pattern.sub("", text) for text in store.memories]
    dice = np.random.default_rng(seed).random(len(bare))
    chosen = [
        at
        for at, text in enumerate(bare)
        if text.strip() and text != store.memories[at] and dice[at] < WITHOUT_NAMES
    ]
    if not chosen:
        return None
    # Units that name nobody are covered by a text without names as before.
    about = np.array([bool(pattern.search(unit.text)) for unit in store.units])[:, None]
    labels = store.labels[:, chosen]
    labels = np.where(about & np.isfinite(labels), np.where(labels == 1, 0.5, 0.0), labels)
    return replace(store, memories=tuple(bare[at] for at in chosen), labels=labels)


def drawn_words(store: LabelledStore, seed: int = 0) -> LabelledStore:
    """Texts of words and runs of words of the units, in no order: they cover nothing."""
    dice = np.random.default_rng(seed)
    words = [word for unit in store.units for word in unit.text.split()]
    texts = []
    for number in range(DRAWN_TEXTS):
        # Runs of one to three words: pairs of words alone must not be evidence either.
        size = (2, 1, 1, 3)[number % 4]
        starts = dice.integers(
            0, max(1, len(words) - size), DRAWN_WORDS[number % 4] // size
        ).tolist()
        texts.append(
            (" ", "; ", ". ")[number % 3].join(
                " ".join(words[start : start + size]) for start in starts
            )
        )
    return replace(store, memories=tuple(texts), labels=np.zeros((len(store.units), len(texts))))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Judged pairs as numbers, their labels and kinds of unit."""

    table: Floats
    labels: Table
    kinds: tuple[str, ...]
    forms: tuple[str, ...]


def _pairs_of(store: LabelledStore) -> _Pairs:
    features = PairFeatures(store.units)
    table = np.concatenate([part for _, part in features.tables(store.memories)], axis=1)
    is_judged = np.isfinite(store.labels)
    units, memories = np.nonzero(is_judged)
    return _Pairs(
        table[is_judged],
        store.labels[is_judged],
        tuple(np.array(store.kinds)[units].tolist()),
        tuple(np.array([form_of(text) for text in store.memories])[memories].tolist()),
    )


def fit_logistic(
    table: Table, hits: NDArray[np.bool_], penalty: float, start: Table | None = None
) -> tuple[Table, float]:
    """Weights and bias that maximise the penalised likelihood, by Newton's method.

    `start` are the weights and bias of a similar problem.
    """
    columns = np.hstack([table, np.ones((len(table), 1))])
    # The bias is not penalised: covered pairs are rare, and it has to say so.
    shrink = np.full(columns.shape[1], penalty)
    shrink[-1] = 0.0
    weights = np.zeros(columns.shape[1]) if start is None else start.copy()
    for _ in range(MOST_STEPS):
        likely = _sigmoid(columns @ weights)
        slope = columns.T @ (likely - hits) + shrink * weights
        # The ridge on the diagonal keeps the matrix regular where a feature never varies.
        curve = (columns * (likely * (1 - likely))[:, None]).T @ columns + np.diag(shrink + 1e-9)
        step = np.linalg.solve(curve, slope)
        # A full step overshoots while probabilities are near 0 or 1; far ones are shortened.
        weights -= np.clip(step, -2, 2)
        if float(np.abs(step).max()) < NEAR:
            break
    return weights[:-1], float(weights[-1])


def _sigmoid(score: Table) -> Table:
    # Beyond 30 a probability is 0 or 1 for every purpose here, and exp could overflow.
    likely: Table = 1 / (1 + np.exp(-np.clip(score, -30, 30)))
    return likely


@dataclass(frozen=True, slots=True)
class _Head:
    """One of the two probabilities: of a label of at least `level`."""

    weights: Table
    bias: float
    level: float

    @classmethod
    def fitted(
        cls,
        pairs: Sequence[_Pairs],
        mean: Table,
        scale: Table,
        level: float,
        like: "_Head | None" = None,
    ) -> "_Head":
        table = (np.concatenate([part.table for part in pairs]).astype(np.float64) - mean) / scale
        labels = np.concatenate([part.labels for part in pairs])
        start = None if like is None else np.append(like.weights, like.bias)
        return cls(*fit_logistic(table, labels >= level, PENALTY, start), level)

    def score(self, pairs: _Pairs, mean: Table, scale: Table) -> Table:
        score: Table = (pairs.table.astype(np.float64) - mean) / scale @ self.weights + self.bias
        return score


ANY, ALL = 0.25, 0.75
"""Labels from which a pair is covered at all, and in full."""


def train_judge(packages: Iterable[Package]) -> JudgeFile:
    """An offline judge fitted to the judged cells of packages.

    Conversations in a script that few of them are written in only check the judge there.
    """
    given = [labelled_store(package) for package in packages]
    names = Counter(store.name for store in given)
    if twice := [name for name, count in names.items() if count > 1]:
        raise MemAuditError(
            f"two packages are called {twice[0]!r}: a judge measured on one of them would know the "
            "other; give each once"
        )
    scripts = _scripts(given)
    stores = [store for store in given if _script(store) in scripts]
    large = [store for store in stores if len(store.units) >= LARGE]
    if len(large) < 3:
        raise MemAuditError(
            f"{counted(len(large), 'labelled conversation')} in one script with {LARGE} units or "
            "more; training needs 3, to measure its error on conversations it was not fitted to"
        )
    # Small conversations train every judge, and none is measured on them: they are in no held-out
    # error.
    small = [_pairs_of(store) for store in _merged_small(stores)]
    own = {store.name: [_pairs_of(store)] for store in large}
    for store in large:
        own[store.name].append(_pairs_of(drawn_words(store)))
        if (bare := without_names(store)) is not None:
            own[store.name].append(_pairs_of(bare))
    everything = [*small, *(pairs for both in own.values() for pairs in both)]
    # One scale for all folds: it sees features, and no label.
    mean, scale = _standard(everything)
    # Only pairs that were judged; copies without names and drawn texts are for training.
    held_out = [own[store.name][0] for store in large]
    heads, scores = [], []
    for level in (ANY, ALL):
        # The judge that ships is fitted to everything. Folds start from it, which saves most steps
        # of Newton.
        heads.append(_Head.fitted(everything, mean, scale, level))
        scores.append(
            [
                _Head.fitted(
                    [
                        *small,
                        *(
                            pairs
                            for other in large
                            if other is not store
                            for pairs in own[other.name]
                        ),
                    ],
                    mean,
                    scale,
                    level,
                    heads[-1],
                ).score(own[store.name][0], mean, scale)
                for store in large
            ]
        )
    covered, full = (
        _calibrated(head, score, held_out) for head, score in zip(heads, scores, strict=True)
    )
    # Calibrated and thresholded on predictions for conversations that the fold had not seen.
    likely = _sigmoid(np.concatenate(scores[0]) * covered.slope + covered.offset)
    likely_full = _sigmoid(np.concatenate(scores[1]) * full.slope + full.offset)
    truth = np.concatenate([pairs.labels for pairs in held_out])
    least = (
        _threshold(likely, truth >= ANY),
        _threshold(np.minimum(likely, likely_full), truth >= ALL),
    )
    fitted = (heads[0], covered), (heads[1], full)

    def checked(script: str) -> OtherScript:
        """The judge on conversations in another script."""
        own = [store for store in given if _script(store) == script]
        pairs = [_pairs_of(store) for store in own]
        labels = np.concatenate([part.labels for part in pairs])
        biases, both = [], []
        for head, scaled in fitted:
            # The judge was fitted to another script; only its bias is moved, so that as many pairs
            # are expected as there are.
            score = np.concatenate([head.score(part, mean, scale) for part in pairs])
            score = score * scaled.slope + scaled.offset
            biases.append(round(_offset(score, labels >= head.level), 3))
            both.append(_sigmoid(score + biases[-1]))
        kinds = [kind for part in pairs for kind in part.kinds]
        called = _called(both[0], both[1], least)
        return OtherScript(
            script=script,
            covered_bias=biases[0],
            full_bias=biases[1],
            error=_error([store.name for store in own], kinds, called, labels),
        )

    kinds = [kind for pairs in held_out for kind in pairs.kinds]
    return JudgeFile(
        memaudit=VERSION,
        scripts=scripts,
        features=FEATURES,
        mean=_rounded(mean),
        scale=_rounded(scale),
        covered=covered.logistic,
        full=full.logistic,
        partial_from=least[0],
        full_from=least[1],
        error=_error(
            [store.name for store in large], kinds, _called(likely, likely_full, least), truth
        ),
        other_scripts=tuple(
            checked(script)
            for script in sorted({_script(store) for store in given} - set(scripts) - {""})
            if any(len(store.units) >= LARGE and _script(store) == script for store in given)
        ),
        training=tuple(
            TrainingConversation(name=store.name, digest=store.digest, pairs=store.pairs)
            for store in stores
        ),
    )


def _merged_small(stores: Sequence[LabelledStore]) -> list[LabelledStore]:
    """Small conversations: each by itself, and merged in halves."""
    small = [store for store in stores if len(store.units) < LARGE]
    stores_made = list(small)
    for seed in range(MERGES if len(small) > 3 else 0):
        order = np.random.default_rng(seed).permutation(len(small)).tolist()
        stores_made += [merged([small[at] for at in order[half::2]]) for half in (0, 1)]
    return stores_made


def _standard(pairs: Sequence[_Pairs]) -> tuple[Table, Table]:
    table = np.concatenate([part.table for part in pairs]).astype(np.float64)
    scale = table.std(0)
    return table.mean(0), np.where(scale > 1e-9, scale, 1.0)


@dataclass(frozen=True, slots=True)
class _Calibrated:
    slope: float
    offset: float
    logistic: Logistic


def _calibrated(head: _Head, scores: Sequence[Table], held_out: Sequence[_Pairs]) -> _Calibrated:
    """The head with held-out scores scaled to be probabilities, and how far stores differ."""
    hits = np.concatenate([pairs.labels for pairs in held_out]) >= head.level
    (slope,), offset = fit_logistic(np.concatenate(scores)[:, None], hits, 0.0)
    offsets, noise = [], []
    for score, pairs in zip(scores, held_out, strict=True):
        for form in sorted(set(pairs.forms)):
            chosen = np.array([of_pair == form for of_pair in pairs.forms])
            own = pairs.labels[chosen] >= head.level
            # The offset of a form with a handful of covered pairs would be chance.
            if own.sum() >= LEAST_COVERED:
                offsets.append(_offset(score[chosen] * slope, own))
                likely = _sigmoid(score[chosen] * slope + offsets[-1])
                noise.append(1 / float((likely * (1 - likely)).sum()))
    spread = 0.0
    if len(offsets) > 1:  # offsets of few pairs differ by chance too
        # Offsets vary by true differences plus the noise of estimating them; what is left after the
        # noise is the spread.
        spread = max(0.0, float(np.var(offsets, ddof=1) - np.mean(noise))) ** 0.5
    logistic = Logistic(
        bias=round(float(slope * head.bias + offset), DIGITS),
        weights=_rounded(head.weights * slope),
        spread=round(spread, 3),
    )
    return _Calibrated(float(slope), offset, logistic)


def _offset(score: Table, hits: NDArray[np.bool_]) -> float:
    """The bias with which as many pairs are expected as there are."""
    low, high = -10.0, 10.0
    # Bisection: the expected number grows with the bias, and 60 halvings reach the last bit.
    for _ in range(60):
        middle = (low + high) / 2
        if _sigmoid(score + middle).sum() < hits.sum():
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _threshold(likely: Table, hits: NDArray[np.bool_]) -> float:
    """The one with the highest F1."""

    def quality(least: float) -> float:
        called = likely >= least
        return float((called & hits).sum()) / max(1, int(hits.sum() + called.sum()))

    return max((round(0.1 + 0.01 * step, 2) for step in range(61)), key=quality)


def _called(likely: Table, likely_full: Table, least: tuple[float, float]) -> Table:
    """What pairs are called by their probabilities."""
    partial = np.where(likely >= least[0], 0.5, 0.0)
    called: Table = np.where(np.minimum(likely, likely_full) >= least[1], 1.0, partial)
    return called


def _error(
    conversations: Sequence[str], kinds: Sequence[str], judged: Table, truth: Table
) -> HeldOutError:
    values = {"none": 0.0, "partial": 0.5, "full": 1.0}
    counts = Counter(zip(kinds, judged.tolist(), truth.tolist(), strict=True))
    rows = tuple(
        ErrorRow(
            kind=kind,
            judged=label,
            **{true: counts[kind, values[label], values[true]] for true in LABELS},
        )
        for kind in sorted(set(kinds))
        for label in ("none", "partial", "full")
    )
    return HeldOutError(conversations=tuple(conversations), pairs=len(truth), rows=rows)


def _script(store: LabelledStore) -> str:
    """The script that most of the units are written in."""
    return foremost_script(unit.text for unit in store.units)


def _scripts(stores: Sequence[LabelledStore]) -> tuple[str, ...]:
    """Scripts of several of the conversations."""
    counts = Counter(map(_script, stores))
    return tuple(sorted(script for script, count in counts.items() if count >= 3))


def _rounded(numbers: Table) -> tuple[float, ...]:
    return tuple(round(float(number), DIGITS) for number in numbers)


def write_judge_file(file: JudgeFile, path: Path) -> None:
    write_file(path, file.model_dump_json(indent=1) + "\n")
