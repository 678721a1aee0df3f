"""The explorer over HTTP: pages, their data, static files, and the checker."""

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from memaudit.core.errors import MemAuditError
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.pages.registry import DATA, PAGES
from memaudit.web.explorer.site import Site, show
from memaudit.web.explorer.static_files import TYPES, static_files
from memaudit.web.explorer.templating import read_templates
from memaudit.web.explorer.verifying import read_wish, verified
from memaudit.web.explorer.views.package_data import shown


def explorer_app(site: Site) -> Starlette:
    """The application that shows a site; work is done off the event loop."""
    read_templates()

    async def page(request: Request) -> Response:
        address = request.path_params.get("address") or addresses.INDEX
        return await run_in_threadpool(_page, site, address, dict(request.query_params))

    async def verify(request: Request) -> Response:
        try:
            wish = await read_wish(request)
        except MemAuditError as error:
            return JSONResponse({"error": str(error)}, 400)
        return await run_in_threadpool(_told, site, lambda: verified(site, wish))

    return Starlette(
        routes=[
            Route("/", page),
            Route("/static/{name}", _static),
            Route("/verify", verify, methods=["POST"]),
            *(Route(f"/{one.pattern}", _data(site, one.answer, one.pattern)) for one in DATA),
            Route("/{address:path}", page),
        ]
    )


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    data = static_files().get(name)
    if data is None:
        return PlainTextResponse("there is no such file\n", 404)
    return Response(data, media_type=TYPES[PurePath(name).suffix])


def _page(site: Site, address: str, asked: Mapping[str, str]) -> Response:
    if address in (addresses.INDEX, addresses.SEARCH):
        site.library.refresh()
    status, text = show(site, PAGES, address, asked)
    if address.endswith(".json") and status == 200:
        return Response(text, media_type="application/json")
    return HTMLResponse(text, status)


def _data(
    site: Site, answer: Callable[[Site, Mapping[str, str], Mapping[str, str]], Any], pattern: str
) -> Callable[[Request], Any]:
    async def answering(request: Request) -> Response:
        found = addresses.matcher(pattern).fullmatch(request.url.path.lstrip("/"))
        if found is None:
            return JSONResponse({"error": "there is no such page"}, 404)
        parts, asked = found.groupdict(), dict(request.query_params)
        return await run_in_threadpool(_told, site, lambda: answer(site, parts, asked))

    return answering


def _told(site: Site, work: Callable[[], Any]) -> Response:
    """What the work gives, or why it could not be done."""
    try:
        return JSONResponse(work())
    except MemAuditError as error:
        said = shown(site.library.without_paths(str(error)))
        return JSONResponse({"error": said}, 404 if isinstance(error, NotHere) else 422)
