"""Estimates before each pass, a yes before spending, progress with spend, and the cap."""

from dataclasses import replace
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.models.session import AskProgress, SessionCallbacks, progress_text
from memaudit.models.spending import price_of
from tests.models.server import serving
from tests.natural.passes.building import live, make
from tests.natural.passes.fake_model import plays, which

pytest.importorskip("openai", reason="pip install 'memaudit[models]'")

ONE = ("film-night",)


def test_an_estimate_before_every_pass(tmp_path: Path) -> None:
    """With prices a range in dollars; progress counts calls and what they cost."""
    shown: list[str] = []
    steps: list[tuple[str, AskProgress]] = []
    callbacks = SessionCallbacks(
        shown.append, progress=lambda stage, state: steps.append((stage, state))
    )
    with serving(plays) as served:
        settings = replace(live(served.url), price=price_of("1", "2"))
        make(tmp_path, settings, conversations=ONE, callbacks=callbacks)
    heads = [line for line in shown if line.startswith("pass ")]
    assert heads == [
        "pass memories, one:", "pass units, one:", "pass requirements, one:",
        "pass adjudication, other:", "pass coverage, one:", "pass spot check, other:",
    ]  # fmt: skip
    assert sum(line.startswith("about $") for line in shown) == 6
    assert len(steps) == len(served.bodies)
    stage, last = steps[-1]
    # each call has 10 prompt tokens at 1 and 5 reply tokens at 2 dollars a million
    assert last.spent.cost == len(served.bodies) * price_of("1", "2").cost(10, 5)  # type: ignore[union-attr]
    assert progress_text(stage, last).startswith("pass spot check: ")
    assert f"used {len(served.bodies)} calls" in progress_text(stage, last)


def test_a_no_stops_before_the_pass(tmp_path: Path) -> None:
    """Yes to the first two passes, no to the third: what was answered stays in the cache."""
    answers = iter([True, True, False])
    with serving(plays) as served:
        with pytest.raises(MemAuditError, match="stopped before the first call"):
            make(
                tmp_path,
                live(served.url),
                conversations=ONE,
                callbacks=SessionCallbacks(agree=answers.__next__),
            )
        assert [which(body) for body in served.bodies] == ["memories", "units"]
        make(
            tmp_path,
            live(served.url),
            conversations=ONE,
            callbacks=SessionCallbacks(agree=lambda: True),
        )
    assert [which(body) for body in served.bodies].count("memories") == 1


def test_the_cap_stops_the_build(tmp_path: Path) -> None:
    """No package is made of what was answered before; a larger cap goes on from there.

    At their largest the adjudication's requests take over 9,200 tokens, the earlier ones 8,100.
    """
    with serving(plays) as served:
        settings = replace(live(served.url), max_total_tokens=8_700)
        with pytest.raises(
            MemAuditError, match=r"pass adjudication: .* raise the cap and run again"
        ):
            make(tmp_path, settings, conversations=ONE)
        before = len(served.bodies)
        assert {which(body) for body in served.bodies} == {"memories", "units", "requirements"}
        assert not (tmp_path / "out").exists()
        made = make(tmp_path, live(served.url), conversations=ONE)
    assert made.manifest["usage"]["calls"] == len(served.bodies)
    assert made.session.asking.client.spent.calls == len(served.bodies) - before
