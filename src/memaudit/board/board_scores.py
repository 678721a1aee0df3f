"""Scores of a board's conversations, each once per pass of labels.

All runs of all systems on a conversation are in one common union, so that they share every
denominator.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from memaudit.board.board_files import check_labels, has_labels
from memaudit.board.board_folder import BoardFolder, BoardSystem, run_name
from memaudit.building.label_passes import label_passes, with_pass
from memaudit.judges.label_judges import LabelJudge
from memaudit.kernel.package.budgets import asked_budget
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.package_scores import Unscored, score_matching_stores
from memaudit.kernel.score.pruning import SHUFFLES
from memaudit.kernel.score.result import ScoreResult, Scoring
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.words.text import counted

Judges = Mapping[str, Mapping[str, LabelJudge | None]]
"""By pass and system."""


@dataclass(frozen=True, slots=True)
class ScoredConversation:
    """One conversation under every pass. The first result is by the adjudicated labels."""

    conversation: str
    results: Mapping[str, ScoreResult]
    systems_alone: Mapping[str, Fraction]
    """By budget, OPT of the systems' memories without the package's, over OPT."""
    not_scored: tuple[Unscored, ...]

    def counts_at(self, asked: str) -> bool:
        """Whether scores are defined at a budget: OPT is certified and not 0 under every pass."""
        return all(
            row.exact is not None
            for result in self.results.values()
            for row in result
            if row.asked == asked
        )


def score_board(
    board: BoardFolder, watch: Callable[[int, int], None] | None = None
) -> list[ScoredConversation]:
    """Score every conversation under every pass of labels."""
    if has_labels(board.folder, board.plan):
        check_labels(board.folder, board.plan)
    for system in board.systems:
        if system.own_labels:
            check_labels(system.folder, board.plan, may_lack_passes=True)
    judges = {
        name: {system.name: _judge(board, name, system) for system in board.systems}
        for name in board.passes
    }
    done = []
    for package in board.packages:
        done.append(_scored(board, package, judges))
        if watch is not None:
            watch(len(done), len(board.packages))
    return done


def _judge(board: BoardFolder, name: str, system: BoardSystem) -> LabelJudge | None:
    """The labels of one pass for a system. If its own were made once, they are in each pass."""
    files = []
    if has_labels(board.folder, board.plan):
        files.append(board.folder / name)
    if system.own_labels:
        own = system.folder / name
        files.append(own if own.is_file() else system.folder / board.plan.labels)
    texts = [file.with_name(board.plan.memories) for file in files]
    return LabelJudge(files, texts) if files else None


def _scored(board: BoardFolder, package: Package, judges: Judges) -> ScoredConversation:
    missing: list[Unscored] = []
    runs = []
    for run in board.runs_on(package.name):
        if left := board.unlabelled(run):
            reason = (
                f"{counted(len(left), 'memory')} not labelled; memaudit label sheets makes sheets"
            )
            missing.append(Unscored(package.name, run_name(run), reason))
        else:
            runs.append(run)
    results: dict[str, ScoreResult] = {}
    for name in board.passes if runs else ():
        stores = [board.store(run) for run in runs]
        scoring = Scoring(
            budgets=tuple(map(asked_budget, board.plan.budgets)),
            judges={
                store.name: judge
                for store, run in zip(stores, runs, strict=True)
                if (judge := judges[name][run.system]) is not None
            },
            draws=0,
            truths=board.truths,
            # What a random cut keeps is shown by the adjudicated labels alone.
            shuffles=SHUFFLES if name == board.plan.labels else 0,
        )
        labelled = _labelled_by(package, Path(name).stem)
        for result in score_matching_stores(
            labelled, stores, [store.name for store in stores], scoring
        ):
            if isinstance(result, ScoreResult):
                results[name] = result
            # A store that cannot be judged is refused under every pass; it is said once.
            elif name == board.plan.labels:
                missing.append(result)
    alone: Mapping[str, Fraction] = {}
    if (first := results.get(board.plan.labels)) is not None:
        # Without the candidates of the package, OPT is what the systems together could have kept.
        bare = first.package.replace(candidates=(), coverage=())
        scorer = StoreScorer(bare, first.stores, first.scoring.group_cap)
        alone = _systems_alone(first, scorer)
    return ScoredConversation(package.name, results, alone, tuple(missing))


def _systems_alone(result: ScoreResult, scorer: StoreScorer) -> dict[str, Fraction]:
    """By budget, OPT without the candidates of the package over OPT, where both are certified."""
    shares = {}
    for asked, row in {row.asked: row for row in result}.items():
        alone = scorer.common_optimum(row.budget)
        if alone.certified and row.exact is not None:
            shares[asked] = alone.value / row.optimum.value
    return shares


def _labelled_by(package: Package, name: str) -> Package:
    """The package with the cells of a pass, where it has that pass."""
    passes = label_passes(package)
    has_pass = passes is not None and any(entry.name == name for entry in passes.passes)
    return with_pass(package, name) if has_pass else package
