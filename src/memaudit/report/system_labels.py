"""How far the labels of a board can be trusted: the agreement of blind passes, and of the readers
of a system's own labels with the board's on controls."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.text import one_line
from memaudit.scoring.board_folder import BoardFolder, BoardSystem, run_name
from memaudit.scoring.board_labels import Known
from memaudit.scoring.board_scores import ScoredConversation
from memaudit.scoring.label_controls import GOOD, control_agreement, read_controls
from memaudit.scoring.result import ScoreResult
from memaudit.stats.agreement_coefficients import kappa_of_pairs

Pairs = Counter[tuple[Fraction, Fraction]]


@dataclass(frozen=True, slots=True)
class PassAgreement:
    """How far two blind passes agree on what systems wrote."""

    pairs: int
    differ: int
    kappa: float | None
    """Over all conversations; None where it is undefined."""
    by_conversation: tuple[float, ...]
    """Kappa, where it is defined."""


@dataclass(frozen=True, slots=True)
class LabelQuality:
    """Where the labels of a system come from, in words, and why they are not like the others."""

    text: str
    marks: tuple[str, ...]


def pass_agreement(
    folder: BoardFolder,
    known: Sequence[ScoredConversation],
    systems: Collection[BoardSystem],
    texts: Known | None = None,
) -> PassAgreement | None:
    """Of the first two passes, over the memories of systems that were labelled twice; with `texts`,
    only over these."""
    passes = folder.plan.passes[:2]
    twice = [system for system in systems if not folder.labelled_once(system)]
    if len(passes) < 2 or not twice:
        return None
    stores = {run_name(run) for system in twice for run in system.runs}
    every: Pairs = Counter()
    kappas = []
    for one in known:
        first, second = (_coverage(one.results[name], stores) for name in passes)
        pairs = Counter(
            (first[text].get(unit.id, Fraction(0)), second[text].get(unit.id, Fraction(0)))
            for text in first
            if texts is None or one_line(text) in texts.get(one.conversation, {})
            for unit in one.results[passes[0]].package.units
        )
        every += pairs
        if (kappa := kappa_of_pairs(pairs)) is not None:
            kappas.append(float(kappa))
    kappa = kappa_of_pairs(every)
    return PassAgreement(
        pairs=every.total(),
        differ=sum(number for (a, b), number in every.items() if a != b),
        kappa=None if kappa is None else float(kappa),
        by_conversation=tuple(kappas),
    )


def _coverage(result: ScoreResult, stores: Collection[str]) -> dict[str, dict[str, Fraction]]:
    """By distinct text of a memory in these stores, what it covers."""
    return {
        memory.text: {unit: cell.value for unit, cell in memory.coverage.items()}
        for store in result.stores
        if store.name in stores
        for memory in store.memories
    }


def label_quality(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem
) -> LabelQuality:
    """What is known of a system's labels."""
    said, marks = [], []
    own = folder.known_of[system.name] if system.own_labels else None
    if folder.labelled_once(system):
        said.append("one pass")
        marks.append("labelled once: its labels are the same in every pass")
    elif (agreement := pass_agreement(folder, known, [system], own)) is not None:
        kappa = agreement.kappa
        said.append("two passes, kappa " + ("undefined" if kappa is None else f"{kappa:.2f}"))
        if kappa is not None and kappa < GOOD:
            marks.append(f"two passes of its labels agree little: kappa {kappa:.2f}")
    if not system.own_labels:
        return LabelQuality("; ".join(["the board's", *said]), tuple(marks))
    if system.notes.blind:
        said.append("blind according to its row.json")
    elif system.notes.blind is False:
        marks.append("labelled by readers who knew the system")
    else:
        marks.append("its row.json does not say that its labels are blind")
    if controls := read_controls(folder, system):
        with_board = control_agreement(folder, controls)
        said.append(with_board.text)
        if not with_board.is_at_least(GOOD):
            marks.append(f"its readers do not label as the board's do: {with_board.text}")
    else:
        marks.append("no controls: not known whether its readers label as the board's do")
    return LabelQuality("; ".join(["its own", *said]), tuple(marks))
