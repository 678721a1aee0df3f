"""`memaudit audit judges`: two judges of the same store, side by side."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import typer

from memaudit.cli.options import (
    JudgeName,
    PackagePath,
    StorePath,
    distinct_budgets,
    label_memories,
    model_session,
)
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import safe, safe_markup
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.store_file import Memory
from memaudit.kernel.number_text import ratio, rounded
from memaudit.kernel.package.package import EvidenceUnit
from memaudit.kernel.score.judge import Cells, Pair
from memaudit.kernel.stats.agreement_coefficients import kappa_of_pairs
from memaudit.lab.commands.tables import plain_table
from memaudit.lab.studies.sensitivity import SensitivityRow


def judges(
    package: PackagePath,
    store: StorePath,
    judge: JudgeName,
    against: Annotated[str, typer.Option(metavar="NAME", help="The judge to compare with.")],
    same_session: Annotated[
        bool, typer.Option("--same-session", help="Compare only cells of a memory's own session.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(metavar="B[,B...]", help="Also compare scores at these budgets.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two judges on one store.

    Prints cells, precision, recall and kappa, and the scores under both judges.
    """
    from memaudit.judges.registry import named_judges
    from memaudit.kernel.io.packages import read_package
    from memaudit.kernel.score.caveats import store_data
    from memaudit.kernel.score.judged_store import judge_store
    from memaudit.kernel.score.priced_store import active_memories
    from memaudit.kernel.score.rejudge_package import judge_candidates
    from memaudit.lab.studies.sensitivity import sensitivity_rows
    from memaudit.stores.registry import read_imported

    budgets = () if budget is None else distinct_budgets(budget)
    audited, exported = read_package(package), read_imported(store)
    with model_session([judge, against]) as session:
        both = named_judges([judge, against], label_memories([judge, against]), session)
        judged = [judge_store(audited, exported, by) for by in both]
        packages = [judge_candidates(audited, by) for by in both]
    for warning in exported.warnings:
        typer.echo(safe(f"{exported.name}: {warning}"), err=True)
    first, second = ({memory.id: memory.coverage for memory in by.memories} for by in judged)
    memories = active_memories(exported, audited)
    pairs = (same_session_pairs if same_session else all_pairs)(memories, audited.units)
    undecided = {pair for by in judged for pair in by.caveats.undecided}
    agreement = judge_agreement(first, second, pairs, undecided)
    keys = in_force()
    rows = [
        sensitivity_rows(judged_package, [by], budgets, keys.score.group_cap, keys.solver.seconds)
        for judged_package, by in zip(packages, judged, strict=True)
    ]
    sides = [
        {
            "name": by.name,
            "is_an_estimate": by.is_estimate,
            "store": store_data(exported, side.caveats),
            "notes": side.caveats.lines,
        }
        for by, side in zip(both, judged, strict=True)
    ]
    data = {
        "package": audited.name,
        "store": exported.name,
        "judge": sides[0],
        "against": sides[1],
        "cells": "of the same session" if same_session else "all",
        "agreement": agreement_row(agreement),
        "scores": score_rows(*rows),
    }
    if as_json:
        typer.echo(json.dumps(data, indent=1))
        return
    _show(data)


def _show(data: dict[str, Any]) -> None:

    from memaudit.cli.terminal import console
    from memaudit.kernel.words.text import counted

    screen, agreement = console(), data["agreement"]
    for side in ("judge", "against"):
        mark = " (an ESTIMATE)" if data[side]["is_an_estimate"] else ""
        screen.print(f"{side}: {safe_markup(data[side]['name'])}{mark}")
        for note in data[side]["notes"]:
            screen.print(f"  {safe_markup(note)}")
    screen.print(
        f"{counted(agreement['judged_cells'], 'cell')}, {data['cells']}; same value in "
        f"{agreement['same_value']}, kappa {_text(agreement['kappa'])}; "
        f"undecided {agreement['undecided_cells']}"
    )
    names = ("both", "only_judge", "only_against", "precision", "recall", "f1")
    table = plain_table("", *(name.replace("_", " ") for name in names))
    for row in ("any_coverage", "full_coverage"):
        table.add_row(row.replace("_", " "), *(_text(agreement[row][name]) for name in names))
    screen.print(table)
    if not data["scores"]:
        return
    table = plain_table(
        "budget", "score: judge", "against", "best: judge", "against", "not certified", left=0
    )
    for row in data["scores"]:
        table.add_row(
            str(row["budget"]),
            *(
                _text(row[what][side])
                for what in ("score", "best_subset")
                for side in ("judge", "against")
            ),
            str(row["uncertified_optima"]),
        )
    screen.print(table)


def _text(value: float | None) -> str:
    if value is None:
        return "undefined"
    return str(value) if isinstance(value, int) else ratio(value)


DIGITS = 9


@dataclass(frozen=True, slots=True)
class Detection:
    """One judge's positive cells against another's, taken as the truth; None is 0 of 0."""

    both: int
    only_first: int
    only_second: int

    @property
    def precision(self) -> Fraction | None:
        """The share of the first judge's cells that the second has too."""
        return _share(self.both, self.both + self.only_first)

    @property
    def recall(self) -> Fraction | None:
        """The share of the second judge's cells that the first has too."""
        return _share(self.both, self.both + self.only_second)

    @property
    def f1(self) -> Fraction | None:
        """The harmonic mean of precision and recall."""
        return _share(2 * self.both, 2 * self.both + self.only_first + self.only_second)


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """`judged` cells were decided by both; cells that a judge does not list are not covered.

    `undecided` cells, where a model gave no answer, are in no other count.
    """

    judged: int
    undecided: int
    covered: Detection
    full: Detection
    same_value: int
    kappa: Fraction | None


def judge_agreement(
    first: Cells, second: Cells, pairs: Iterable[Pair], undecided: Collection[Pair] = ()
) -> JudgeAgreement:
    """The first judge against the second over pairs of memory and unit."""
    # A missing answer must not count as agreement on none, which most cells are.
    no_answer = set(undecided)
    values: Counter[tuple[Fraction, Fraction]] = Counter()
    skipped = 0
    for pair in pairs:
        if pair in no_answer:
            skipped += 1
        else:
            values[_value(first, pair), _value(second, pair)] += 1
    return JudgeAgreement(
        judged=values.total(),
        undecided=skipped,
        covered=_detection(values, lambda value: value > 0),
        full=_detection(values, lambda value: value == 1),
        same_value=sum(count for (a, b), count in values.items() if a == b),
        kappa=kappa_of_pairs(values),
    )


def all_pairs(memories: Sequence[Memory], units: Sequence[EvidenceUnit]) -> list[Pair]:
    """Every memory with every unit."""
    return [(memory.id, unit.id) for memory in memories for unit in units]


def same_session_pairs(memories: Sequence[Memory], units: Sequence[EvidenceUnit]) -> list[Pair]:
    """Every memory with the units of its own session, where labels were given session by session.

    The session of a memory is the one its metadata names.
    """
    by_session: dict[str, list[str]] = {}
    for unit in units:
        for session in sorted(
            {source.session for source in unit.sources if source.session is not None}
        ):
            by_session.setdefault(session, []).append(unit.id)
    pairs = [
        (memory.id, unit)
        for memory in memories
        for unit in by_session.get(str(memory.metadata.get("session")), ())
    ]
    if not pairs:
        raise MemAuditError(
            "no memory names a session of this package in its metadata; compare all pairs instead"
        )
    return pairs


def agreement_row(agreement: JudgeAgreement) -> dict[str, Any]:
    """As plain data."""
    return {
        "judged_cells": agreement.judged,
        "undecided_cells": agreement.undecided,
        "same_value": agreement.same_value,
        "kappa": rounded(agreement.kappa),
        "any_coverage": _detection_row(agreement.covered),
        "full_coverage": _detection_row(agreement.full),
    }


def score_rows(
    first: Sequence[SensitivityRow], second: Sequence[SensitivityRow]
) -> list[dict[str, Any]]:
    """The scores of a store under both judges, budget by budget."""
    return [
        {
            "store": a.store,
            "budget": plain(a.budget),
            "kept_by": a.kept_by,
            "score": {"judge": rounded(a.kept), "against": rounded(b.kept)},
            "best_subset": {"judge": rounded(a.upper), "against": rounded(b.upper)},
            "uncertified_optima": a.uncertified + b.uncertified,
        }
        for a, b in zip(first, second, strict=True)
    ]


def _detection(
    values: Mapping[tuple[Fraction, Fraction], int], positive: Callable[[Fraction], bool]
) -> Detection:
    count: Counter[tuple[bool, bool]] = Counter()
    for (a, b), number in values.items():
        count[positive(a), positive(b)] += number
    return Detection(count[True, True], count[True, False], count[False, True])


def _detection_row(detection: Detection) -> dict[str, Any]:
    return {
        "both": detection.both,
        "only_judge": detection.only_first,
        "only_against": detection.only_second,
        "precision": rounded(detection.precision),
        "recall": rounded(detection.recall),
        "f1": rounded(detection.f1),
    }


def _value(cells: Cells, pair: Pair) -> Fraction:
    cell = cells.get(pair[0], {}).get(pair[1])
    return Fraction(0) if cell is None else cell.value


def _share(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None
