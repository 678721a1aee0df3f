"""A package as data for scripts: rows by position, texts shortened and made visible."""

from fractions import Fraction
from typing import Any

from memaudit.core.exact import plain
from memaudit.core.response import Capped, Piecewise, Response
from memaudit.core.unit_parts import whole_units
from memaudit.report.encoding import kind_look
from memaudit.report.page_numbers import shortened, visible_text
from memaudit.web.explorer.addresses import anchor
from memaudit.web.explorer.library.indexed_package import IndexedPackage

MOST_CHARACTERS = 280
"""Longer texts are cut. The stream has them in full."""


def shown(text: str | None, most: int = MOST_CHARACTERS) -> str:
    """A text that scripts may show. Invisible characters are written as escapes."""
    cut = shortened(text or "", most)
    return cut if cut.isprintable() else visible_text(cut)


def package_data(indexed: IndexedPackage) -> dict[str, Any]:
    """Candidates, units, queries and coverage."""
    kind_at = {kind: place for place, kind in enumerate(indexed.kinds)}
    sessions = list(dict.fromkeys(item.session or "" for item in indexed.experiences))
    session_at = {session: place for place, session in enumerate(sessions)}
    weights = indexed.package.weights
    wholes = {
        unit.id: place
        for place, whole in enumerate(whole_units(indexed.units))
        for unit in whole.units
    }
    return {
        "kinds": [shown(kind, 40) for kind in indexed.kinds],
        "kind_looks": [[look.tone, shown(look.letters)] for look in map(kind_look, indexed.kinds)],
        "sessions": [shown(session, 40) for session in sessions],
        "experiences": {
            "session": [session_at[item.session or ""] for item in indexed.experiences],
            "time": [shown(item.timestamp, 40) for item in indexed.experiences],
        },
        "candidates": {
            "id": [shown(item.id, 60) for item in indexed.candidates],
            "anchor": [anchor("candidates", item.id) for item in indexed.candidates],
            "experience": [indexed.experience_at[item.experience] for item in indexed.candidates],
            "kind": [kind_at[item.kind] for item in indexed.candidates],
            "cost": [script_number(item.cost) for item in indexed.candidates],
            "text": [shown(item.text) for item in indexed.candidates],
        },
        "units": {
            "id": [shown(item.id, 60) for item in indexed.units],
            "kind": [shown(item.kind, 40) for item in indexed.units],
            "whole": [wholes[item.id] for item in indexed.units],
            "weight": [script_number(weights[item.id]) for item in indexed.units],
            "text": [shown(item.text) for item in indexed.units],
            "h": [_response(item.response) for item in indexed.units],
        },
        "cells": [
            [[unit, script_number(cell.value)] for unit, cell in row] for row in indexed.cells
        ],
        "queries": [
            sorted({indexed.unit_at[unit] for unit in query.required})
            for query in indexed.package.queries
        ],
    }


def script_number(number: Fraction) -> int | float:
    """A number for a script, an integer if possible."""
    return number.numerator if number.denominator == 1 else float(number)


def _response(response: Response) -> Any:
    """h for a script: a cap, the corners of a line, or the name of a curve."""
    if isinstance(response, Capped):
        return float(response.cap)
    if isinstance(response, Piecewise):
        return [[float(x), float(y)] for x, y in response.points]
    return response.shape if response.cap is None else [response.shape, float(response.cap)]


def number_text(number: Any) -> str:
    """An exact number as its files write it."""
    return str(plain(number))
