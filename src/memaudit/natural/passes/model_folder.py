"""Build folders made with models: packages, one manifest, and what failed, in full."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.io.atomic import write_file
from memaudit.io.draft import line
from memaudit.models.request import canonical_json
from memaudit.models.session import ModelSession
from memaudit.natural.build_folder import FORMS, NAME, refuse_other_builds
from memaudit.natural.build_plan import Job, file_name, plan, refuse_an_empty_build, store
from memaudit.natural.passes.assemble import METHOD
from memaudit.natural.passes.build import build_with_model
from memaudit.natural.passes.manifest import model_manifest, package_entry, settings_of
from memaudit.natural.passes.recipe import ModelRecipe

FAILURES = "failures.jsonl"
"""Replies that never validated, with their raw text, and items of replies that were refused."""


def build_into_with_model(
    job: Job, recipe: ModelRecipe, session: ModelSession, out: Path, form: str = "json"
) -> dict[str, Any]:
    """Build every package into a folder; the manifest comes last, so it vouches for them all.

    The job's format and cost rule go before the recipe's. Nothing is written before all passes are
    through; until then everything that was answered is in the cache.
    """
    if form not in FORMS:
        raise MemAuditError(f"unknown form {form!r}; choose {' or '.join(FORMS)}")
    made = plan(job)
    own = replace(recipe, format=made.recipe.format, cost_rule=made.recipe.cost_rule)
    refuse_other_builds(out, made, METHOD, {"models": own.models, "settings": settings_of(own)})
    builds = build_with_model(made.loaded(), own, session)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MemAuditError(f"cannot make {out}: {error.strerror or error}") from None
    if not builds:
        refuse_an_empty_build(job.path, out)
    kept = 0
    entries = []
    for built in builds:
        file = file_name(built.package.name, form)
        kept += not store(built.package, out / file)
        entries.append(package_entry(built, file, session.ledger))
    rows = [row.to_json() for built in builds for row in session.ledger.of(built.draft.name)]
    write_file(out / FAILURES, "".join(canonical_json(row) + "\n" for row in rows))
    data = model_manifest(made, own, session.parameters, entries, builds, session.ledger)
    write_file(out / NAME, line(data, indent=2) + "\n")
    return {**data, "kept": kept}
