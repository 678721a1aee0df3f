"""The verify button: a certificate and its package, read again and handed to the checker."""

import threading
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from memaudit.core.errors import MemAuditError
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.pages.certificate import checked, numbered
from memaudit.web.explorer.pages.package import budget_asked
from memaudit.web.explorer.site import Site
from memaudit.web.explorer.views.proving import proven, verdict_data

LONGEST_BODY = 1 << 12

_ONE_AT_A_TIME = threading.Lock()
"""A hostile proof may take minutes; it shall not take every core."""


class Wish(BaseModel):
    """Which certificate: one of a file by its number, or that of a package at a budget."""

    model_config = ConfigDict(extra="forbid", strict=True)

    certificate: str = Field("", max_length=200)
    number: int = 1
    package: str = Field("", max_length=200)
    budget: str = Field("0", max_length=200)


async def read_wish(request: Request) -> Wish:
    """The JSON of a request."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise MemAuditError("expected application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise MemAuditError("the request is too long")
    try:
        return Wish.model_validate_json(body)
    except ValidationError:
        raise MemAuditError("the request names no certificate") from None


def verified(site: Site, wish: Wish) -> dict[str, Any]:
    """What the checker says of the files as they are now."""
    with _ONE_AT_A_TIME:
        site.library.forget()
        if wish.certificate:
            return verdict_data(checked(site, numbered(site, wish.certificate, wish.number), True))
        opened = site.package(wish.package)
        best = site.workshop(opened).optimum(budget_asked({"budget": wish.budget}))
        if best.certificate is None:
            raise NotHere(f"there is no certificate for this budget: {best.note}")
        found = proven(best.certificate, opened.found, opened.package, True, best)
        return verdict_data(found)
