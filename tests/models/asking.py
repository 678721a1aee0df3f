"""A small reply type, requests for it, and a client of a test server."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from memaudit.models.live import LiveClient, OpenAITransport, RetryPolicy
from memaudit.models.request import Message, ModelParameters, Request, Template
from memaudit.models.secret import Secret
from memaudit.models.spending import Meter
from tests.models.server import Served


class Unit(BaseModel):
    """One labelled thing."""

    model_config = ConfigDict(extra="forbid")
    id: str = Field(max_length=8)
    label: Literal["full", "partial", "none"]


class Labels(BaseModel):
    """A reply whose ids must differ: a rule that its JSON Schema cannot say."""

    model_config = ConfigDict(extra="forbid")
    units: list[Unit]

    @model_validator(mode="after")
    def _ids_differ(self) -> "Labels":
        if len({unit.id for unit in self.units}) < len(self.units):
            raise ValueError("an id appears twice")
        return self


GOOD = '{"units": [{"id": "u1", "label": "full"}]}'
TWICE = '{"units": [{"id": "u1", "label": "full"}, {"id": "u1", "label": "none"}]}'
WRONG = '{"units": [{"id": "u1", "label": "sure"}]}'
TEMPLATE = Template.of("coverage", "Which units does it cover?")


def request(text: str = "Ann moved to Rome.", max_tokens: int = 50, model: str = "m") -> Request:
    messages = (Message("system", "Label units."), Message("user", text))
    return Request.for_reply(
        Labels, model, messages, TEMPLATE, ModelParameters(max_tokens=max_tokens)
    )


def client(
    served: Served,
    waits: list[float] | None = None,
    meter: Meter | None = None,
    key: str = "",
    timeout: float = 10.0,
    retries: int = 3,
) -> LiveClient:
    """A live client that does not sleep but notes how long it would have."""
    secret = Secret(key)
    noted = [] if waits is None else waits
    return LiveClient(
        OpenAITransport(served.url, secret, timeout),
        meter,
        secret,
        RetryPolicy(retries=retries),
        sleep=noted.append,
    )
