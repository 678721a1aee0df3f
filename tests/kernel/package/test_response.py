"""h that is flat from some coverage on, in every shape; old packages keep their digests."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from memaudit import solve
from memaudit.kernel.io.packages import read_package, write_package
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.response import (
    SHAPES,
    Capped,
    Log1p,
    Piecewise,
    Response,
    Saturating,
    Sqrt,
)
from tests.strategies import all_responses

F = Fraction
LINES = Piecewise(points=((F(1, 2), F(3, 4)), (F(1), F(1))))
EVERY_SHAPE: tuple[Response, ...] = (
    Capped(cap=F(3, 2)),
    LINES,
    Sqrt(),
    Log1p(),
    Saturating(),
    Sqrt(cap=F(2)),
    Log1p(cap=F(1, 3)),
    Saturating(cap=F(1)),
)
amounts = st.fractions(min_value=0, max_value=5, max_denominator=60)
caps = st.fractions(min_value=F(1, 60), max_value=5, max_denominator=60)
response = TypeAdapter[Any](Response)


def shapes(*responses: Response) -> Package:
    """A unit for each h, half covered by the only candidate."""
    units = {f"u{n}": h for n, h in enumerate(responses)}
    return Package.model_validate(
        {
            "name": "shapes",
            "experiences": [{"id": "e"}],
            "candidates": [{"id": "c", "experience": "e", "kind": "fact", "cost": 1}],
            "units": [
                {"id": id, "kind": "fact", "weight": 1, "response": h.model_dump()}
                for id, h in units.items()
            ],
            "coverage": [{"candidate": "c", "unit": id, "value": "1/2"} for id in units],
        }
    )


def test_every_shape_is_here() -> None:
    assert {h.shape for h in EVERY_SHAPE} == set(SHAPES)


@given(all_responses() | st.sampled_from(EVERY_SHAPE), caps, caps, amounts)
def test_up_to(h: Response, most: Fraction, again: Fraction, z: Fraction) -> None:
    """h(min(most, z)) to the last digit, still a valid h of the same shape, also if it is made
    flat a second time; and it saturates where it gets flat."""
    flat = h.up_to(most)
    assert flat.at(z) == h.at(min(most, z))
    assert flat.up_to(again).at(z) == h.at(min(most, again, z))
    assert flat.shape == h.shape
    assert response.validate_python(flat.model_dump()) == flat
    assert flat.saturates_at is not None
    assert flat.saturates_at <= most
    assert flat.at(flat.saturates_at) == flat.at(F(100))
    step = F(1, 60)
    if flat.is_rational:
        assert (flat.at(step * 7).low * flat.grain(step)).denominator == 1


def test_up_to_by_hand() -> None:
    """Lines through (1/2, 3/4) and (1, 1) end at (3/4, 7/8); sqrt up to 4 is 2 from there on."""
    assert LINES.up_to(F(3, 4)).points == ((F(1, 2), F(3, 4)), (F(3, 4), F(7, 8)))
    assert LINES.up_to(F(2)) == LINES
    assert Sqrt().up_to(F(4)).at(F(9)).low == Sqrt(cap=F(4)).at(F(9)).high == 2
    assert Sqrt().at(F(9)).low == 3
    assert Capped(cap=F(1, 2)).up_to(F(1)) == Capped(cap=F(1, 2))
    assert Log1p(cap=F(1)).up_to(F(2)) == Log1p(cap=F(1))


def test_digests_of_packages_without_caps_stay() -> None:
    """The digest is the one before smooth shapes could have a cap; a cap is another package."""
    plain = shapes(
        Sqrt(), Log1p(), Saturating(), Capped(cap=F(3, 2)), Piecewise(points=((F(1, 2), F(1)),))
    )
    assert digest(plain) == "3a9a36ba088662c8b5d7405f73162b5811146c9789e43ef348de4b2faa4a0574"
    assert len({digest(shapes(h)) for h in EVERY_SHAPE}) == len(EVERY_SHAPE)


def test_round_trip(tmp_path: Path) -> None:
    """In a file and in a folder of tables; without a cap no cap is written."""
    package = shapes(*EVERY_SHAPE)
    for name in ("p.json", "p"):
        write_package(package, tmp_path / name)
        again = read_package(tmp_path / name)
        assert again == package
        assert digest(again) == digest(package)
    rows = json.loads((tmp_path / "p.json").read_text())["units"]
    assert [set(row["response"]) for row in rows[2:]] == [
        {"shape"},
        {"shape"},
        {"shape"},
        *({"shape", "cap"} for _ in range(3)),
    ]


@pytest.mark.parametrize("shape", ["sqrt", "log1p", "saturating"])
@pytest.mark.parametrize("cap", [0, -1, "x"])
def test_bad_caps_are_refused(shape: str, cap: object) -> None:
    with pytest.raises(ValidationError, match="cap"):
        response.validate_python({"shape": shape, "cap": cap})


@pytest.mark.parametrize("h", [Sqrt(), Log1p(), Saturating()], ids=lambda h: h.shape)
@given(z=st.fractions(Fraction(1, 10**50), Fraction(20), max_denominator=10**50))
def test_small_values_are_known_as_well_as_large_ones(h: Response, z: Fraction) -> None:
    """The enclosure holds the true value and is a millionth of it wide at most."""
    near = h.at(z)
    with localcontext(prec=200):
        point = Decimal(z.numerator) / Decimal(z.denominator)
        truth = {
            "sqrt": point.sqrt(),
            "log1p": (1 + point).ln(),
            "saturating": 1 - (-point).exp(),
        }[h.shape]
    room = Fraction(1, 10**150)
    assert near.low - room <= Fraction(truth) <= near.high + room
    assert near.high - near.low <= near.low / 1_000_000
    assert (near.high * h.grain(z)).denominator == 1


@pytest.mark.parametrize("shape", ["sqrt", "log1p", "saturating"])
def test_a_cap_below_every_coverage_is_certified(shape: str) -> None:
    """The grid at the cap is finer than at the coverage itself."""
    package = shapes(response.validate_python({"shape": shape, "cap": "1/5000000"}))
    best = solve(package, budget=1)
    assert best.certified
    assert best.store == ("c",)
