"""Scores as tables: rows of stores and budgets, unit kinds, lost units, one unit or memory."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from memaudit.cli.explanation import explanation
from memaudit.cli.terminal import columns_table, console, safe, safe_markup
from memaudit.kernel.exact import exact
from memaudit.kernel.losses import LOSS_STEPS, SHARES
from memaudit.kernel.number_text import MISSING, fixed, percent, short_exact, short_number
from memaudit.kernel.package.budgets import USUAL_BUDGETS
from memaudit.kernel.package.unit_parts import by_statement
from memaudit.kernel.score.judge import judged_how
from memaudit.kernel.score.loss_diagnosis import KindRow, LostUnit, LostUnits, NoDiagnosis
from memaudit.kernel.score.pruning import POLICIES
from memaudit.kernel.score.result import ScoreResult, Scoring, StoreScore, margin, ratio_text
from memaudit.kernel.score.score import Ratio
from memaudit.kernel.score.score_json import cells_data, package_scores_data
from memaudit.kernel.score.store_value import StoreValue
from memaudit.kernel.score.verdict import Verdict
from memaudit.kernel.score.writing_cost import writing_cost
from memaudit.kernel.words.text import counted
from memaudit.show.columns import Column

Kinds = tuple[str, str, Sequence[KindRow]]
"""A store, a budget, and its rows by kind of unit."""

VERDICT = (
    "complete: what the whole store says, of everything that could be said (OPT without a budget); "
    "lean: what the same value needs, over what the store spends"
)
SCORE = (
    "score: what a store keeps within the budget, over OPT of the common union; random: the mean "
    "score if it were cut at random; best: its best subset"
)
FOR_ITS_SIZE = "for its size: the value of the whole store over OPT of what it costs"
LOST = "kept and lost: shares of OPT, which sum to 100%"
OTHERS: dict[str, str] = {
    "F(Y)": "the value of the whole store, whatever it costs",
    "F(kept)": "the value of what is kept within the budget",
    "/ package": "F(kept) over OPT of the package alone; above 1 if the store says things better",
    "/ union": "F(kept) over OPT of the package and this store alone",
    **{
        str(policy): f"what this policy would keep, over OPT of the common union: {what}"
        for policy, what in POLICIES.items()
    },
}
"""The other numbers, and what each means."""


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One store at one budget as tables print it: all that is needed of a score without proofs."""

    package: str
    store: str
    asked: str
    at: str
    cost: str
    kept_by: str
    score: str
    random_cut: str
    best: str
    losses: tuple[str, ...]
    """What is kept, then what is lost at each step."""
    others: dict[str, str]
    """The other numbers by the name of their column, those of policies too."""
    policies: tuple[str, ...]
    """Policies that could cut the store, if it has memories."""
    has_score: bool
    is_open: bool
    is_estimate: bool
    kinds: tuple[KindRow, ...]
    lost: tuple[LostUnit, ...] = ()


def score_lines(result: ScoreResult, lost: bool = False) -> list[ScoreLine]:
    """The lines of a package; with its lost units where asked for."""
    return [_line(result.package.name, row, lost) for row in result.rows]


def _line(package: str, row: StoreScore, lost: bool) -> ScoreLine:
    numbers = row.numbers
    by_policy = {kept.by: _text(kept.ratio) for kept in numbers.policies}
    return ScoreLine(
        package=package,
        store=row.store,
        asked=numbers.asked,
        at=row.at,
        cost=short_exact(numbers.written.cost),
        kept_by="all" if numbers.fits else row.kept_by,
        score=row.score_text,
        random_cut=MISSING if row.random_cut is None else _text(row.random_cut),
        best=_text(numbers.best.ratio),
        losses=(
            percent(row.exact if row.losses else None, 1),
            *(percent(row.losses.get(step), 1) for step in LOSS_STEPS),
        ),
        others={
            "F(Y)": _value(numbers.written),
            "F(kept)": _value(numbers.kept.worth),
            "/ package": _text(numbers.kept.package_ratio),
            "/ union": _text(numbers.kept.union_ratio),
            **by_policy,
        },
        policies=tuple(by_policy) if numbers.memories else (),
        has_score=row.exact is not None or row.between is not None,
        is_open=row.between is not None,
        is_estimate=row.is_estimate,
        kinds=row.kinds,
        lost=tuple(row.lost) if lost else (),
    )


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """How complete and how lean one store is, as a table prints it."""

    package: str
    store: str
    memories: int
    complete: str
    cost: str
    measure: str
    needed: str | None
    lean: str
    for_its_size: str


def verdict_lines(result: ScoreResult) -> list[VerdictLine]:
    return [_verdict_line(result.package.name, verdict) for verdict in result.verdicts]


def _verdict_line(package: str, verdict: Verdict) -> VerdictLine:
    least, complete, lean = verdict.least, verdict.complete, verdict.lean
    needed = None
    if least is not None:
        ends = dict.fromkeys(map(short_number, (least.low, least.high)))
        needed = "..".join(ends)
    about_complete = margin(complete.value, verdict.complete_interval)
    about_lean = margin(lean, verdict.lean_interval)
    return VerdictLine(
        package=package,
        store=verdict.store,
        memories=verdict.memories,
        complete=f"{_text(complete)}{about_complete}",
        cost=short_number(verdict.cost),
        measure=verdict.measure,
        needed=needed,
        lean=f"{ratio_text(lean, verdict.lean_between)}{about_lean}",
        for_its_size=MISSING if verdict.for_its_size is None else _text(verdict.for_its_size),
    )


def verdicts_table(lines: Sequence[VerdictLine], with_package: bool, everything: bool) -> Table:
    """How complete and how lean each store is."""
    columns = [
        *([_column("package", words=True)] if with_package else []),
        _column("store", words=True),
        _column("memories"),
        _column("complete"),
        _column("cost", lines[0].measure if lines else "cost"),
        _column("needed"),
        _column("lean"),
        *([_column("for_its_size", "for its size")] if everything else []),
    ]
    return columns_table(columns, lines, NARROW)


def scores_table(lines: Sequence[ScoreLine], with_package: bool) -> Table:
    """The score of each store at each budget, beside a random cut and the best subset."""
    columns = [
        *_about(with_package),
        _column("kept_by", "kept by"),
        _column("score"),
        _column("random_cut", "random"),
        _column("best"),
    ]
    return columns_table(columns, lines, NARROW)


def losses_table(lines: Sequence[ScoreLine], with_package: bool) -> Table:
    """Where the rest of each score was lost."""
    columns = [
        *_about(with_package),
        *(Column(key=name, value=partial(_loss, at), short=name) for at, name in enumerate(SHARES)),
    ]
    return columns_table(columns, lines, NARROW)


def all_numbers_table(lines: Sequence[ScoreLine], with_package: bool) -> Table:
    """Every other number of a score; `OTHERS` says what each means."""
    others: list[Column[ScoreLine]] = [
        Column(
            key=name,
            value=partial(_other, name),
            short=name.replace("query_salience", "query-aware"),
        )
        for name in _others(lines)
    ]
    return columns_table([*_about(with_package), *others], lines, NARROW)


NARROW = (0, 1, 0, 0)
"""Space around a cell: these tables have up to 11 columns and should fit 80 characters."""


def _loss(at: int, line: ScoreLine) -> str:
    return line.losses[at]


def _other(name: str, line: ScoreLine) -> str | None:
    return line.others.get(name)


def _column(key: str, short: str = "", words: bool = False) -> Column[Any]:
    """A field of the row, as it is."""
    return Column(key=key, value=attrgetter(key), short=short or key, words=words)


def _about(with_package: bool) -> list[Column[ScoreLine]]:
    """What a line is about."""
    package = [_column("package", words=True)] if with_package else []
    return [*package, _column("store", words=True), _column("at", "budget")]


def meanings(lines: Sequence[ScoreLine]) -> list[str]:
    """What each column of `all_numbers_table` means."""
    return [f"{name}: {OTHERS[name]}" for name in _others(lines)]


def _others(lines: Sequence[ScoreLine]) -> list[str]:
    """The columns: of policies, those with a line of a store that has memories."""
    used = {name for line in lines for name in line.policies}
    return [name for name in OTHERS if name not in POLICIES or name in used]


def _value(worth: StoreValue) -> str:
    """A value, or what it lies between while cells are not judged."""
    low, high = worth.value, worth.highest
    return short_exact(low) if low == high else f"{short_exact(low)}..{short_exact(high)}"


def _text(ratio: Ratio) -> str:
    return ratio_text(ratio.value, ratio.between)


def kinds_tables(rows: Iterable[Kinds]) -> Iterator[tuple[str, Table]]:
    """Values by kind of unit: written of the weight, then kept, lost and gained.

    A table for each store and budget, with its heading: all in one would not fit 80 columns.
    """
    for store, budget, kinds in rows:
        table = columns_table(KIND_COLUMNS, [row for row in kinds if row.weight], NARROW)
        table.box = None
        yield f"{store} at {budget}, by kind of unit", table


def _written(row: KindRow) -> str:
    share = "" if row.share is None else f" {float(row.share):4.0%}"
    return f"{_short(row.written)}{share}"


def _at_step(step: str, row: KindRow) -> str | None:
    if row.lost is None or row.gained is None:
        return None
    return _lost(row.lost[step], row.gained[step])


def _lost(lost: Fraction, gained: Fraction) -> str:
    return f"{_short(lost)} (+{_short(gained)})" if gained else _short(lost)


LOST_COLUMNS: list[Column[dict[str, str]]] = [
    Column(key=name, value=itemgetter(name), short=name, words=name != "lost")
    for name in ("step", "unit", "kind", "lost", "what it says", "asked by")
]


def lost_table(rows: Sequence[LostUnit]) -> Table:
    """One row per unit and step; the parts of a statement that went the same way share one."""
    shown = []
    for members in by_statement(
        rows, lambda row: row.whole and (row.step, row.whole.id, row.lost > 0)
    ):
        row = members[0]
        unit, text = row.unit, row.text
        if row.whole is not None:
            ids = {member.unit for member in members}
            names = ", ".join(part.part or "" for part in row.whole.units if part.id in ids)
            unit, text = row.whole.id, f"{row.whole.text} ({names})"
        asked = dict.fromkeys(
            f"{id}: {words}" for member in members for id, words in member.asked_by
        )
        lost = sum((member.lost for member in members), Fraction(0))
        shown.append(
            {
                "step": row.step,
                "unit": unit,
                "kind": row.kind,
                "lost": _short(lost) if lost > 0 else f"+{_short(-lost)}",
                "what it says": text,
                "asked by": "; ".join(asked) or MISSING,
            }
        )
    return columns_table(LOST_COLUMNS, shown)


CELL_COLUMNS: list[Column[dict[str, Any]]] = [
    Column(key="id", value=itemgetter("id"), short="memory", words=True),
    Column(key="cost", value=itemgetter("cost"), short="cost"),
    Column(key="unit", value=itemgetter("unit"), short="unit", words=True),
    Column(key="value", value=itemgetter("value"), short="covered"),
    Column(key="text", value=itemgetter("text"), short="what it says", words=True),
    Column(
        key="why", value=lambda row: row["rationale"] or row["provenance"], short="why", words=True
    ),
]


def _short(value: Fraction) -> str:
    """A value for a table, rounded if it is a fraction."""
    text = short_exact(value)
    return text if "/" not in text and "~" not in text else fixed(value)


KIND_COLUMNS: list[Column[KindRow]] = [
    _column("kind", "kind of unit", words=True),
    _column("units"),
    Column(key="weight", value=lambda row: row.weight, short="weight", show=_short),
    Column(key="written", value=_written, short="written"),
    Column(key="kept", value=lambda row: row.kept, short="kept", show=_short),
    *(Column(key=name, value=partial(_at_step, name), short=name) for name in LOSS_STEPS),
]


MOST_CANDIDATES = 5
"""Candidates in an explanation: those that cover most, cheapest first."""


def explained_lines(data: dict[str, Any]) -> Iterator[str]:
    unit = data["unit"]
    if unit is not None:
        yield f"unit {data['id']} ({unit['kind']}, weight {unit['weight']:g}): {unit['text']}"
        for query in unit["queries"]:
            yield f"  asked for by {query['id']}: {query['text']}"
        for cell in unit["memories"]:
            yield f"  {cell['value']} in {cell['store']}, memory {cell['id']}: {cell['text']}"
            yield f"    because: {cell['rationale'] or cell['provenance']}"
        if not unit["memories"]:
            yield "  not in any memory of these stores"
        candidates = sorted(
            unit["candidates"], key=lambda row: (-exact(row["value"]), exact(row["cost"]))
        )
        for cell in candidates[:MOST_CANDIDATES]:
            yield f"  {cell['value']} in candidate {cell['id']} of the package: {cell['text']}"
        if (more := len(candidates) - MOST_CANDIDATES) > 0:
            yield f"  and {counted(more, 'candidate')} more; --json lists all"
        for row in unit["scores"]:
            yield f"  {row['store']} at {row['budget']}: {_unit_result(row)}"
    for memory in data["memories"]:
        yield (
            f"memory {memory['memory']} of {memory['store']}, cost {memory['cost']}: "
            f"{memory['text']}"
        )
        for cell in memory["cells"]:
            yield f"  covers {cell['value']} of {cell['unit']}: {cell['unit_text']}"
            yield f"    because: {cell['rationale'] or cell['provenance']}"
        if not memory["cells"]:
            yield "  covers no unit"
        for row in memory["scores"]:
            kept = {True: "kept", False: "not kept", None: "no diagnosis"}[row["kept"]]
            best = "in" if row["in_best_subset"] else "not in"
            yield f"  at {row['budget']}: {kept}, {best} the best subset that fits"


def _unit_result(row: dict[str, Any]) -> str:
    if row["parts"] is None:
        return "no diagnosis"
    lost = ", ".join(f"{step} {part:g}" for step, part in row["parts"].items())
    return f"kept {row['kept']:g}, lost {lost or 'nothing'}"


OPEN = "a..b: an optimum is not certified, or cells are not judged; it lies between a and b"
KINDS = "kept and lost, less what was gained for it (+), sum to OPT over all kinds"


def print_scores(
    screen: Console,
    scoring: Scoring,
    verdicts: Sequence[VerdictLine],
    lines: Sequence[ScoreLine],
    everything: bool,
) -> None:
    """Print the judge, the verdicts, the scores at budgets, and what marks and columns mean.

    The headline is what was asked for: the store as it is, or what is kept at a budget.
    """
    with_package = len({line.package for line in lines}) > 1
    screen.print(judge_line(scoring, any(line.is_estimate for line in lines)))

    def print_verdicts() -> None:
        screen.print(verdicts_table(verdicts, with_package, everything))
        screen.print(VERDICT)
        if everything:
            screen.print(FOR_ITS_SIZE)

    if scoring.budgets is None:
        print_verdicts()
        screen.print(USUAL)
    if scoring.budgets is None and not any(line.has_score for line in lines):
        screen.print("nothing that counts fits it; give a --budget")
    else:
        screen.print(scores_table(lines, with_package))
        screen.print(SCORE)
        screen.print(losses_table(lines, with_package))
        screen.print(LOST)
    if scoring.budgets is not None:
        print_verdicts()
    if any(line.is_open for line in lines):
        screen.print(OPEN)
    if everything:
        screen.print(all_numbers_table(lines, with_package))
        for meaning in meanings(lines):
            screen.print(meaning)


USUAL = f"cut to {USUAL_BUDGETS[0]} of the conversation, as no --budget is given:"


def judge_line(scoring: Scoring, is_estimate: bool) -> str:
    """The judge, and whether the scores are an estimate."""
    mark = judged_how(scoring.judge_name, is_estimate)
    return f"coverage: judge {safe_markup(scoring.judge_name)}, {mark}"


def print_kinds(screen: Console, kinds: Iterable[Kinds]) -> None:
    for heading, table in kinds_tables(kinds):
        screen.print()
        screen.print(safe_markup(heading))
        screen.print(table)
    screen.print(KINDS)


def print_cells(
    screen: Console, lines: Sequence[ScoreLine], cells: Mapping[str, Sequence[dict[str, Any]]]
) -> None:
    """Print lost units at every budget, then the covered cells."""
    for line in lines:
        if line.lost:
            lost = LostUnits(line.lost)
            screen.print(safe_markup(f"lost by {line.store} at {line.at}: {lost!r}"))
            screen.print(lost_table(lost))
    for store, own in cells.items():
        screen.print(safe_markup(f"{store}: {counted(len(own), 'cell')} above 0"))
        if own:
            screen.print(columns_table(CELL_COLUMNS, own))


def print_package(
    scores: ScoreResult, everything: bool, cells: bool, ids: Sequence[str], as_json: bool
) -> None:
    """Print the scores of one package."""
    explained = [explanation(id, scores) for id in ids]
    if as_json:
        for line in scores.caveats:
            typer.echo(safe(line), err=True)
        data = package_scores_data(scores, cells)
        typer.echo(json.dumps({**data, "explained": explained} if ids else data, indent=1))
        return
    screen = console()
    print_scores(screen, scores.scoring, verdict_lines(scores), score_lines(scores), everything)
    for verdict in scores.verdicts:
        screen.print(safe_markup(repr(verdict)))
    for line in scores.warnings:
        screen.print(safe_markup(line))
    for line in advice_lines(scores.rows):
        screen.print(safe_markup(line))
    for store in scores.exported:
        if (cost := writing_cost(store, scores.package.name)) is not None:
            screen.print(safe_markup(f"{store.name} was written with {cost.text}"))
    if everything:
        print_kinds(screen, [(row.store, row.at, row.kinds) for row in scores.rows])
    if cells:
        print_cells(screen, score_lines(scores, lost=True), cells_data(scores))
    for data in explained:
        for line in explained_lines(data):
            screen.print(safe_markup(line))
    if not everything:
        screen.print("--all prints the other numbers and the kinds of units, each with its meaning")


def advice_lines(rows: Sequence[StoreScore]) -> list[str]:
    """What each store could improve, and at which budgets; or why there is no diagnosis."""
    places: dict[tuple[str, str], list[str]] = {}
    lines: list[str] = []
    for row in rows:
        if isinstance(row.diagnosis, NoDiagnosis):
            lines.append(str(row.diagnosis))
            continue
        near = ""
        if not row.diagnosis.is_exact:
            precision = float(row.diagnosis.precision)
            near = f" (losses to within {precision:.0e}: some h is irrational)"
        places.setdefault((row.store, f"{row.diagnosis.advice}{near}"), []).append(row.at)
    lines += [f"{store} at {', '.join(at)}: {text}" for (store, text), at in places.items()]
    return lines
