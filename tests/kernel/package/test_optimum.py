"""Certificates as JSON: written, read back, and refused where they make no sense."""

import json
from fractions import Fraction
from typing import Any

import pytest

from memaudit.kernel.checker import verify
from memaudit.kernel.errors import InvalidCertificate
from memaudit.kernel.package.optimum import Certificate
from memaudit.kernel.solvers.solve import solve
from tests.kernel.solvers.random_forms import random_package
from tests.proofs import certificate, package

F = Fraction

PAIR = package("a:e0:2 b:e1:2", {"x": 1}, [("a", "x", 1), ("b", "x", 1)])


def test_certificates_read_back() -> None:
    """to_json and from_json are inverse, through text."""
    for seed in range(60):
        package = random_package(seed, irrational=True)
        good = solve(package, seed % 7, solver="reference").certificate
        assert good is not None
        assert Certificate.from_json(json.loads(json.dumps(good.to_json()))) == good


def test_long_values_read_back() -> None:
    """Sums of awkward fractions have more digits than any number of a package may have."""
    awkward = package(
        "a:e0:1 b:e1:1",
        {f"u{i}": F(1, 10**25 + 1 + i) for i in range(9)},
        [(id, f"u{i}", F(1, 7)) for i in range(9) for id in "ab"],
    )
    good = solve(awkward, F(2), solver="reference").certificate
    assert good is not None
    assert len(str(good.value)) > 200
    again = Certificate.from_json(json.loads(json.dumps(good.to_json())))
    assert again == good
    assert verify(awkward, again).valid


GOOD = certificate(PAIR, 4, 1, "a", 5, 0, layouts=((((0,), (0, ~1)),),)).to_json()


@pytest.mark.parametrize("field", sorted(GOOD.keys() - {"format", "version"}))
def test_missing_fields(field: str) -> None:
    rest = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(InvalidCertificate) as caught:
        Certificate.from_json(rest)
    assert str(caught.value) == f"malformed certificate: field '{field}' is missing"


NOT_EXACT = ("four", "1/0", "1/00", "", " 4", "4\n", "1_0", "٣", "1e999999999", "nan", "1/2/3")
MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"format": "memaudit-package"}, "not a certificate"),
    ({"version": 2}, "certificate version 2 is not 1"),
    ({"package": 5}, "expected text, found int"),
    ({"budget": 4}, "expected text, found int"),
    *(({"budget": text}, f"{text!r} is not an exact number") for text in NOT_EXACT),
    ({"value": "9" * 4301}, "number has more than 4300 digits"),
    ({"value": "1/" + "9" * 4301}, "number has more than 4300 digits"),
    ({"value": "9" * 301}, "number is out of range"),
    ({"value": None}, "expected text, found nothing"),
    ({"group_cap": "1"}, "expected a whole number, found str"),
    ({"group_cap": True}, "expected a whole number, found bool"),
    ({"scale": 1.0}, "expected a whole number, found float"),
    ({"store": "a"}, "expected a list, found str"),
    ({"store": [1]}, "expected text, found int"),
    ({"store": None}, "expected a list, found nothing"),
    ({"proof": {}}, "expected a list, found dict"),
    ({"proof": [0, "0"]}, "expected a whole number, found str"),
    ({"proof": [0, False]}, "expected a whole number, found bool"),
    ({"layouts": {}}, "expected a list, found dict"),
    ({"layouts": [0]}, "expected a list, found int"),
    ({"layouts": [[[[0]]]]}, "a block is a list of units and a list of groups"),
    ({"layouts": [[[[0], [0], [0]]]]}, "a block is a list of units and a list of groups"),
    ({"layouts": [["ab"]]}, "expected a list, found str"),
    ({"layouts": [[[[0], [0.5]]]]}, "expected a whole number, found float"),
]


@pytest.mark.parametrize(("change", "reason"), MALFORMED)
def test_malformed_certificates(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidCertificate, match=r"^(malformed|not a|certificate)") as caught:
        Certificate.from_json({**GOOD, **change})
    assert reason in str(caught.value)


@pytest.mark.parametrize("data", [None, 3, "text", [], {}, [GOOD]])
def test_what_is_not_a_certificate(data: Any) -> None:
    with pytest.raises(InvalidCertificate, match="not a certificate"):
        Certificate.from_json(data)


@pytest.mark.parametrize("text", ["7/2", "3.5", "0", "-1", "007/2", "1/3", f"1/{2**13000}"])
def test_exact_numbers(text: str) -> None:
    """Fractions and decimals are exact, and a hostile one is refused in words."""
    read = Certificate.from_json({**GOOD, "budget": text, "store": ["a", "b"]})
    assert read.budget == Fraction(text)
    assert isinstance(verify(PAIR, read).reason, str)
