"""What a reader must know about the numbers of an agreement audit, line by line."""

from collections.abc import Iterator

from memaudit.audits.agreement.audit import AgreementAudit

FEW_PACKAGES = 10


def notes(found: AgreementAudit) -> list[str]:
    """All of them, without a full stop."""
    return [*_about_key(found), *_about_packages(found), *_about_partial(found)]


def _about_key(found: AgreementAudit) -> Iterator[str]:
    if found.own_passes:
        names = ", ".join(found.own_passes)
        yield f"the package's own labels are {names}: there is no row for the package"
    if not found.keyed:
        yield "no key: nothing is compared with the package or reweighted"
    elif all(one.natural is None for one in found.comparisons):
        yield "the key gives every cell the same weight: no natural balance to show"
    elif found.keyed < found.cells:
        yield (
            f"{found.cells - found.keyed:,} cells have no key: in the natural balance they are "
            "left out"
        )
    if found.key_column.endswith("_label"):
        yield (
            f"the key is the published column {found.key_column}, which is 1 from a coverage of "
            "0.5 on: its full may be partial, so read the covered scale"
        )
    elif found.key_column:
        label = found.key_column.replace("_coverage", "_label")
        yield (
            f"the key is the published column {found.key_column}; the published {label} is 1 from "
            "a coverage of 0.5 on, so with coverages 0, 0.5 and 1 it is the covered scale here"
        )


def _about_packages(found: AgreementAudit) -> Iterator[str]:
    if 1 < found.packages < FEW_PACKAGES:
        yield f"only {found.packages} packages: intervals over packages are rough"


def _about_partial(found: AgreementAudit) -> Iterator[str]:
    """Whoever labels in two steps cannot agree with a partial; what they mean is covered."""
    if not found.has_partial:
        yield "nobody says partial: both scales are the same"
        return
    counts = found.labels
    graded = [one.title for one in found.raters if counts[one.name]["partial"]]
    binary = [
        one.title
        for one in found.raters
        if counts[one.name]["full"] and not counts[one.name]["partial"]
    ]
    if binary:
        yield (
            f"{', '.join(binary)} never said partial, {', '.join(graded)} did: between them full "
            "against partial counts as disagreement on the scale of three labels; the covered "
            "scale is the fair one"
        )
