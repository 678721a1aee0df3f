"""The offline judge: none, partial or full by a small model that was fitted to labelled pairs.

It goes by the numbers of pair_features.py and gives every pair two probabilities, of any coverage
and of full coverage. Its file has the thresholds from which it calls a pair partial or full, and
its error on conversations that it was not fitted on, which score_interval.py carries to scores.
"""

import hashlib
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memaudit.judges.judge_file import VERSION, JudgeFile, Logistic, strangers
from memaudit.judges.lexical import has_words
from memaudit.judges.pair_features import FEATURES, Floats, PairFeatures, StatedUnit, form_of
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.io.strict_json import read_object
from memaudit.kernel.package.labels import FULL, NONE, PARTIAL
from memaudit.kernel.package.package import EvidenceUnit, Package
from memaudit.kernel.package.provenance import UNJUDGED
from memaudit.kernel.package.unit_parts import WholeUnit, whole_units
from memaudit.kernel.score.judge import Cell, Judgement, MemoryText, Pair, foremost_script, only

OFFLINE = "offline"
PROVENANCE = f"estimated:offline-{VERSION}"
"""Its cells are estimates: neither a person nor a language model compared the texts."""

# A pair that is covered in full or not at all has this deviation at a probability of 0.0004. Of the
# pairs of a store one in a hundred is covered: doubting more would ask about nearly all of them.
LEAST_DOUBT = 0.02
"""The standard deviation of a pair's label below which the judge does not doubt it."""

# Bounded, because a run over thousands of packages would otherwise hold the tables of all.
KEPT_PACKAGES = 8
"""Packages whose pairs are remembered: the one scored, and those for the level of chance."""

Answers = Mapping[str, Mapping[str, Mapping[str, Cell]]]
"""By the text of a memory and the id of a statement, the cells that somebody else gave."""

Probabilities = NDArray[np.float64]
Values = NDArray[np.float64]
"""0, 0.5 or 1 per statement."""


class OfflineJudge:
    """Judges by texts alone; equal texts get equal cells, whatever store they are in.

    Of a unit with alternatives, the text that a memory preserves best counts. A statement with
    parts that is not covered in full keeps its core and the parts whose words the memory has.
    """

    is_estimate = judges_candidates = True

    def __init__(
        self,
        name: str,
        file: JudgeFile,
        package: Package | None = None,
        answers: Answers | None = None,
    ) -> None:
        self.name, self.file, self.package = name, file, package
        self.answers = {} if answers is None else answers
        self.reads = frozenset(file.scripts) | {other.script for other in file.other_scripts}
        self._known: PairProbabilities | None = None
        self._bound: deque[OfflineJudge] = deque(maxlen=KEPT_PACKAGES)

    @property
    def digest(self) -> str:
        """The SHA-256 of its file."""
        return hashlib.sha256(self.file.model_dump_json().encode()).hexdigest()

    def for_package(self, package: Package) -> "OfflineJudge":
        """The judge with the turns of a conversation, which tell what its units are about."""
        bound = next((judge for judge in self._bound if judge.package is package), None)
        if bound is None:
            bound = OfflineJudge(self.name, self.file, package, self.answers)
            self._bound.append(bound)
        return bound

    def answered(self, name: str, answers: Answers) -> "OfflineJudge":
        """The judge with answers that somebody else gave to some pairs."""
        judge = OfflineJudge(name, self.file, None, answers)
        # The tables of features are what takes time; the copy goes on with those that are there.
        for bound in self._bound:  # answers do not change probabilities
            if bound.package is not None:
                judge.for_package(bound.package)._known = bound._known
        return judge

    def unanswered(self) -> "OfflineJudge":
        """The judge without the answers of others."""
        return self.answered(self.name, {})

    def strangers(self) -> Sequence[Package]:
        """Conversations that come with the program."""
        return strangers()

    def known(self, units: Sequence[EvidenceUnit]) -> "PairProbabilities":
        """The probabilities of pairs with these units, kept until others are asked about."""
        # One package's stores and candidates are judged one after the other against the same units.
        if self._known is None or self._known.units != tuple(units):
            turns = self.package.experiences if self.package is not None else ()
            said = {turn.id: turn.text for turn in turns}
            self._known = PairProbabilities(self.file, tuple(units), said)
        return self._known

    def values(self, text: str, covered: Probabilities, full: Probabilities) -> Values:  # noqa: ARG002
        """What a memory keeps of every statement, by their probabilities."""
        # Both thresholds are where F1 is highest on conversations that the judge was not fitted to;
        # training (judge_training.py) puts them into its file.
        partial = np.where(covered >= self.file.partial_from, 0.5, 0.0)
        return np.where(full >= self.file.full_from, 1.0, partial)

    def drawn(self, draw: int) -> "DrawnJudge":
        """A truth that agrees with what this judge knows; see DrawnJudge."""
        return DrawnJudge(self, draw)

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        likely = self.known(units)
        texts = [memory.text for memory in memories]
        cells = {}
        for memory, (covered, full) in zip(memories, likely.of(texts), strict=True):
            values = self.values(memory.text, covered, full)
            answered = self.answers.get(memory.text, {})
            own = {unit: cell for by_unit in answered.values() for unit, cell in by_unit.items()}
            for at in np.flatnonzero(values).tolist():
                whole = likely.wholes[at]
                if whole.id not in answered:
                    why = f"{covered[at]:.0%} likely covered, {full[at]:.0%} in full"
                    own.update(_kept(whole, memory.text, values[at] == 1, why))
            cells[memory.id] = own
        return Judgement(only(cells, pairs))


class DrawnJudge(OfflineJudge):
    """Labels drawn from the probabilities: one of the truths that the judge holds possible.

    Every pair is drawn by itself, after the bias of both probabilities was moved by a random number
    for all memories of one form: the judge errs with how memories are written.
    """

    def __init__(self, judge: OfflineJudge, draw: int) -> None:
        super().__init__(judge.name, judge.file, package=judge.package, answers=judge.answers)
        self._judge, self._draw = judge, draw

    def for_package(self, package: Package) -> OfflineJudge:
        if package is self.package:
            return self
        return DrawnJudge(self._judge.for_package(package), self._draw)

    def known(self, units: Sequence[EvidenceUnit]) -> "PairProbabilities":
        return self._judge.known(units)

    def values(self, text: str, covered: Probabilities, full: Probabilities) -> Values:
        # A draw of each pair alone would let the errors of hundreds of pairs cancel, and intervals
        # would be far too narrow: on held-out conversations the judge was too generous, or too
        # strict, about all memories of one form at once (profile entries, say). `spread` is how far
        # it was off so. One shift moves both probabilities, since what misleads the one misleads
        # the other.
        shift = float(_dice(self._draw, f"form {form_of(text)}").standard_normal())
        dice = _dice(self._draw, text).random(len(covered))
        # One die for both: full coverage is a part of any coverage, so the same luck decides both.
        some = dice < _moved(covered, shift * self.file.covered.spread)
        all_of_it = dice < _moved(full, shift * self.file.full.spread)
        return np.where(some, np.where(all_of_it, 1.0, 0.5), 0.0)


def doubt(covered: Probabilities, full: Probabilities) -> Probabilities:
    """The standard deviation of labels with these probabilities."""
    # A label is 0, 1/2 or 1 with probabilities 1 - covered, covered - full and full. Rounding can
    # take a variance near 0 just below it.
    mean = (covered + full) / 2
    deviation: Probabilities = np.sqrt(np.maximum(0, (covered - full) / 4 + full - mean**2))
    return deviation


class OpenJudge(OfflineJudge):
    """What a judge does not doubt and what was answered; every other pair may be anything.

    Such a pair lies between none and full, or counts as full with `most`.
    """

    def __init__(self, judge: OfflineJudge, most: bool) -> None:
        super().__init__(judge.name, judge.file, package=judge.package, answers=judge.answers)
        self._judge = judge
        self._cell = Cell(FULL, UNJUDGED) if most else Cell(NONE, UNJUDGED, "", FULL)

    def for_package(self, package: Package) -> OfflineJudge:  # noqa: ARG002 - made for one
        return self

    def known(self, units: Sequence[EvidenceUnit]) -> "PairProbabilities":
        return self._judge.known(units)

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        known = self.known(units)
        cells = {id: dict(own) for id, own in super().judge(memories, units).cells.items()}
        likely = known.of([memory.text for memory in memories])
        for memory, (covered, full) in zip(memories, likely, strict=True):
            answered = self.answers.get(memory.text, {})
            for at in np.flatnonzero(doubt(covered, full) >= LEAST_DOUBT).tolist():
                whole = known.wholes[at]
                if whole.id not in answered:
                    cells[memory.id] |= {unit.id: self._cell for unit in whole.units}
        return Judgement(only(cells, pairs))


def _dice(draw: int, text: str) -> np.random.Generator:
    # By a hash of the text, so that a memory has the same luck in every store and package of a
    # draw: equal texts stay equal, and a draw does not depend on how many stores are scored
    # together.
    name = f"{draw} {text}".encode("utf-8", "surrogatepass")
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name).digest()[:16], "big"))


def _moved(likely: Probabilities, by: float) -> Probabilities:
    """Probabilities with their log-odds moved."""
    # A probability that was rounded to 1 stays there instead of dividing by 0.
    odds = likely / np.maximum(1 - likely, 1e-12) * np.exp(by)
    moved: Probabilities = odds / (1 + odds)
    return moved


def _kept(whole: WholeUnit, text: str, full: bool, why: str) -> list[tuple[str, Cell]]:
    """The cells of a statement that a text covers."""
    if not whole.has_parts:
        return [(whole.id, Cell(FULL if full else PARTIAL, PROVENANCE, why))]
    # One probability says nothing about which parts are there. The core is taken as there: without
    # it the labels that the judge was fitted to say none, not partial.
    names = {name for name, words in whole.parts if full or has_words(text, words)}
    kept = whole.of_parts(names | {whole.core.part or ""})
    return [(unit.id, Cell(FULL, PROVENANCE, why)) for unit in kept]


class PairProbabilities:
    """How likely texts are to cover each statement of a package; every text is computed once."""

    def __init__(
        self,
        file: JudgeFile,
        units: tuple[EvidenceUnit, ...],
        turns: Mapping[str, str],
    ) -> None:
        self.file, self.units, self.wholes = file, units, whole_units(units)
        stated = [
            (place, stated_unit(whole.core, text, turns))
            for place, whole in enumerate(self.wholes)
            for text in (whole.text, *whole.core.alternatives)
        ]
        # Alternatives of a statement are rows beside each other, so that `_best` can take their
        # maximum.
        self._owner = np.array([place for place, _ in stated], np.int64)
        self._starts = np.searchsorted(self._owner, np.arange(len(self.wholes)))
        self._features = PairFeatures([unit for _, unit in stated])
        # Weights go by place. With other columns they would still multiply, and mean nothing.
        if file.features != FEATURES:
            raise MemAuditError(
                "the file of the offline judge was fitted to other features; train it again"
            )
        # One Chinese conversation is too little to fit weights to. With those of English the judge
        # calls too few of its pairs covered; two biases make it expect as many as there are.
        script = foremost_script(whole.text for whole in self.wholes)
        bias = {other.script: (other.covered_bias, other.full_bias) for other in file.other_scripts}
        self._biases = bias.get(script, (0.0, 0.0))
        self._by_text: dict[str, tuple[Probabilities, Probabilities]] = {}

    def of(self, texts: Sequence[str]) -> list[tuple[Probabilities, Probabilities]]:
        """Per text, the probabilities of any and of full coverage of each statement."""
        new = [text for text in dict.fromkeys(texts) if text not in self._by_text]
        if new and self.wholes:
            for part, table in self._features.tables(new):
                heads = zip((self.file.covered, self.file.full), self._biases, strict=True)
                both = [self._best(table, head, bias) for head, bias in heads]
                full = np.minimum(*both)
                for at, text in enumerate(new[part]):
                    self._by_text[text] = both[0][:, at], full[:, at]
        nothing = np.zeros(0)
        return [self._by_text.get(text, (nothing, nothing)) for text in texts]

    def _best(self, table: Floats, head: Logistic, bias: float) -> Probabilities:
        """Statements by memories; of alternatives the likeliest."""
        score = (table.astype(np.float64) - self.file.mean) / self.file.scale @ head.weights
        # Beyond 30 a probability is 0 or 1 to thirteen digits, and exp would overflow soon after.
        likely: Probabilities = 1 / (1 + np.exp(-np.clip(score + head.bias + bias, -30, 30)))
        return np.maximum.reduceat(likely, self._starts, axis=0)


def stated_unit(unit: EvidenceUnit, text: str, turns: Mapping[str, str]) -> StatedUnit:
    """A unit with its quote, which is part of a turn, and with its turns."""
    said = [turns.get(source.id) or source.text for source in unit.sources]
    quotes = (
        source.text
        for source, turn in zip(unit.sources, said, strict=True)
        if source.text and len(source.text) < len(turn)
    )
    return StatedUnit(text, next(quotes, ""), " ".join(said))


def named_offline_judge(name: str) -> OfflineJudge:
    """`offline`, or `offline:FILE` for one that memaudit study train-judge wrote."""
    argument = name.partition(":")[2]
    if not argument:
        with as_file(files("memaudit").joinpath("judges", "weights", f"{OFFLINE}.json")) as path:
            return OfflineJudge(name, read_judge_file(path))
    if not Path(argument).is_file():
        raise MemAuditError(
            f"unknown judge {name!r}; offline judges are {OFFLINE} and {OFFLINE}:FILE"
        )
    return OfflineJudge(name, read_judge_file(Path(argument)))


def read_judge_file(path: Path) -> JudgeFile:
    """A file that `memaudit study train-judge` wrote."""
    remedy = "give a file of memaudit study train-judge"
    file = validated(JudgeFile, read_object(path, remedy), str(path), remedy)
    # Files of MemAudit 0.1 could have one. It is refused here rather than by its unknown features.
    if file.embedder:
        raise MemAuditError(
            f"{path}: was fitted to the sentence embeddings of {file.embedder}, which offline "
            "judges no longer use; train it again"
        )
    return file
