"""A diagnosis: what became of the questions at every store, who lost them, and the measures."""

from typing import TYPE_CHECKING

from memaudit.downstream.examine import WHY
from memaudit.downstream.outcomes import Layer, Outcome
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.diagnosed import Diagnosed
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.views.question_choices import (
    choices,
    failures_slug,
    in_words,
    outcome_slug,
)
from memaudit.web.explorer.views.question_losses import by_kind, remarks, share, store_losses

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "diagnosis/{diagnosis}/index.html"
SETTINGS = ("budget", "retriever", "k", "reader", "policy", "judge", "seed")
MOST_DIFFERENCES, MOST_FALLS = 300, 8
"""Longer tables are cut, and say so."""


def crumbs(found: Found, inside: bool = True) -> tuple[tuple[str, str], ...]:
    """The way back."""
    top = ("Diagnoses", addresses.INDEX + "#diagnoses")
    return (top, (found.name, addresses.diagnosis(found.slug))) if inside else (top,)


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    found = site.library.named("diagnosis", parts["diagnosis"])
    diagnosed = site.library.diagnosis(found)
    return site.render(
        "diagnosis.html", addresses.diagnosis(found.slug), found.name,
        crumbs=crumbs(found, False), found=found, diagnosed=diagnosed,
        cut=site.library.without_paths(diagnosed.cut), losses=store_losses(diagnosed),
        outcomes=list(Outcome), layers=list(Layer),
        choices=choices(diagnosed), outcome_slug=outcome_slug, failures_slug=failures_slug,
        in_words=in_words, kinds=by_kind(diagnosed), remarks=remarks(diagnosed), why=WHY,
        share_of=share, settings=_settings(diagnosed), most=MOST_DIFFERENCES,
        most_falls=MOST_FALLS, stores_here=stores_here(site),
    )  # fmt: skip


def stores_here(site: "Site") -> dict[str, str]:
    """Pages of exported stores, by their names."""
    return {one.name: addresses.store(one.slug) for one in reversed(site.library.of("store"))}


def _settings(diagnosed: Diagnosed) -> list[tuple[str, str]]:
    """What the spec says, as far as it does."""
    return [(name, said) for name in SETTINGS if (said := diagnosed.said(name))]


PAGE = Page(PATTERN, render, "diagnosis")
