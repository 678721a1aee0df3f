"""The explorer over HTTP: pages, their data and static files."""

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.pages import DATA, PAGES
from memaudit.lab.explorer.site import ONE_FILE, TYPES, Site, read_templates, show, static_files
from memaudit.lab.explorer.views.package_data import shown


def explorer_app(site: Site) -> Starlette:
    """The application that serves a site. Work runs off the event loop."""
    read_templates()

    async def page(request: Request) -> Response:
        address = request.path_params.get("address") or addresses.INDEX
        return await run_in_threadpool(_page, site, address, dict(request.query_params))

    return Starlette(
        routes=[
            Route("/", page),
            Route("/static/{name}", _static),
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
