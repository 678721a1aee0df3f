"""`memaudit demo`: a bundled example, solved, certified and checked."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.text import safe
from memaudit.core.errors import MemAuditError

WORDS = """
Each row is the best memory store for that many words: no other store within the budget, with one
memory per message, covers more of what later questions need. A writer's ratio is its own store's
value divided by the value here. The stores change in kind as the budget grows: short tombstones and
half-told summaries first, then updates that carry old and new, at last a message word for word.

Next: memaudit solve {example} --budget 30
      memaudit verify {example} {certificate}
      memaudit frontier {example} --max-budget 60"""


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the example and a certificate go.")
    ] = Path("out/demo"),
) -> None:
    """Solve a small example at several budgets and verify a certificate from disk."""
    from memaudit.cli.solve import show, solve_jobs
    from memaudit.cli.verify import checked, line_of
    from memaudit.core.digest import digest
    from memaudit.io.certificates import read_certificates, write_certificates
    from memaudit.io.example import example_package
    from memaudit.io.packages import read_package, write_package

    package = example_package()
    optima = solve_jobs([(package, package.budgets)], None, "auto", None)
    show(optima)
    largest = max(optima, key=lambda optimum: optimum.budget)
    if largest.certificate is None:
        raise MemAuditError(f"the example was not solved to the end: {largest.note}")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MemAuditError(f"cannot make {out}: {error.strerror or error}") from None
    example, file = out / "travel.json", out / f"travel-{largest.budget}.certificate.json"
    write_package(package, example)
    write_certificates([largest.certificate], file)
    again = read_package(example)
    (certificate,) = read_certificates(file)
    check = checked(certificate, {digest(again): again})
    typer.echo(safe(line_of(check)))
    if not check["valid"]:
        raise typer.Exit(FAILED)
    typer.echo(WORDS.format(example=safe(example), certificate=safe(file)))
