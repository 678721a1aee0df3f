"""The explorer over HTTP: pages, their data, static files, and the verify button."""

import threading
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.pages import DATA, PAGES
from memaudit.lab.explorer.pages.certificates import checked, numbered, proven, verdict_data
from memaudit.lab.explorer.pages.package import budget_param
from memaudit.lab.explorer.site import ONE_FILE, TYPES, Site, read_templates, show, static_files
from memaudit.lab.explorer.views.package_data import shown
from memaudit.lab.serving import read_json

LONGEST_BODY = 1 << 12

_ONE_AT_A_TIME = threading.Lock()
"""A hostile proof may take minutes; it must not take every core."""


class VerifyRequest(BaseModel):
    """The certificate to verify: one of a file by its number, or of a package at a budget."""

    model_config = ConfigDict(extra="forbid", strict=True)

    certificate: str = Field("", max_length=200)
    number: int = 1
    package: str = Field("", max_length=200)
    budget: str = Field("0", max_length=200)


async def read_verify_request(request: Request) -> VerifyRequest:
    text = await read_json(request, LONGEST_BODY)
    try:
        return VerifyRequest.model_validate_json(text)
    except ValidationError:
        raise MemAuditError("the request does not name a certificate") from None


def verified(site: Site, request: VerifyRequest) -> dict[str, Any]:
    """The checker's verdict on the files as they are now."""
    with _ONE_AT_A_TIME:
        site.library.forget()
        if request.certificate:
            return verdict_data(checked(site, numbered(site, request.certificate, request.number)))
        indexed = site.package(request.package)
        best = site.optima(indexed).optimum(budget_param({"budget": request.budget}))
        if best.certificate is None:
            raise NotInLibrary(f"there is no certificate for this budget: {best.note}")
        proof = proven(best.certificate, indexed.entry, indexed.package, best)
        return verdict_data(proof)


def explorer_app(site: Site) -> Starlette:
    """The application that serves a site. Work runs off the event loop."""
    read_templates()

    async def page(request: Request) -> Response:
        address = request.path_params.get("address") or addresses.INDEX
        return await run_in_threadpool(_page, site, address, dict(request.query_params))

    async def verify(request: Request) -> Response:
        try:
            wanted = await read_verify_request(request)
        except MemAuditError as error:
            return JSONResponse({"error": str(error)}, 400)
        return await run_in_threadpool(_json_or_error, site, lambda: verified(site, wanted))

    return Starlette(
        routes=[
            Route("/", page),
            Route("/static/{name}", _static),
            Route("/verify", verify, methods=["POST"]),
            *(Route(f"/{data.pattern}", _data(site, data.answer, data.pattern)) for data in DATA),
            Route("/{address:path}", page),
        ]
    )


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    data = static_files().get(name)
    if data is None:
        return PlainTextResponse("there is no such file\n", 404)
    return Response(data, media_type=TYPES[PurePath(name).suffix])


def _page(site: Site, address: str, params: Mapping[str, str]) -> Response:
    if address in (addresses.INDEX, addresses.SEARCH):
        site.library.refresh()
    status, text = show(site, PAGES, address, params)
    if address.endswith(".json") and status == 200:
        return Response(text, media_type="application/json")
    if address.startswith("page/") and status == 200:
        return HTMLResponse(text, headers={"content-security-policy": ONE_FILE})
    return HTMLResponse(text, status)


def _data(
    site: Site, answer: Callable[[Site, Mapping[str, str], Mapping[str, str]], Any], pattern: str
) -> Callable[[Request], Any]:
    async def answering(request: Request) -> Response:
        match = addresses.matcher(pattern).fullmatch(request.url.path.lstrip("/"))
        if match is None:
            return JSONResponse({"error": "there is no such page"}, 404)
        parts, params = match.groupdict(), dict(request.query_params)
        return await run_in_threadpool(_json_or_error, site, lambda: answer(site, parts, params))

    return answering


def _json_or_error(site: Site, work: Callable[[], Any]) -> Response:
    try:
        return JSONResponse(work())
    except MemAuditError as error:
        text = shown(site.library.without_paths(str(error)))
        return JSONResponse({"error": text}, 404 if isinstance(error, NotInLibrary) else 422)
