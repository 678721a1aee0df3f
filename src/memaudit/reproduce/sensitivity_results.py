"""Other constraints and costs on the own natural set: two candidates an experience, byte costs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from memaudit.core.exact import exact, plain
from memaudit.core.package import Package
from memaudit.experiments.engines.local import Engine
from memaudit.experiments.evaluate import certificate_hash
from memaudit.io.atomic import write_file
from memaudit.io.journal import read_journal, to_line
from memaudit.natural.named_packages import natural_set
from memaudit.reproduce.folder import ROWS, SUMMARY
from memaudit.reproduce.journaled import Key, journaled
from memaudit.reproduce.natural_results import BUDGETS
from memaudit.solvers.solve import PackageSolver

Variant = tuple[str, int]
"""A cost rule, and how many candidates of one experience may be kept."""

DEFAULT, TWO, BYTES = VARIANTS = (("words", 1), ("words", 2), ("bytes", 1))
FIELDS = ("place", "budget", "cost_rule", "group_cap")
DIGITS = 6


def make_sensitivity(folder: Path, packages: int, engine: Engine) -> None:
    """Solve every package under every variant, and write the table."""
    places = range(packages)
    keys: list[Key] = [
        (place, int(budget), *variant)
        for place in places
        for variant in VARIANTS
        for budget in BUDGETS
    ]
    journaled(folder / ROWS, places, sensitivity_lines, FIELDS, keys, engine)
    write_file(folder / SUMMARY, summary_text(read_journal(folder / ROWS)))


def sensitivity_lines(place: int) -> list[str]:
    """The lines of one package."""
    return [to_line(row) for row in sensitivity_rows(natural_set()[place], place)]


def sensitivity_rows(package: Package, place: int) -> Iterable[dict[str, Any]]:
    """The optimum of every variant and budget."""
    for rule, cap in VARIANTS:
        recost = package if rule == package.cost_rule else package.recost(rule)
        solver = PackageSolver(recost, cap)
        for budget in BUDGETS:
            best = solver.solve(Fraction(budget))
            proof = best.certificate if best.certified else None
            yield {
                "place": place,
                "package": package.name,
                "digest": best.digest,
                "budget": plain(best.budget),
                "cost_rule": rule,
                "group_cap": cap,
                "optimum": str(best.value),
                "cost": plain(best.cost),
                "store": list(best.store),
                "certificate": None if proof is None else certificate_hash(proof),
            }


def summary_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Means over packages at each budget, of optima and of their ratios to the default's."""
    optima: dict[str, dict[Variant, list[Fraction]]] = {}
    uncertified = 0
    for row in rows:
        variant = row["cost_rule"], row["group_cap"]
        at = optima.setdefault(str(row["budget"]), {})
        at.setdefault(variant, []).append(exact(row["optimum"]))
        uncertified += row["certificate"] is None
    data = {
        "set": "the project's own natural set",
        "means": "over packages; a ratio of optima is left out where the default's is 0",
        "uncertified": uncertified,
        "budgets": {budget: _cells(found) for budget, found in optima.items()},
    }
    return json.dumps(data, indent=1) + "\n"


def _cells(found: Mapping[Variant, Sequence[Fraction]]) -> dict[str, Any]:
    base, two, by_bytes = (found[variant] for variant in VARIANTS)
    return {
        "packages": len(base),
        "opt": _mean(base),
        "opt_two": _mean(two),
        "two_over_one": _mean(_ratios(two, base)),
        "opt_bytes": _mean(by_bytes),
        "bytes_over_default": _mean(_ratios(by_bytes, base)),
        "zero_optimum": sum(not one for one in base),
    }


def _ratios(above: Sequence[Fraction], below: Sequence[Fraction]) -> list[Fraction]:
    return [one / base for one, base in zip(above, below, strict=True) if base]


def _mean(numbers: Sequence[Fraction]) -> float | None:
    return round(float(sum(numbers) / len(numbers)), DIGITS) if numbers else None
