"""`memaudit frontier`: the optimum for every budget."""

import json
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.settings import in_force
from memaudit.cli.terminal import safe
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import open_regular, refuse_to_write
from memaudit.workspace.overwrite import may_write

if TYPE_CHECKING:
    from memaudit.kernel.package.package import Package
    from memaudit.kernel.solvers.frontier import Frontier, Part

MOST_ROWS = 25


def frontier(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A package: .json file or folder.")],
    max_budget: Annotated[
        int, typer.Option(metavar="N", help="Solve every whole budget from 0 to N.")
    ],
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw the frontier, as SVG."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the frontiers, with their stores, to this JSON file. If the command is "
            "stopped, the same command continues.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compute the optimum for every whole budget, and the budgets where it rises."""
    from memaudit.kernel.io.atomic import write_file
    from memaudit.kernel.io.packages import read_packages
    from memaudit.show.svg_charts import check_chart, write_frontier_chart

    if max_budget < 0:
        raise MemAuditError(f"--max-budget must be at least 0, not {max_budget}")
    if plot is not None:
        check_chart(plot)
    keys = in_force()
    group_cap = keys.score.group_cap
    packages = read_packages(path)
    if out is None:
        frontiers = [_frontier(package, max_budget, group_cap) for package in packages]
    else:
        may_write(out, "frontier")
        with _Unfinished(out.with_name(f"{out.name}.part")) as unfinished:
            frontiers = [_frontier(p, max_budget, group_cap, unfinished) for p in packages]
            write_file(out, json.dumps([_data(item) for item in frontiers], indent=1) + "\n")
            unfinished.remove()
    if as_json:
        typer.echo(json.dumps([_data(item) for item in frontiers], indent=2))
    else:
        for item in frontiers:
            _show(item)
    if plot is not None:
        write_frontier_chart(frontiers, plot)
        typer.echo(safe(f"plot: {plot}"), err=as_json)


_MARK = b'{"package":"'


class _Unfinished:
    """What is done of a frontier, in a journal beside its file until all of it is."""

    def __init__(self, path: Path) -> None:
        from memaudit.workspace.journal import Journal

        refuse_to_write(path)
        if path.exists():
            with open_regular(path) as file:
                head = file.read(len(_MARK))
            if not _MARK.startswith(head):
                raise MemAuditError(
                    f"{path}: already exists and is no unfinished frontier; move it"
                )
        self.journal = Journal(path)

    def __enter__(self) -> "_Unfinished":
        self.journal.__enter__()
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        self.journal.__exit__(kind, *error)
        if not self.journal.rows:
            self.remove()
        elif kind is KeyboardInterrupt:
            what = f"stopped; the same command continues from {self.journal.path}"
            typer.echo(safe(what), err=True)

    def known(self, key: dict[str, Any]) -> list["Part"]:
        """The parts of a frontier that an earlier command has done."""
        from memaudit.kernel.solvers.frontier import Part
        from memaudit.workspace.journal import read_journal

        return [
            Part(row["first"], row["last"], tuple((b, v, tuple(s)) for b, v, s in row["steps"]))
            for row in read_journal(self.journal.path)
            if key.items() <= row.items()
        ]

    def add(self, key: dict[str, Any], part: "Part") -> None:
        from memaudit.workspace.journal import to_line

        self.journal.append([to_line({**key, **asdict(part)})])

    def remove(self) -> None:
        self.journal.path.unlink(missing_ok=True)


def _frontier(
    package: "Package", max_budget: int, group_cap: int | None, done: _Unfinished | None = None
) -> "Frontier":
    from memaudit.cli.solve import watched
    from memaudit.cli.terminal import progress
    from memaudit.kernel.package.digest import digest
    from memaudit.kernel.solvers.frontier import frontier as frontier_of

    key = {"package": digest(package), "max_budget": max_budget, "group_cap": group_cap}
    with watched(), progress("budgets", max_budget + 1) as advance:
        return frontier_of(
            package,
            max_budget,
            group_cap,
            lambda budgets, _: advance(budgets),
            threads=in_force().solver.threads,
            known=done.known(key) if done else (),
            keep=(lambda part: done.add(key, part)) if done else None,
        )


def _data(frontier: "Frontier") -> dict[str, Any]:
    return {
        "format": "memaudit-frontier",
        "package": frontier.package,
        "digest": frontier.digest,
        "group_cap": frontier.group_cap,
        "max_budget": len(frontier.values) - 1,
        "method": frontier.method,
        "assumed_share_of_everything": float(frontier.assumed),
        "steps": [
            {
                "budget": budget,
                "value": float(value),
                "value_exact": str(value),
                "store": list(frontier.stores[budget]) if frontier.stores else None,
            }
            for budget, value in frontier.steps()
        ],
        "values": [float(value) for value in frontier.values],
    }


def _show(frontier: "Frontier") -> None:
    """Print the budgets where the optimum rises."""
    from memaudit.cli.terminal import columns_table, console, safe_markup
    from memaudit.kernel.number_text import percent, short_exact
    from memaudit.kernel.package.provenance import assumed_text
    from memaudit.show.columns import Column

    steps = frontier.steps()
    rows = evenly(steps, MOST_ROWS)
    screen = console()
    screen.print(
        f"{safe_markup(frontier.package)}  digest {frontier.digest[:16]}  "
        f"group cap {frontier.group_cap}  budgets 0 to {len(frontier.values) - 1}  "
        f"method {safe_markup(frontier.method)}"
    )
    last = frontier.values[-1]
    columns: list[Column[tuple[int, Fraction]]] = [
        Column(key="budget", value=lambda row: row[0], short="from budget"),
        Column(key="value", value=lambda row: row[1], short="optimum", show=short_exact),
        Column(
            key="share",
            value=lambda row: row[1] / last if last else None,
            short="share of last",
            show=lambda share: percent(share, 1),
        ),
    ]
    screen.print(columns_table(columns, rows))
    if frontier.assumed:
        share = assumed_text(frontier.assumed)
        screen.print(f"of what all candidates are worth together, {share}")
    if len(rows) < len(steps):
        screen.print(f"{len(rows)} of {len(steps)} steps shown, evenly spaced; --json shows all")


def evenly(steps: list[tuple[int, Fraction]], most: int) -> list[tuple[int, Fraction]]:
    """At most that many steps, spread evenly, with the first and the last."""
    if len(steps) <= most:
        return steps
    # Whole numbers throughout, so that the first and the last step are hit exactly.
    return [steps[place * (len(steps) - 1) // (most - 1)] for place in range(most)]
