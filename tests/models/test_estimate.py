"""The estimate before a run, worked by hand."""

from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.models.cache import Cache
from memaudit.models.request import Message, Parameters, Request, Template
from memaudit.models.spending import confirm, estimate, price_of
from tests.models.asking import request
from tests.models.test_cache import reply_to

SMALL = Request(
    "m", (Message("user", "x" * 148),), "R", "{}", Template("t", "1"), Parameters(max_tokens=100)
)


def test_by_hand() -> None:
    """150 bytes are 30 to 50 tokens, 8 more for the message; replies take 16 to 100."""
    found = estimate([SMALL, SMALL], None, price_of("10", "100"))
    assert (found.requests, found.prompt_tokens, found.completion_tokens) == (
        1,
        (30, 58),
        (16, 100),
    )
    # 30 * 10 + 16 * 100 = 1900 and 58 * 10 + 100 * 100 = 10580 millionths of a dollar
    assert found.cost == (Fraction(1900, 10**6), Fraction(10580, 10**6))
    assert found.lines()[-1] == "about $0.0019 to $0.0106"
    assert "cost unknown" in estimate([SMALL], None, None).lines()[-1]


def test_what_is_cached_costs_nothing(tmp_path: Path) -> None:
    """When everything is cached, nothing is asked and nobody has to agree."""
    shown: list[str] = []
    with Cache(tmp_path / "cache") as cache:
        cache.keep(request(), reply_to(request()), "now")
        assert estimate([request(), SMALL], cache, None).cached == 1
        confirm(estimate([request()], cache, None), shown.append, lambda: False)
    assert shown == ["nothing to ask, 1 answered from the cache"]


def test_the_user_decides() -> None:
    """No means no call; --yes asks nothing."""
    found = estimate([SMALL], None, None)
    with pytest.raises(MemAuditError, match="nothing was spent"):
        confirm(found, lambda _: None, lambda: False)
    confirm(found, lambda _: None, lambda: True)
    confirm(found, lambda _: None, lambda: False, yes=True)
