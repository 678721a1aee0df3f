"""`memaudit verify`: check certificates against their packages."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.terminal import safe
from memaudit.kernel.words.text import counted

if TYPE_CHECKING:
    from memaudit.kernel.package.optimum import Certificate
    from memaudit.kernel.package.package import Package


def verify(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A package: .json file or folder.")],
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A certificate, or a list of certificates.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check certificates in exact arithmetic. The exit code is 1 if any is invalid."""
    from memaudit.kernel.io.certificates import read_certificates
    from memaudit.kernel.io.packages import read_packages
    from memaudit.kernel.package.digest import digest

    certificates = read_certificates(file)
    packages = {digest(package): package for package in read_packages(path)}
    checks = []
    for certificate in certificates:
        checks.append(checked(certificate, packages))
        if not as_json:
            typer.echo(safe(line_of(checks[-1])))
    if as_json:
        typer.echo(json.dumps(checks, indent=2))
    if not all(check["valid"] for check in checks):
        raise typer.Exit(FAILED)


def checked(certificate: "Certificate", packages: dict[str, "Package"]) -> dict[str, Any]:
    from memaudit.kernel.checker import verify as verify_one
    from memaudit.kernel.exact import plain

    own = packages.get(certificate.package)
    started = time.perf_counter()
    # A certificate of none of these packages is checked against any of them: the checker refuses it
    # by its digest, in its own words.
    verdict = verify_one(own or next(iter(packages.values())), certificate)
    return {
        "package": own.name if own else None,
        "digest": certificate.package,
        "budget": plain(certificate.budget),
        "group_cap": certificate.group_cap,
        "value": float(certificate.value),
        "value_exact": str(certificate.value),
        "valid": verdict.valid,
        "reason": verdict.reason,
        "leaves": verdict.leaves,
        "seconds": round(time.perf_counter() - started, 6),
    }


def line_of(check: dict[str, Any]) -> str:
    name = check["package"] or f"package {check['digest'][:16]}"
    what = f"{name}, budget {check['budget']}, group cap {check['group_cap']}"
    if not check["valid"]:
        return f"REFUSED  {what}: {check['reason']}"
    leaves = counted(check["leaves"], "leaf", "leaves")
    value = check["value_exact"]
    value = value if len(value) <= 24 else f"~{check['value']:.9g}"
    return f"VALID  {what}, value {value}, {leaves}, {check['seconds']:.3f} s"
