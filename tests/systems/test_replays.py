"""The conversation's clock, whole exchanges and recorded calls, with every real system."""

import json
import re
from dataclasses import replace
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from memaudit.api import build
from memaudit.kernel.package.package import Package
from memaudit.lab.capture.capture import RECORDED, CallPlan, CaptureOutcome, capture
from memaudit.lab.capture.feed_package import NotRecorded
from memaudit.lab.capture.systems import SYSTEMS, CaptureSettings, named_system
from memaudit.models.record import SUFFIX
from tests.systems.conftest import ENVIRONMENTS, KEY
from tests.systems.model_server import ModelServer

TALK = (
    ("s1", "2023-05-08T09:00", "user", "Ann lives in Rome. Ann plays chess."),
    ("s1", "2023-05-08T09:00", "assistant", "Rome is a lovely place."),
    ("s1", "2023-05-08T09:02", "user", "Ann has a parrot called Kiwi."),
    ("s1", "2023-05-08T09:02", "assistant", "Kiwi sings well."),
    ("s2", "2023-06-01T18:30", "user", "Correction: Ann lives in Oslo."),
    ("s2", "2023-06-01T18:31", "assistant", "That is noted."),
)


ROLE = re.compile(
    r"(?i)assistant: (\[2023-05-08T09:00\] )?Rome is a lovely"
    r"|ai message =+(\\n|\s)*\[2023-05-08T09:00\] Rome is a lovely"
    r'|"role": "assistant", "content": "\[2023-05-08T09:00\] Rome is a lovely'
    r'|"content": "\[2023-05-08T09:00\] Rome is a lovely place\.", "role": "assistant"'
)
"""How systems say whose words these are."""


def talk(name: str = "ann", changed: str = "") -> Package:
    return Package.model_validate(
        {
            "name": name,
            "candidates": [],
            "units": [],
            "experiences": [
                {
                    "id": f"e{at}",
                    "index": at,
                    "session": session,
                    "timestamp": time,
                    "speaker": who,
                    "text": changed if changed and at == 2 else text,
                }
                for at, (session, time, who, text) in enumerate(TALK)
            ],
        }
    )


def run(
    system: str,
    model: ModelServer | None,
    out: Path,
    package: Package,
    calls: CallPlan = RECORDED,
    **settings: object,
) -> CaptureOutcome:
    given = CaptureSettings(
        "small",
        model.address if model else "",
        "words",
        python=str(Path(ENVIRONMENTS or "") / system),
    )
    out.parent.mkdir(exist_ok=True)
    given = replace(given, **settings)  # type: ignore[arg-type]
    return capture(named_system(system), [package], given, out, calls=calls)


def unlike_figures(path: Path) -> dict[str, Any]:
    """A store without the seconds, which two live runs cannot share."""
    data: dict[str, Any] = json.loads(path.read_text())
    del data["origin"]["configuration"]["writing"]
    del data["digest"]
    return data


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_capture_can_be_repeated(system: str, model: ModelServer, tmp_path: Path) -> None:
    """Two live runs give the same requests and the same store. A replay, without any model, gives
    the same store byte for byte. Nothing is dated today, and no key is in any file."""
    first, second, third = (tmp_path / name / "store.json" for name in "abc")
    outcome = run(system, model, first, talk())
    asked = list(model.seen)
    model.seen.clear()
    run(system, model, second, talk())
    # Graphiti asks several things at once, in any order.
    assert sorted(map(repr, model.seen)) == sorted(map(repr, asked))
    assert unlike_figures(second) == unlike_figures(first)
    record = first.with_name("store.json.record.jsonl")
    model.seen.clear()
    run(system, None, third, talk(), CallPlan(replay=record))
    assert model.seen == []
    assert third.read_bytes() == first.read_bytes()
    files = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    today = date.today().isoformat()
    assert not any(today in text or KEY in text for text in files)
    assert outcome.store.active
    writing = outcome.store.origin.configuration["writing"]
    assert isinstance(writing, dict)
    assert writing["calls"] == sum(path.endswith("completions") for path, _ in asked)
    assert isinstance(writing["tokens_in"], int)


@pytest.mark.parametrize("system", SYSTEMS)
def test_both_roles_reach_the_model_together(
    system: str, model: ModelServer, tmp_path: Path
) -> None:
    """In an exchange, the assistant's words come as the assistant's, with what they answer."""
    run(system, model, tmp_path / "s.json", talk(), feed="exchange")
    together = [
        chat for chat in model.chats if "plays chess" in chat and "Rome is a lovely" in chat
    ]
    assert together
    assert any(ROLE.search(chat) for chat in together), together[0]


def test_a_request_that_is_not_recorded(model: ModelServer, tmp_path: Path) -> None:
    """The replay ends with the nearest request."""
    run("mem0", model, tmp_path / "a" / "s.json", talk())
    record = tmp_path / "a" / "s.json.record.jsonl"
    other = talk(changed="Ann has a canary called Kiwi.")
    with pytest.raises(NotRecorded, match=r"after 'e3' in 'ann'.*parrot.*canary"):
        run("mem0", None, tmp_path / "b" / "s.json", other, CallPlan(replay=record))
    assert not (tmp_path / "b" / "s.json").exists()


CAPTURES = Path(str(files("memaudit"))) / "examples" / "natural" / "captures"
SHIPPED = sorted(path.relative_to(CAPTURES) for path in CAPTURES.glob("*/*.json"))


@pytest.fixture(scope="module")
def conversations() -> dict[str, Package]:
    built = build(CAPTURES.parent / "conversations.jsonl")
    return {package.name: package for package in built}


@pytest.mark.parametrize("store", SHIPPED, ids=str)
def test_shipped_records_give_the_shipped_stores(
    store: Path, conversations: dict[str, Package], tmp_path: Path
) -> None:
    """Every record that ships, replayed offline with the real system."""
    record = CAPTURES / store.with_name(f"{store.name}{SUFFIX}.gz")
    package = conversations[store.name.split(".")[0]]  # CONVERSATION.run2.json is a second run
    run(store.parent.name, None, tmp_path / store.name, package, CallPlan(replay=record))
    assert (tmp_path / store.name).read_bytes() == (CAPTURES / store).read_bytes()
