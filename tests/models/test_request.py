"""What a request is named by, and what it is not."""

import json
from dataclasses import replace

import pytest

from memaudit.models.request import (
    InvalidRequest,
    Message,
    ModelParameters,
    Request,
    Template,
    request_from_json,
)
from tests.models.asking import Labels, request


def test_the_key_is_stable() -> None:
    """The hash is what sha256sum prints for the text below; a change would lose every cache."""
    plain = Request("m", (Message("user", "é"),), "R", '{"type":"object"}', Template("t", "1"))
    text = (
        '{"messages":[{"content":"\\u00e9","role":"user"}],"model":"m",'
        '"parameters":{"max_tokens":4096,"seed":0,"temperature":0.0},'
        '"reply":{"name":"R","schema":{"type":"object"}},"template":{"id":"t","version":"1"}}'
    )
    assert json.loads(text) == plain.to_json()
    assert plain.key == "393146e9f6b7e072af2daa433604fa95c5017e926fb1ab619e84bea9a0090145"


def test_everything_that_changes_the_question_changes_the_key() -> None:
    base = request()
    first, second = base.messages
    others = [
        replace(base, model="n"),
        replace(base, messages=(first, Message("user", "Ann moved to Rome"))),
        replace(base, messages=(second, first)),
        replace(base, messages=(first, Message("assistant", second.content))),
        replace(base, parameters=ModelParameters(max_tokens=51)),
        replace(base, parameters=ModelParameters(max_tokens=50, temperature=0.1)),
        replace(base, parameters=ModelParameters(max_tokens=50, temperature=None)),
        replace(base, parameters=ModelParameters(max_tokens=50, seed=1)),
        replace(base, parameters=ModelParameters(max_tokens=50, top_p=1)),
        replace(base, template=Template.of("coverage", "Which units?")),
        replace(base, template=Template("units", base.template.version)),
        replace(base, reply_schema='{"type":"object"}'),
        replace(base, reply_name="Other"),
    ]
    assert len({one.key for one in [base, *others]}) == 14
    assert replace(base, parameters=ModelParameters(temperature=0, max_tokens=50)).key == base.key


def test_json_round_trip() -> None:
    for one in (request(), replace(request(), parameters=ModelParameters(None, 7, None, 0.5))):
        assert request_from_json(json.loads(json.dumps(one.to_json()))) == one


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://x"}, {"model": 7}, {"messages": []}, {"messages": [{"role": "user"}]},
        {"messages": [{"role": "tool", "content": ""}]}, {"parameters": {"max_tokens": "1"}},
        {"parameters": {"max_tokens": 1, "logprobs": True}}, {"template": "t"},
        {"reply": {"name": "not a name", "schema": {}}},
        {"messages": [{"role": "user", "content": 1}]},
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        request_from_json({**request().to_json(), **change})
    assert "\n" not in str(caught.value)


def test_half_characters_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="an unpaired surrogate"):
        Message("user", "\ud800")


def test_schemas_have_no_made_up_titles() -> None:
    """Titles are noise and differ between library versions; fields called title stay."""
    schema = json.loads(request().reply_schema)
    assert "title" not in json.dumps(schema)
    assert schema["required"] == ["units"]
    assert request().reply_name == Labels.__name__
