"""What a reader must know about the numbers of an audit of ratios, line by line."""

from collections.abc import Iterator

from memaudit.audits.relabel.audit import Answer
from memaudit.audits.relabel.readings import Reading
from memaudit.audits.relabel.summary import FEWEST
from memaudit.core.text import counted


def notes(answer: Answer) -> list[str]:
    """All of them, without a full stop."""
    found = [*_binary(answer)]
    if answer.draws:
        found += [*_drawn(answer), *_not_drawn(answer)]
    return found


def _drawn(answer: Answer) -> Iterator[str]:
    """How many draws of which cells, and from what."""
    number, doubts = len(answer.draws), answer.doubts
    what = "the range" if number < FEWEST else "the middle 95 %"
    asked = sum(map(len, answer.own.labels.values()))
    cells = f"the {asked:,} cells asked about"
    if doubts.outside.number:
        cells += f" and the {doubts.outside.number:,} uncovered ones that drawn cells stand for"
    yield (
        f"labels drawn: {what} of {counted(number, 'draw')} of {cells}; about "
        f"{doubts.expected:,.1f} labels turn out otherwise in a draw"
    )
    whose, start = "the package's label", "the package's labels"
    if answer.question.confusion == "annotators":
        whose, start = "each other's labels", "the consensus"
    yield (
        f"odds: how {', '.join(doubts.readers)} labelled cells, given {whose}, by candidate kind, "
        "session and unit kind, small groups leaning on wider ones; each cell is drawn by itself; "
        f"draws add doubt to {start}, so the ratio under these may lie outside"
    )


def _not_drawn(answer: Answer) -> Iterator[str]:
    """Cells that draws leave alone, where that is not as it should be."""
    frame, outside = answer.question.frame, answer.doubts.outside
    if frame is not None and not frame.key:
        yield (
            "the frame has no key, so what its cells stand for is not known: only the frame's own "
            "cells are drawn, and doubt is understated if it is a sample"
        )
    elif frame is not None and all(one.weight == 1 for one in frame.key.values()):
        yield (
            "by the key every cell stands for itself: only the frame's own cells are drawn, and "
            "doubt is understated if the frame is a sample and the key lacks weights"
        )
    if outside.expected is not None and outside.expected != outside.found:
        yield (
            f"the key stands for {float(outside.expected):,g} uncovered cells outside the frame, "
            f"these packages have {outside.found:,}: they are not as they were when it was drawn"
        )
    if outside.untouched:
        yield (
            f"{outside.untouched:,} uncovered cells keep the package's label in all draws: nobody "
            "was asked about their like"
        )


def _binary(answer: Answer) -> Iterator[str]:
    for reading in answer.question.readings:
        raised = _raised(reading, answer.own)
        if raised:
            yield (
                f"{reading.name} says full or none, never partial: cells that the package calls "
                f"partial and {reading.name} covered count as changed to full: {raised:,}"
            )


def _raised(reading: Reading, own: Reading) -> int:
    """Cells called full that the package calls partial, by somebody who knows no partial."""
    given = {value for labels in reading.labels.values() for value in labels.values()}
    if any(0 < value < 1 for value in given):
        return 0
    return sum(
        value == 1 and 0 < own.labels[package][at] < 1
        for package, labels in reading.labels.items()
        for at, value in labels.items()
    )
